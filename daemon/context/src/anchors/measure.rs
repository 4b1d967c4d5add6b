//! Finds the kind of exact string in a line, and rates the match.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::Kind;
use super::decision;
use crate::pattern::{Found, Pattern};
use crate::work::values;

/// Bytes of a line that are examined.
const LOOK_BYTES: usize = 4_096;

/// A match in a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LineMatch {
    /// The strongest kind.
    pub(crate) kind: Kind,
    /// The position of the first match.
    pub(crate) span: Range<usize>,
    /// The certainty of the match: 1 for an ordinary one.
    pub(crate) strength: f64,
}

static ERROR: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?x) (?i:\b(?:[a-z]+)?(?:error|exception)\b|\b(?:error|err|fatal|panic(?:ked)?|failed|failure|failing|fails|traceback|denied|refused|unreachable|timed\ out|timeout|segfault|segmentation\ fault|core\ dumped|not\ found|no\ such|cannot|can['’]t|could\ not|couldn['’]t|unable\ to|undefined|unexpected|invalid|illegal|missing|mismatch|conflict|aborted|abort|killed|oom|out\ of\ memory|deadlock|overflow|exceeded|unauthori[sz]ed|forbidden|corrupt(?:ed)?|broken\ pipe|unresolved|violat(?:es|ed|ion)|rejected|crash(?:ed|es)?|stack\ overflow|leaked|giving\ up|gave\ up|expired|errno|does\ not\ (?:exist|match)|exit(?:ed)?\ (?:with\ )?(?:code|status)\ [1-9]\d*)\b)
        | [A-Z]\w*(?:Error|Exception|Fault|Failure|Panic)\b | \bE[A-Z]{3,}\b | \b(?:E|TS|CS|SQLSTATE|ORA|C|LNK|HTTP|errno|SIG)[-\ \[]?\d{3,5}\b | \bSIG(?:SEGV|KILL|ABRT|TERM|BUS|ILL|PIPE)\b",
    )
});

/// Forms that make an error line more than a word in a sentence.
static ERROR_FORM: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?x) (?i:\b(?:error|fatal|panic|exception|failure|failed|traceback|err|critical|abort(?:ed)?|fehler|erreur)\b\s*(?:\[|\(|:|!)) | [A-Z]\w*(?:Error|Exception|Fault)\b | \bE[A-Z]{4,}\b | (?i:panicked\ at|errno|sqlstate|\bE\d{4}\b|\bTS\d{4}\b|exit\ (?:code|status)\ [1-9])",
    )
});

static COMMAND: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?x) (?:^|\s)[$❯%]\s+[a-z./~][\w./-]*(?:\s+\S.*)? | `[a-z./~][\w./+-]*(?:\s+[^`]+)` | `\./[^`]+` |
        (?:^|[\s:>(»“])(?:sudo\s+)?(?:cargo|npm|npx|pnpm|yarn|git|docker(?:-compose)?|podman|kubectl|helm|make|cmake|python3?|pip3?|pytest|uv|poetry|node|deno|bun|go|rustc|rustup|gcc|g\+\+|clang|curl|wget|ssh|scp|rsync|psql|mysql|sqlite3|redis-cli|systemctl|journalctl|terraform|ansible(?:-playbook)?|aws|gcloud|az|gh|bash|sh|zsh|tar|grep|rg|find|sed|awk|cat|ls|chmod|chown|mkdir|rm|cp|mv|ln|apt(?:-get)?|brew|dnf|mvn|gradle|\./gradlew|bazel|just|ninja|java|javac|dotnet|swift|ruby|bundle|rails|rake|php|composer|perl|mix|nix|openssl|ffmpeg|jq|strace|perf|gdb|lldb|valgrind|alembic|flask|django-admin|manage\.py|uvicorn|gunicorn|pg_dump|pg_restore|mongodump|etcdctl|consul|vault|nomad|crontab|tmux|tcpdump|dig|nc|ip|ss|lsof|ps|kill|mount|dd|xargs|tee|env|export|source|herma|hermad)\s+(?:-{1,2}\w|[a-z][\w:-]*(?:\s|$)|[./~]|\S+\.\w+|\w+=|'|\x22|\d).* | (?:^|\s)\./[\w./-]+(?:\s+\S+)* |\b\w[\w-]*(?:\s+[\w./=:-]+)*\s--[a-z][\w-]+.*",
    )
});

