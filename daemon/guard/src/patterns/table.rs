//! The threat patterns, in the order in which they are reported.

use super::pattern::Pattern;
use super::pattern::Reach::{Line, Tag, Text, WholeLine, Word, Words};
use crate::Scope::{All, Context, Strict};

/// All patterns; their order here is the order of the findings.
pub(super) const PATTERNS: &[Pattern] = &[
    Pattern::new(
        "prompt_injection",
        All,
        Words,
        &["ignore ", " previous | all | above | prior ", " instructions"],
        r"ignore … (?:previous|all|above|prior) … instructions",
    ),
    Pattern::new("sys_prompt_override", All, Word, &["system prompt override"], r"system prompt override"),
    Pattern::new(
        "disregard_rules",
        All,
        Words,
        &["disregard ", " your | all | any ", " instructions| rules| guidelines"],
        r"disregard … (?:your|all|any) … (?:instructions|rules|guidelines)",
    ),
    Pattern::new(
        "bypass_restrictions",
        All,
        Text,
        &["act as if |act as though ", " have no | don't have | don’t have ", " restrictions| limits| rules"],
        r"act as (?:if|though) … you … (?:have no|don['’]t have) … (?:restrictions|limits|rules)",
    ),
    Pattern::new(
        "html_comment_injection",
        All,
        Tag,
        &["<!--", "ignore|override|system|secret|hidden", "-->"],
        r"<!--[^>]*?(?:ignore|override|system|secret|hidden)[^>]*?-->",
    ),
    Pattern::new(
        "hidden_div",
        All,
        Text,
        &["div style", "display"],
        r#"<\s*div style\s*=\s*["'](?s:.*?)display\s*:\s*none"#,
    ),
    Pattern::new(
        "translate_execute",
        All,
        Line,
        &["translate ", " into ", " and execute| and run| and eval"],
        r"translate\h.*?\hinto\h.*?\hand\h+(?:execute|run|eval)",
    ),
    Pattern::new("deception_hide", All, Words, &["do not ", " tell ", " the user"], r"do not … tell … the user"),
    Pattern::new(
        "role_hijack",
        Context,
        Words,
        &["you are ", " now a | now an | now the "],
        r"you are … now (?:a|an|the)\s",
    ),
    Pattern::new("role_pretend", Context, Words, &["pretend ", " you are | to be "], r"pretend … (?:you are|to be)\s"),
    Pattern::new(
        "leak_system_prompt",
        Context,
        Words,
        &["output ", " system prompt| initial prompt"],
        r"output … (?:system|initial) prompt",
    ),
    Pattern::new(
        "remove_filters",
        Context,
        Words,
        &["respond without |answer without |reply without ", " restrictions| limitations| filters| safety"],
        r"(?:respond|answer|reply) without … (?:restrictions|limitations|filters|safety)",
    ),
    Pattern::new(
        "fake_update",
        Context,
        Words,
        &["you have been ", " updated to| upgraded to| patched to"],
        r"you have been … (?:updated|upgraded|patched) to",
    ),
    Pattern::new("identity_override", Context, Word, &["name yourself "], r"\<name yourself \w+"),
    Pattern::new(
        "c2_node_registration",
        Context,
        Word,
        &["register node|register as node|register a node|register as a node"],
        r"register (?:as )?(?:a )?node",
    ),
    Pattern::new(
        "c2_heartbeat",
        Context,
        Word,
        &["heartbeat |beacon |check-in |check in |checkin "],
        r"(?:heartbeat|beacon|check-in|check in|checkin) (?:to|with)\s",
    ),
    Pattern::new(
        "c2_task_pull",
        Context,
        Word,
        &["pull task|pull down |pull new task"],
        r"pull (?:down )?(?:new )?(?:tasking|tasks|task)\>",
    ),
    Pattern::new("c2_network_connect", Context, Word, &["connect to the network"], r"connect to the network\>"),
    Pattern::new(
        "forced_action",
        Context,
        Word,
        &["you must "],
        r"you must (?:\w+ ){0,3}?(?:register|connect|report|beacon)\>",
    ),
    Pattern::new("anti_forensic_oneliner", Context, Word, &["only use one"], r"only use one(?:-| )?liners?"),
    Pattern::new(
        "anti_forensic_disk",
        Context,
        Words,
        &["never ", " create | write ", " script | file ", " disk"],
        r"never … (?:create|write) … (?:script|file) … disk",
    ),
    Pattern::new(
        "env_var_unset_agent",
        Context,
        Word,
        &["unset "],
        r"unset \w*?(?:claude|codex|hermes|agent|openai|anthropic)\w*",
    ),
    Pattern::new(
        "known_c2_framework",
        Context,
        Text,
        &["cobalt|metasploit|brainworm|praxis|havoc|mythic|sliver"],
        KNOWN_FRAMEWORK,
    ),
    Pattern::new(
        "c2_explicit",
        Context,
        Word,
        &["c2 server|c2 channel|c2 infrastructure|c2 beacon"],
        r"\<c2 (?:server|channel|infrastructure|beacon)\>",
    ),
    Pattern::new("c2_explicit_long", Context, Word, &["command and control"], r"\<command and control\>"),
    Pattern::new(
        "exfil_curl",
        All,
        Line,
        &["curl ", SECRET_NAMES],
        r"curl\h.*?\$\{?\w*?(?:key|token|secret|password|credential|api)",
    ),
    Pattern::new(
        "exfil_wget",
        All,
        Line,
        &["wget ", SECRET_NAMES],
        r"wget\h.*?\$\{?\w*?(?:key|token|secret|password|credential|api)",
    ),
    Pattern::new(
        "read_secrets",
        All,
        Line,
        &["cat ", ".env|credentials|.netrc|.pgpass|.npmrc|.pypirc"],
        r"cat\h.*?(?:\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc)",
    ),
    Pattern::new(
        "exfil_file",
        All,
        WholeLine,
        &["curl |wget |scp |sftp |rsync |nc |ncat |netcat ", SECRET_FILES],
        EXFIL_FILE,
    ),
    Pattern::new(
        "exfil_upload",
        Strict,
        WholeLine,
        &["you must |you should |you have to |you need to |from now on", "curl |wget |scp |sftp |nc |ncat |netcat "],
        EXFIL_UPLOAD,
    ),
    Pattern::new(
        "send_to_url",
        Strict,
        Line,
        &["send |post |upload |transmit ", " to http://| to https://| at http://| at https://"],
        r"(?:send|post|upload|transmit)\h.*?\h(?:to|at)\h+https?://",
    ),
    Pattern::new(
        "context_exfil",
        Strict,
        Words,
        &[
            "include |output |print |share ",
            " conversation| chat history| previous messages| full context| entire context",
        ],
        r"(?:include|output|print|share) … (?:conversation|chat history|previous messages|full context|entire context)",
    ),
    Pattern::new("ssh_backdoor", Strict, Word, &["authorized_keys"], r"authorized_keys"),
    Pattern::new("ssh_access", Strict, Word, &["$home/.ssh|~/.ssh"], r"(?:\$home|~)/\.ssh"),
    Pattern::new("hermes_env", Strict, Word, &["$home/.hermes/.env|~/.hermes/.env"], r"(?:\$home|~)/\.hermes/\.env"),
    Pattern::new(
        "agent_config_mod",
        Strict,
        Line,
        &[CHANGES, "agents.md|claude.md|.cursorrules|.clinerules"],
        r"(?:update|modify|edit|write|change|append|add\h+to)\h.*?(?:agents\.md|claude\.md|\.cursorrules|\.clinerules)",
    ),
    Pattern::new(
        "hermes_config_mod",
        Strict,
        Line,
        &[CHANGES, ".hermes/config.yaml|.hermes/soul.md"],
        r"(?:update|modify|edit|write|change|append|add\h+to)\h.*?\.hermes/(?:config\.yaml|soul\.md)",
    ),
    Pattern::new(
        "hardcoded_secret",
        Strict,
        Word,
        &["api_key|api-key|apikey|token|secret|password"],
        r#"(?:api[_-]?key|token|secret|password)\s*[=:]\s*["'][A-Za-z0-9+/=_-]{20,}"#,
    ),
];

