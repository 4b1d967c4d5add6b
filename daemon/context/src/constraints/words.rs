//! Sentences that take a rule back, and which rule they mean.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// Words that a revocation must share with the rule, at the least.
const MIN_SHARED: usize = 2;

static REVOKES: LazyLock<Regex> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix) \byou\ (?:may|can|are\ (?:free|allowed)\ to)\ (?:now|again)\b | \byou\ (?:may|can)\b[^.?!]*\b(?:again|after\ all|from\ now\ on)\b
        | \b(?:now|from\ now\ on|again)\b[^.?!]{0,20}\byou\ (?:may|can)\b | \byou(?:['’]re|\ are)\ (?:now\ )?(?:allowed|free|welcome)\ to\b
        | \b(?:forget|drop|ignore|cancel|lift|scrap|disregard|revoke|remove|retire)\b[^.?!]{0,30}\b(?:rule|rules|constraint|restriction|requirement|ban|instruction|limitation)\b
        | \bno\ longer\ (?:need|have|required|necessary|applies|apply|holds|matters|in\ force|forbidden|off[\ -]limits)\b | \b(?:don['’]t|do\ not)\ (?:need|have)\ to\b[^.?!]*\b(?:any\ ?more|any\ longer|now)\b
        | \b(?:it['’]?s|it\ is|is|are)\ (?:now\ )?(?:ok|okay|fine|allowed|permitted)\ (?:to|again|now)\b | \b(?:rule|restriction|constraint|ban)\b[^.?!]{0,60}\b(?:is\ (?:off|lifted|gone|over|void)|no\ longer)\b
        | \bdu\ (?:darfst|kannst)\ (?:jetzt|nun|wieder)\b | \bvergiss\ die\ regel\b | \bnicht\ mehr\ nötig\b | \bya\ puedes\b | \bpuedes\b[^.?!]*\b(?:de\ nuevo|otra\ vez)\b | \bolvida\ la\ regla\b
        | \btu\ peux\ (?:maintenant|désormais|de\ nouveau|à\ nouveau)\b | \boublie\ la\ règle\b | 现在可以 | 可以再 | 不再需要 | 不用再 | してもいい | してもよい | しても大丈夫 | もう.*必要は(?:ない|ありません)",
    )
});

static NOT_ANY_MORE: LazyLock<Regex> = LazyLock::new(|| {
    crate::pattern(r"(?i)\b(?:never|cannot|can['’]t|(?:may|must|should) not)\b.*\b(?:again|now)\b|\bonly\b")
});

/// Words that say nothing about what a rule is about.
const EMPTY: [&str; 76] = [
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
];

/// Whether a sentence takes a rule back.
pub(crate) fn revokes(sentence: &str) -> bool {
    !sentence.ends_with(['?', '？']) && REVOKES.is_match(sentence) && !NOT_ANY_MORE.is_match(sentence)
}

/// The words that a sentence is about, in a form that most endings do not change. A char of a
/// script without spaces is a word.
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

/// Han and kana.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

/// The word without an English ending; only ever compared with other stems.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 6] = ["ing", "ed", "es", "s", "ly", "e"];
    let short = ENDINGS.iter().find_map(|ending| word.strip_suffix(ending).filter(|rest| rest.chars().count() > 2));
    let short = short.unwrap_or(word);
    // A doubled last letter is the spelling of an ending too: commit, committing.
    let mut back = short.chars().rev();
    match (back.next(), back.next()) {
        (Some(a), Some(b)) if a == b && short.chars().count() > 3 => {
            short.get(..short.len() - a.len_utf8()).unwrap_or(short)
        }
        _ => short,
    }
}

/// How many words two sentences share.
pub(super) fn shared(a: &BTreeSet<String>, b: &BTreeSet<String>) -> usize {
    a.intersection(b).count()
}

/// Whether that many shared words name a rule: two, or all that the sentence has.
pub(super) fn is_enough(shared: usize, said: usize) -> bool {
    shared >= MIN_SHARED || (shared > 0 && shared == said)
}