static URL: LazyLock<Pattern> =
    LazyLock::new(|| crate::pattern(r#"\b[a-z][a-z0-9+.-]{1,15}://[^\s"'`<>\\)\]}|]*[^\s"'`<>\\)\]}|.,;:!?]"#));

static HASH: LazyLock<Pattern> =
    LazyLock::new(|| crate::pattern(r"(?i)\b(?:sha(?:1|256|512)|md5|blake3)?[:=-]?([0-9a-f]{7,64})\b"));

static HASH_CUE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?i)\b(?:commit\w*|rev(?:ision|ert(?:ed|s)?|s)?|sha\d*|hash|digest|checksum|md5|merged?|cherry[- ]pick\w*|HEAD|bisect\w*|tag(?:ged)?|branch|build|regress\w*|introduced|culprit|base|parent|tip|fix(?:ed)?|landed|at|in|since|checked? ?out|reset|rebased?|snapshot|image|artifact|blob|tree|version|pinned|deployed)\b|@",
    )
});

static ISSUE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?x)(?:^|[\s(\[,;:/\w])\#\d{1,7}\b | \b(?i:issues?|pr|pull\ request|mr|merge\ request|ticket|bug|gh|task|case|change|cl|incident|story|epic)[\s:]*(?:no\.?\ |number\ )?[\#!-]?\d{1,7}\b | (?:^|[\s(\[])!\d{2,6}\b | \b[A-Z][A-Z0-9]{1,9}-\d{1,7}\b | \bCVE-\d{4}-\d{4,7}\b",
    )
});

static MEASURE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?x)(?:^|[\s(=:~<>≈±+/,\x22'`\[-]) [~≈<>]?[$€£¥]?\d[\d,._\ ]{0,12}\d*(?:\.\d+)?\s?-?
        (?:(?:ns|µs|μs|us|ms|s|sec|secs|seconds?|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|[KMGTP]i?B(?:/s|ps)?|[kmg]?bytes?|bits?|[KMG]bit(?:/s)?|[kMG]bps|k?B|rps|qps|tps|iops|IOPS|ops|req(?:uests)?(?:/s|/sec|/min)?|px|pt|dpi|fps|[kMG]?Hz|°C|°F|°|K|mm|cm|m|km|kg|g|mg|lbs?|m[AVW]|[kMG]?Wh?|[AV]|dB|rows?|lines?|tokens?|users?|items?|entries|records?|connections?|threads?|workers?|cores?|retries|attempts?|requests?|messages?|events?|files?|tests?|samples?|points?|clients?|nodes?|shards?|partitions?|replicas?|chars?|pages?|jobs?|vCPUs?|CPUs?|GPUs?|million|billion|percent|per\ \w+|USD|EUR|GBP|dollars?|euros?|times|queries|commits|objects|keys|cycles|epochs|steps|instances|pods|ops/s|MiB/s)\b | \s?[%×x‰](?:\W|$) )
        | [$€£]\d[\d,.]*\b | \b\d+(?:\.\d+)?x\b",
    )
});

/// Words that make a number a finding.
static MEASURE_CUE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?i)\b(?:p\d{2,3}|median|mean|average|avg|latency|throughput|took|takes|peak|rss|memory|limit|budget|max(?:imum)?|min(?:imum)?|target|measured|benchmark|baseline|rate|size|usage|timeout|ttl|interval|quota|cap|capacity|coverage|duration|elapsed|grew|dropped|rose|fell|went|from|under|below|above|exceeds?|at most|at least|now|was|is|costs?|speedup|ratio|accuracy|loss|score|hit|window|threshold|buffer|backlog|delay|uptime|overhead)\b",
    )
});

static PATH: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r#"(?x)(?:^|[\s"'`(=\[<,:@])((?:~?/|\.{1,2}/|[A-Za-z]:\\|\\\\)[^\s"'`<>|()\[\]{},;]*\w[^\s"'`<>|()\[\]{},;]* | (?:[\w.@+-]+[/\\])+[\w.@+-]*\w | [\w@+-][\w.@+-]*\.(?:rs|py|ts|tsx|js|jsx|mjs|go|c|h|cc|cpp|hpp|java|kt|swift|rb|php|cs|sh|bash|ps1|sql|toml|ya?ml|json|jsonl|xml|ini|cfg|conf|env|md|rst|txt|log|lock|csv|parquet|proto|html|css|scss|vue|svelte|tf|gradle|ipynb|pem|crt|key|db|sqlite|tar|gz|zip|zst|wasm|so|dll|exe|service|plist|patch|diff|snap|bak))\b"#,
    )
});

/// Words that trigger the examination of a line without digits and signs.
static WORDS: LazyLock<AhoCorasick> = LazyLock::new(words);