/// Parts of names of variables that hold a secret.
const SECRET_NAMES: &str = r"\$key|token|secret|password|credential|api";

/// Files with secrets, or with the memory of an agent.
const SECRET_FILES: &str = ".env|credentials|.netrc|.pgpass|.npmrc|.pypirc|id_rsa|id_ed25519|id_ecdsa|.ssh/|.aws/config|\
                            .kube/config|etc/passwd|etc/shadow|memory.md|user.md";

/// The same as an expression: a whole path, with an optional quote before it. Excludes public keys and examples.
macro_rules! secret_file {
    () => {
        concat!(
            r#"["']?(?:[\w.~$\{\}/-]*/)?(?:\.env(?:\.(?:local|dev|development|prod|production|staging|test))?"#,
            r"|credentials(?:\.(?:json|csv|txt))?|\.netrc|\.pgpass|\.npmrc|\.pypirc|id_rsa|id_ed25519|id_ecdsa",
            r"|\.ssh/[\w*-]*|\.aws/config|\.kube/config|etc/passwd|etc/shadow|memory\.md|user\.md)",
        )
    };
}

/// The end of a path, so that `.env` does not match `.env.example`.
macro_rules! end {
    () => {
        r#"\.?(?:\z|[\s"'`;,:)<>|&])"#
    };
}

