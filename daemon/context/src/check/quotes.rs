//! The quotations in a summary that are attributed to the user.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use super::sections;
use crate::pattern::Pattern;

/// The mark after an unverified quotation.
pub(super) const MARK: &str = " [unverified]";
/// The least weight of a quotation; a lighter one is a name or a word.
const LEAST_WEIGHT: usize = 10;
/// Opening marks, each with its closing marks.
const PAIRS: [(char, &[char]); 9] = [
    ('\'', &['\'']),
    ('"', &['"']),
    ('“', &['”']),
    ('„', &['“', '”']),
    ('‘', &['’']),
    ('«', &['»']),
    ('‹', &['›']),
    ('「', &['」']),
    ('『', &['』']),
];
/// Marks that also occur within words, or that open and close alike.
const AMBIGUOUS: [char; 4] = ['\'', '"', '‘', '’'];
/// The first char of the scripts without spaces between words.
const FIRST_UNSPACED: char = '\u{2E80}';

/// Words that attribute a sentence to the user.
static ATTRIBUTION: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?x) (?-u:\b)[Tt]he\x20user(?-u:\b) | (?:^|[\s(*_\[])User(?-u:\b)
        | (?-u:\b)[Uu]ser(?:'s|’s)?\x20(?:asked|asks|said|says|wrote|writes|wants|wanted|requested|requests|told|replied|answered|insisted|words)(?-u:\b)
        | (?i:пользовател|utilisat(?:eur|rice)|usuari[oa]|usuári[oa]|(?-u:\b)utente|(?-u:\b)e?l['’]utente|benutzer|(?-u:\b)nutzer|用户|用戶|使用者|ユーザ|사용자|المستخدم|उपयोगकर्ता)",
    )
});

/// A quotation of the user, in bytes of the text that contains it.
pub(super) struct Quote {
    /// The words without quotation marks.
    pub(super) words: Range<usize>,
    /// The end of the closing mark.
    pub(super) end: usize,
    /// Whether it is marked as unverified.
    pub(super) is_marked: bool,
}

/// Returns the text without the quotations that are marked.
pub(super) fn without_marked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for quote in quotes(text).iter().filter(|quote| quote.is_marked) {
        out.push_str(text.get(copied..quote.words.start).unwrap_or(""));
        copied = quote.words.end;
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    out
}

/// Returns all quotations of the user: all in the sections with the user's requests, elsewhere those on a
/// line that attributes them.
pub(super) fn quotes(text: &str) -> Vec<Quote> {
    let mut all = Vec::new();
    let mut heading = "";
    let mut paragraph = 0..0;
    for line in text.split_inclusive('\n') {
        let end = paragraph.end + line.len();
        if begins_paragraph(line) {
            in_paragraph(text, paragraph.clone(), Attribution::below(heading), &mut all);
            paragraph.start = paragraph.end;
        }
        if sections::is_heading(line) {
            heading = line;
            paragraph.start = end;
        }
        paragraph.end = end;
    }
    in_paragraph(text, paragraph, Attribution::below(heading), &mut all);
    all
}

/// Whether a quotation cannot continue from the line before this one.
fn begins_paragraph(line: &str) -> bool {
    let line = line.trim_start();
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    line.is_empty()
        || sections::is_heading(line)
        || line.starts_with("- ")
        || line.starts_with("* ")
        || (number.len() < line.len() && number.starts_with(". "))
}

/// Which quotations of a section belong to the user.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attribution {
    /// All: the section is about the user's requests.
    Users,
    /// Those that the text attributes to the user.
    Explicit,
}

impl Attribution {
    fn below(heading: &str) -> Self {
        if sections::is_request_section(heading) { Self::Users } else { Self::Explicit }
    }
}

fn in_paragraph(text: &str, range: Range<usize>, attribution: Attribution, all: &mut Vec<Quote>) {
    let part = text.get(range.clone()).unwrap_or("");
    let says_so: Vec<Range<usize>> = ATTRIBUTION.find_iter(part).map(|found| found.range()).collect();
    if attribution == Attribution::Explicit && says_so.is_empty() {
        return;
    }
    let closing = closing_marks(part);
    let newlines: Vec<usize> = memchr::memchr_iter(b'\n', part.as_bytes()).collect();
    let mut done = 0;
    let mut previous = None;
    for (at, mark) in part.char_indices() {
        let before = previous.replace(mark);
        if at < done {
            continue;
        }
        let inside = at + mark.len_utf8();
        let Some((close, end)) = pair_end(part, mark, before, inside, &closing) else {
            continue;
        };
        done = end;
        let is_user_section =
            attribution == Attribution::Users || is_attributed(part.len(), &newlines, at..end, &says_so);
        if is_user_section && weight(part.get(inside..close).unwrap_or("")) >= LEAST_WEIGHT {
            let is_marked = part.get(end..).is_some_and(|rest| rest.starts_with(MARK));
            let words = range.start + inside..range.start + close;
            all.push(Quote { words, end: range.start + end, is_marked });
        }
    }
}

/// Returns the two ends of the closing mark, if `mark` opens a quotation.
fn pair_end(
    part: &str,
    mark: char,
    before: Option<char>,
    inside: usize,
    closing: &HashMap<char, Vec<usize>>,
) -> Option<(usize, usize)> {
    let (_, closers) = PAIRS.iter().find(|(open, _)| *open == mark)?;
    let next = part.get(inside..)?.chars().next()?;
    if AMBIGUOUS.contains(&mark) && (before.is_some_and(is_letter) || next.is_whitespace()) {
        return None;
    }
    let first_of = |closer: &char| {
        let places = closing.get(closer)?;
        let close = places.get(places.partition_point(|&place| place <= inside))?;
        Some((*close, close + closer.len_utf8()))
    };
    closers.iter().filter_map(first_of).min()
}

/// Returns the positions of each mark that may close a quotation, in order.
fn closing_marks(part: &str) -> HashMap<char, Vec<usize>> {
    let mut places: HashMap<char, Vec<usize>> = HashMap::new();
    let mut before = ' ';
    let mut rest = part.char_indices().peekable();
    while let Some((at, mark)) = rest.next() {
        let next = rest.peek().map_or(' ', |(_, next)| *next);
        let closes = PAIRS.iter().any(|(_, closers)| closers.contains(&mark));
        if closes && !(AMBIGUOUS.contains(&mark) && (before.is_whitespace() || is_letter(next))) {
            places.entry(mark).or_default().push(at);
        }
        before = mark;
    }
    places
}

/// Whether the lines of a quotation attribute it to the user, outside of the quotation.
fn is_attributed(length: usize, newlines: &[usize], quote: Range<usize>, says_so: &[Range<usize>]) -> bool {
    let above = newlines.partition_point(|&newline| newline < quote.start);
    let line = above.checked_sub(1).and_then(|at| newlines.get(at)).map_or(0, |newline| newline + 1);
    let below = newlines.partition_point(|&newline| newline < quote.end);
    let line_end = newlines.get(below).copied().unwrap_or(length);
    let from = says_so.partition_point(|found| found.start < line);
    let before = says_so.get(from).is_some_and(|found| found.end <= quote.start);
    let behind = says_so.partition_point(|found| found.start < quote.end);
    before || says_so.get(behind).is_some_and(|found| found.end <= line_end)
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() && c < FIRST_UNSPACED
}

/// Returns the weight of a quotation: 1 for each char, 2 in scripts with few chars per word.
fn weight(words: &str) -> usize {
    words.chars().map(|c| if c < FIRST_UNSPACED { 1 } else { 2 }).sum()
}