#[expect(clippy::expect_used, reason = "the words are constants, and tests compile them")]
fn words() -> AhoCorasick {
    let words = [
        "error",
        "exception",
        "fail",
        "fatal",
        "panic",
        "denied",
        "refused",
        "timed out",
        "timeout",
        "not found",
        "no such",
        "cannot",
        "could not",
        "unable",
        "invalid",
        "missing",
        "mismatch",
        "conflict",
        "abort",
        "deadlock",
        "overflow",
        "exceed",
        "unauthor",
        "forbidden",
        "corrupt",
        "broken",
        "violat",
        "reject",
        "crash",
        "killed",
        "out of memory",
        "unreachable",
        "does not",
        "undefined",
        "unexpected",
        "decid",
        "decision",
        "agreed",
        "settled",
        "chose",
        "choice",
        "going with",
        "go with",
        "we will",
        "we'll",
        "we’ll",
        "instead of",
        "rather than",
        "because",
        "ruled out",
        "opted",
        "picked",
        "adopt",
        "concluded",
        "conclusion",
        "verdict",
        "approach",
        "entschieden",
        "beschlossen",
        "entscheidung",
        "decid",
        "décid",
        "决定",
        "決定",
        "решен",
        "решили",
        "let's",
        "stick",
        "switch",
        "selected",
        "giving up",
        "gave up",
        "expired",
        "errno",
        "--",
        "git ",
        "cargo",
        "npm",
        "make ",
        "docker",
        "`",
        "fault",
        "leaked",
        "the plan",
    ];
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).expect("a set of words")
}

/// Whether a text states a decision in its first bytes.
pub(crate) fn is_decision(text: &str) -> bool {
    let text = text.get(..text.floor_char_boundary(LOOK_BYTES)).unwrap_or(text);
    WORDS.is_match(text) && decision::find(text).is_some()
}

/// Returns the match in a line; `None` if it has no exact string.
pub(crate) fn kind_of(line: &str, prose: Prose) -> Option<LineMatch> {
    let line = line.get(..line.floor_char_boundary(LOOK_BYTES)).unwrap_or(line);
    let signs = Signs::of(line);
    let worded = WORDS.is_match(line);
    if !worded && !signs.any() {
        return None;
    }
    let matched = |kind, span: Range<usize>, strength| Some(LineMatch { kind, span, strength });
    if worded
        && prose == Prose::Yes
        && let Some(found) = decision::find(line)
    {
        return matched(Kind::Decision, found, 1.0);
    }
    if (worded || signs.digit || prose == Prose::No)
        && let Some(found) = first_error(line)
    {
        if let Some(form) = ERROR_FORM.find(line) {
            return matched(Kind::Error, form.range(), 1.0);
        }
        if prose == Prose::No {
            return matched(Kind::Error, found.range(), if signs.digit || signs.colon { 0.8 } else { 0.55 });
        }
    }
    exact(line, &signs, prose).or_else(|| {
        // A failure counts in a sentence that names something exact.
        let found = first_error(line).filter(|_| worded && values(line).next().is_some())?;
        matched(Kind::Error, found.range(), 0.5)
    })
}

/// Returns the first error word that is not the name of an empty field.
fn first_error(line: &str) -> Option<Found<'_>> {
    ERROR.find_iter(line).find(|found| !says_none(line.get(found.end()..).unwrap_or_default()))
}

/// Whether the text after a word makes it a JSON field without a value: `"error": null`.
fn says_none(rest: &str) -> bool {
    let unquoted = rest.trim_start_matches('\\').strip_prefix('"');
    let Some(value) = unquoted.and_then(|rest| rest.trim_start().strip_prefix(':')) else { return false };
    let value = value.trim_start().trim_start_matches('\\');
    let is_over = |rest: &str| rest.trim_start().is_empty() || rest.trim_start().starts_with([',', '}', ']']);
    let nothing = ["null", "false", "0", "[]", "{}", "\"\"", "\"\\\""];
    nothing.iter().any(|none| value.strip_prefix(none).is_some_and(is_over))
}