/// The part of a command before the file that it sends.
macro_rules! sends {
    () => {
        concat!(
            r#"(?:curl\h(?:.*?(?:[\h"'=df]@|<\h*|--upload-file[\h=]+|--data-urlencode[\h=]+["']?\w*@)|(?:.*?\h)?-t\h*)"#,
            r"|wget\h.*?--(?:post|body)-file[\h=]+",
            r"|(?:nc|ncat|netcat)\h.*?<\h*)",
        )
    };
}

/// Arguments of scp and rsync, with the white space before them. `-i` includes its key file. Long
/// options that begin with `e` are left out because of `--exclude`.
macro_rules! argument {
    () => {
        concat!(
            r#"(?:\h+(?:-i\h+["']?[\w.~$\{\}/-]+["']?|-[a-hj-z0-9]+|--[a-df-z][\w=-]*"#,
            r#"|["']?[\w.~$\{\}/*][\w.~$\{\}/*@:-]*["']?))*?"#,
        )
    };
}

/// The destination of scp: `host:` right after the file, or later an address that is not prose.
macro_rules! to_host {
    () => {
        concat!(
            r#"["']?(?:\h+["']?[\w.$\{\}-]+:|"#,
            argument!(),
            r#"\h+["']?(?:[\w.$\{\}-]+@[\w.$\{\}-]+:|[\w.$\{\}-]+:[\w./~]))"#,
        )
    };
}

/// A command that sends a file with secrets.
const EXFIL_FILE: &str = concat!(
    r"\<(?:",
    concat!(sends!(), secret_file!(), end!()),
    concat!("|(?:scp|sftp|rsync)", argument!(), r"\h+", secret_file!(), to_host!()),
    ")",
);

/// Any file, in a sentence that instructs the reader to send it.
const EXFIL_UPLOAD: &str = concat!(
    r"\<(?:you (?:must|should|have to|need to)\h|from now on).*?(?:",
    concat!(sends!(), r#"["']?[\w./~$]"#),
    concat!("|(?:scp|sftp)", argument!(), r#"\h+["']?[\w.~$\{\}/-]+"#, to_host!()),
    ")",
);

/// The verbs for changing a file.
const CHANGES: &str = "update |modify |edit |write |change |append |add to ";

/// Everyday words that are also names of frameworks.
macro_rules! name {
    () => {
        "(?:praxis|havoc|mythic|sliver)"
    };
}

/// Words for software that occur next to such a name.
macro_rules! software {
    () => {
        "(?:framework|beacon|implant|agent|server|payload|c2)s?"
    };
}

/// A verb and the words between it and such a name as its object.
macro_rules! verb {
    () => {
        concat!(
            "(?:use[sd]?|using|runs?|ran|running|(?:load|deploy)(?:s|ed|ing)?|connect(?:s|ed|ing)?(?: to| with)?)",
            r#"(?: the)? ["'`]?"#,
        )
    };
}

/// The names of frameworks. Four of them are everyday words, which match only next to a word for
/// software or as the whole object of a verb. So "a sliver of ginger", "mythic creatures" and a
/// doctor's praxis do not match, but "deploy sliver to the host" and "the praxis server" do.
/// Between two words for software, the name belongs to the second one.
const KNOWN_FRAMEWORK: &str = concat!(
    r"\<(?:",
    concat!(r#"(?:"#, software!(), r#"[\s/("'`:-]+|"#, verb!(), ")?"),
    concat!(r"(cobalt\s*strike|metasploit|brainworm|", name!(), r"[\s/-]+", software!(), r")\>"),
    concat!("|(", software!(), r#"[\s/("'`:-]+"#, name!(), r")\>"),
    concat!("|(", verb!(), name!(), ")"),
    r#"(?:\s*(?:\z|[.,;:!?()\[\]"'`])|\h*\n|\h+-"#,
    r"| (?:and|or|to|as|for|from|with|on|onto|in|into|at|via|over|across|against|by|then|now|instead",
    r"|when|while|until|before|after|if|because|but|so|once|again|today|tonight|tomorrow|daily|here|there",
    r"|locally|remotely|network|node)\>)",
    r")",
);
