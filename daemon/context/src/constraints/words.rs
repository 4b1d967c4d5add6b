//! Sentences that revoke a rule, and the rule they mean.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::pattern::Pattern;

/// The fewest words that a revocation must share with the rule.
const MIN_SHARED: usize = 2;

static REVOKES: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix) \byou\ (?:may|can|are\ (?:free|allowed)\ to)\ (?:now|again)\b | \byou\ (?:may|can)\b[^.?!]*\b(?:again|now|after\ all|from\ now\ on)\b
        | \b(?:now|from\ now\ on|again)\b[^.?!]{0,20}\byou\ (?:may|can)\b | \byou(?:['’]re|\ are)\ (?:now\ )?(?:allowed|free|welcome)\ to\b
        | \b(?:forget|drop|ignore|cancel|lift|scrap|disregard|revoke|remove|retire)\b[^.?!]{0,30}\b(?:rule|rules|constraint|restriction|requirement|ban|instruction|limitation)\b
        | \bno\ longer\ (?:need|have|required|necessary|applies|apply|holds|matters|in\ force|forbidden|off[\ -]limits)\b | \b(?:don['’]t|do\ not)\ (?:need|have)\ to\b[^.?!]*\b(?:any\ ?more|any\ longer|now)\b
        | \b(?:it['’]?s|it\ is|is|are)\ (?:now\ )?(?:ok|okay|fine|allowed|permitted)\ (?:to|again|now)\b | \b(?:rule|restriction|constraint|ban)\b[^.?!]{0,60}\b(?:is\ (?:off|lifted|gone|over|void)|no\ longer)\b
        | ^\W*(?:ok(?:ay)?\W+)?never\ mind\ (?:about\b|the\b|that\b|this\b|my\b|what\b)
        | \bdu\ (?:darfst|kannst)\ (?:jetzt|nun|wieder)\b | \bvergiss\ die\ regel\b | \bnicht\ mehr\ nötig\b | \bya\ puedes\b | \bpuedes\b[^.?!]*\b(?:de\ nuevo|otra\ vez)\b | \bolvida\ la\ regla\b
        | \btu\ peux\ (?:maintenant|désormais|de\ nouveau|à\ nouveau)\b | \boublie\ la\ règle\b | 现在可以 | 可以再 | 不再需要 | 不用再 | してもいい | してもよい | しても大丈夫 | もう.*必要は(?:ない|ありません)",
    )
});

/// An order to stop what a rule demands.
static STOPS: LazyLock<Pattern> =
    LazyLock::new(|| crate::pattern(r"(?i)^\W*(?:(?:ok(?:ay)?|please|and|now|so|actually)\W+)*stop\s+(?:\w+ing)\b"));

/// A rule that forbids.
static FORBIDS: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(r"(?i)\b(?:never|no|not|don['’]?t|cannot|can['’]t|mustn['’]t|avoid|without|stop)\b")
});

/// A rule that allows only one thing.
static ALLOWS_ONLY: LazyLock<Pattern> = LazyLock::new(|| crate::pattern(r"(?i)\b(?:only|exclusively)\b"));

/// Words that revoke such a rule.
static ALLOWS_ANY: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(r"(?i)\b(?:any|anything|anywhere|every|everything|everywhere|all|whatever|whichever)\b")
});

static NEVER_MIND: LazyLock<Pattern> = LazyLock::new(|| crate::pattern(r"(?i)\bnever mind\b"));

static NOT_ANY_MORE: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(r"(?i)\b(?:never|cannot|can['’]t|(?:may|must|should) not)\b.*\b(?:again|now)\b|\bonly\b")
});

/// Words that do not describe the subject of a rule.
const EMPTY: [&str; 78] = [
    "the",
    "and",
    "you",
    "may",
    "can",
    "now",
    "again",
    "not",
    "never",
    "always",
    "only",
    "don",
    "dont",
    "must",
    "should",
    "for",
    "from",
    "with",
    "without",
    "that",
    "this",
    "these",
    "those",
    "any",
    "all",
    "our",
    "your",
    "are",
    "was",
    "were",
    "will",
    "need",
    "needs",
    "longer",
    "forget",
    "rule",
    "rules",
    "about",
    "make",
    "sure",
    "please",
    "when",
    "what",
    "have",
    "has",
    "had",
    "been",
    "into",
    "onto",
    "them",
    "they",
    "their",
    "its",
    "just",
    "also",
    "more",
    "use",
    "using",
    "used",
    "under",
    "over",
    "than",
    "then",
    "there",
    "here",
    "allowed",
    "okay",
    "fine",
    "yet",
    "anymore",
    "drop",
    "ignore",
    "restriction",
    "constraint",
    "lifted",
    "free",
    "mind",
    "stop",
];

/// Whether a sentence revokes a rule.
pub(crate) fn revokes(sentence: &str) -> bool {
    if sentence.ends_with(['?', '？']) {
        return false;
    }
    STOPS.is_match(sentence)
        || (REVOKES.is_match(sentence) && !NOT_ANY_MORE.is_match(&NEVER_MIND.replace_all(sentence, "")))
}

/// A parsed sentence that revokes a rule.
pub(super) struct Revocation {
    words: BTreeSet<String>,
    stops: bool,
    frees: bool,
}

impl Revocation {
    pub(super) fn of(sentence: &str) -> Self {
        Self { words: content_words(sentence), stops: STOPS.is_match(sentence), frees: ALLOWS_ANY.is_match(sentence) }
    }

    /// Returns how many words it shares with a rule, if they are enough: two, or all words of the sentence.
    /// One word is enough if the rule allows only one thing and the sentence allows any. All words of the
    /// rule are enough if the sentence stops what the rule demands.
    pub(super) fn meant(&self, rule: &str) -> Option<usize> {
        let words = content_words(rule);
        let shared = self.words.intersection(&words).count();
        if shared == 0 || (self.stops && FORBIDS.is_match(rule)) {
            return None;
        }
        let enough = shared >= MIN_SHARED
            || shared == self.words.len()
            || (self.stops && shared == words.len())
            || (self.frees && ALLOWS_ONLY.is_match(rule));
        enough.then_some(shared)
    }
}

/// Returns the content words of a sentence, in a form that most endings do not change. In a script without
/// spaces each char is a word.
pub(super) fn content_words(sentence: &str) -> BTreeSet<String> {
    let lower = sentence.to_lowercase();
    let mut words = BTreeSet::new();
    for word in lower.split(|c: char| !c.is_alphanumeric()) {
        if word.chars().any(is_dense) {
            words.extend(word.chars().filter(|&c| is_dense(c)).map(String::from));
        } else if word.chars().count() > 2 && !EMPTY.contains(&word) {
            words.insert(stem(word).to_owned());
        }
    }
    words
}

/// Whether a char is Han or kana.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// Returns the word without an English ending; it is only compared with other stems.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 6] = ["ing", "ed", "es", "s", "ly", "e"];
    let short = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.chars().count() > 2));
    let short = short.unwrap_or(word);
    // A doubled last letter also comes from an ending: commit, committing.
    let mut back = short.chars().rev();
    match (back.next(), back.next()) {
        (Some(a), Some(b)) if a == b && short.chars().count() > 3 => {
            short.get(..short.len() - a.len_utf8()).unwrap_or(short)
        }
        _ => short,
    }
}