/// Returns the exact string in a line, the rarest kind first.
fn exact(line: &str, signs: &Signs, prose: Prose) -> Option<LineMatch> {
    let matched = |kind, span: Range<usize>, strength| Some(LineMatch { kind, span, strength });
    if signs.address
        && let Some(found) = URL.find(line)
    {
        return matched(Kind::Url, found.range(), 1.0);
    }
    if signs.digit
        && let Some((span, strength)) = hash(line)
    {
        return matched(Kind::Hash, span, strength);
    }
    // In a sentence a command is in backticks, follows a prompt, or has options.
    let may_be_command = signs.letters && (prose == Prose::No || signs.tick || signs.dollar || signs.dashes);
    let command = if may_be_command { COMMAND.find(line) } else { None };
    if let Some(found) = &command
        && (signs.tick || signs.dashes || found.start() == 0)
    {
        return matched(Kind::Command, found.range(), if prose == Prose::Yes || signs.dollar { 1.0 } else { 0.7 });
    }
    if signs.digit
        && let Some(found) = ISSUE.find(line)
    {
        let strength = if signs.hash || line.contains("CVE-") { 1.0 } else { 0.7 };
        return matched(Kind::Issue, found.range(), strength);
    }
    if signs.digit
        && let Some(found) = MEASURE.find(line)
    {
        return matched(Kind::Measure, found.range(), if MEASURE_CUE.is_match(line) { 1.0 } else { 0.6 });
    }
    if (signs.slash || signs.dot)
        && let Some(found) =
            PATH.captures_iter(line).filter_map(|found| found.get(1)).find(|found| !is_pattern(found.as_str()))
    {
        let rooted = found.as_str().starts_with(['/', '~', '.']) || found.as_str().contains('\\');
        return matched(Kind::Path, found.range(), if rooted { 1.0 } else { 0.8 });
    }
    let found = command?;
    matched(Kind::Command, found.range(), 0.5)
}

/// Whether a match with backslashes is a regular expression, such as `probe_\w`, `\d+` or `config\.json`.
fn is_pattern(path: &str) -> bool {
    let is_rooted = path.get(1..3) == Some(r":\") || path.strip_prefix(r"\\").is_some_and(|share| share.contains('\\'));
    let last = path.rsplit('\\').next().unwrap_or("");
    path.split('\\').skip(1).any(|part| {
        let class = part.strip_prefix(['w', 'W', 'd', 'D', 's', 'S', 'b', 'B', 'n', 't', 'r', '.', '(', '[']);
        let is_repeated = class.is_some_and(|rest| rest.starts_with(['+', '*', '?']));
        let is_alone = class == Some("") && part == last;
        is_repeated || (!is_rooted && (is_alone || part.starts_with('.')))
    })
}

/// Returns the first run of hex digits that is a hash and not a number or a word.
fn hash(line: &str) -> Option<(Range<usize>, f64)> {
    HASH.captures_iter(line).find_map(|found| {
        let digits = found.get(1)?;
        let text = digits.as_str();
        let mixed = text.bytes().any(|b| b.is_ascii_digit()) && text.bytes().any(|b| b.is_ascii_alphabetic());
        let one_case = !(text.bytes().any(|b| b.is_ascii_lowercase()) && text.bytes().any(|b| b.is_ascii_uppercase()));
        // A group of a UUID is not a hash of its own.
        let grouped =
            [line.as_bytes().get(digits.end()), digits.start().checked_sub(1).and_then(|at| line.as_bytes().get(at))];
        if !mixed || !one_case || grouped.contains(&Some(&b'-')) {
            return None;
        }
        match text.len() {
            40 | 64 | 32 => Some((digits.range(), 1.0)),
            _ if HASH_CUE.is_match(line) => Some((digits.range(), 0.9)),
            _ => Some((digits.range(), 0.4)),
        }
    })
}

/// Whether a line is a sentence of a person or a model, or the output of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prose {
    Yes,
    No,
}

/// Signs in a line, which show which patterns can match.
#[derive(Default)]
struct Signs {
    digit: bool,
    slash: bool,
    dot: bool,
    hash: bool,
    tick: bool,
    dollar: bool,
    dashes: bool,
    colon: bool,
    letters: bool,
    address: bool,
}

impl Signs {
    fn of(line: &str) -> Self {
        let mut signs = Self::default();
        let mut last = 0;
        for &byte in line.as_bytes() {
            match byte {
                b'0'..=b'9' => signs.digit = true,
                b'/' => {
                    signs.slash = true;
                    signs.address |= last == b':';
                }
                b'\\' => signs.slash = true,
                b'.' => signs.dot = true,
                b'#' => signs.hash = true,
                b'`' => signs.tick = true,
                b'$' => signs.dollar = true,
                b'-' => signs.dashes |= last == b'-',
                b':' => signs.colon = true,
                b'a'..=b'z' => signs.letters = true,
                _ => {}
            }
            last = byte;
        }
        signs
    }

    fn any(&self) -> bool {
        self.digit || self.slash || self.dot || self.hash || self.tick || self.dollar || self.dashes
    }
}
