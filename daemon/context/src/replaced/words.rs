//! Words that show the subject of a statement, and that something changed.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::pattern::Pattern;
use crate::work::{ValueKind, values};

/// A kind of standing fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum FactKind {
    /// A spending limit.
    Limit,
    /// A due date.
    Day,
    /// The name of something.
    Name,
    /// The time zone of times.
    Zone,
    /// The person with a duty.
    Duty,
    /// The branch in use.
    Branch,
    /// The style of answers.
    Style,
    /// A code that opens something, such as a PIN.
    Code,
}

/// A sort of value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum ValueSort {
    Money,
    Day,
    Person,
    Exact,
}

impl FactKind {
    /// Whether such a fact is always unique.
    pub(super) fn is_only_one(self) -> bool {
        matches!(self, Self::Zone | Self::Style)
    }

    /// Whether such a fact is unique at a time in most conversations.
    pub(super) fn needs_no_scope(self) -> bool {
        matches!(self, Self::Branch | Self::Duty)
    }
}

/// A time zone that applies to all times.
const ZONE: &str = r"(?i)\b(?:times|timestamps?|clocks?|Zeiten|Uhrzeiten)\b.*\b(?:(?-i:UTC|GMT|CET|CEST|MEZ|MESZ|PST|PDT|EST|EDT)|time ?zone|(?:pacific|eastern|central|mountain|local) time)\b";

static FAMILIES: LazyLock<Vec<(FactKind, Pattern)>> = LazyLock::new(|| {
    [
        (FactKind::Limit, r"(?i)\b(?:budgets?|spend(?:ing)?|expenses|ceiling|cap)\b|\bcosts?\b.*\b(?:below|under|at most|no more)\b"),
        (FactKind::Day, r"(?i)\b(?:deadline|due|launch|release|ship(?:s|ping)?|freeze|go[- ]live|demo|target date|timing)\b"),
        (FactKind::Name, r"(?i)\b(?:codename|code name|nickname|label|designated|(?:is|are) call(?:ed|ing)|named)\b"),
        (FactKind::Zone, ZONE),
        (FactKind::Duty, r"(?i)\b(?:on[- ]call|pager|rotation|escalations?|support duty|standby)\b"),
        (FactKind::Branch, r"(?i)\b(?:branch|rebased|checked out)\b"),
        (FactKind::Style, r"(?i)\b(?:answers?|repl(?:y|ies)|responses?)\b.*\b(?:terse|brief|short|playful|warm|formal|informal|light|detailed|long|metric|imperial|bullet|tone|style)\b|\b(?:terse|brief|short|playful|warm|formal|informal|light|detailed|long)\b.*\b(?:answers?|repl(?:y|ies)|responses?)\b"),
        (FactKind::Code, r"(?i)\b(?:code|passcode|password|PIN|passphrase)\b"),
    ]
    .into_iter()
    .map(|(family, pattern)| (family, crate::pattern(pattern)))
    .collect()
});

static MONEY: LazyLock<Pattern> =
    LazyLock::new(|| crate::pattern(r"(?i)[$€£¥]\s?\d|\b(?:dollars?|euros?|pounds?|USD|EUR|GBP)\b"));

static DAY: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?i)\b\d{4}-\d{2}-\d{2}\b|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\s+\d{1,2}\b|\b\d{1,2}\.?\s+(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b",
    )
});

/// Two successive words that begin with a capital, also at the beginning of a sentence.
static PERSON: LazyLock<Pattern> = LazyLock::new(|| crate::pattern(r"\b[A-Z][a-z]+ [A-Z][a-z]+\b"));

static CHANGED: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix) \b(?:from\ now\ on|no\ longer|(?:has|have)\ changed|changed\ to|moved\ to|switched\b.{0,40}\bto|rebased|renamed|rotat(?:ed|ion)|replaced\ by|retired|as\ of\ (?:today|now)|starting\ today)\b
        | \b(?:update|correction):
        | \b(?:is|are)\ now\b | \bnow\ (?:is|are|owns?|belongs?|has|have|runs?|goes|stands?|ships?|called)\b | \bwe\ now\b | [^t]\ now\W*$
        | \bnew\ (?:ceiling|limit|budget|cap|deadline|date|name|code|owner|branch|rule|target|address|number|plan)\b
        | \bI\ would\ rather\b | \bI['’]d\ rather\b
        | \b(?:ab\ jetzt|ab\ sofort|nicht\ mehr|geändert|verschoben|désormais|à\ partir\ de\ maintenant|a\ partir\ de\ ahora|ya\ no|теперь|больше\ не)\b | 从现在|改为|不再|今後は|これからは",
    )
});

/// The words between the subject of a statement and its value.
static SAYS: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(r"(?i)\s(?:is|are|was|will be|has changed to|have changed to|changed to|moved to|rotated)\b")
});

/// Words of families and of change, as stems, and words that do not describe a subject.
const NOTHING: &str = "a about above after all also always an and any approval are as at be been before below by can code could \
    day do does dollar done each ever every exactly explicit fact follow for from get goal had hard has have he her his how i if in into \
    is it its just keep know let like limit make may me more must my need never new no not now of on once one only or other our out \
    owner own over please previous quick rather rule run safety should so some state still than that the their them then there they this \
    time to today total under until up update us use user very was we week were what when where which while who will with without \
    would you your constraint preference hundred thousand million note noted remember change changed rotated moved switched";

static SAYS_NOTHING: LazyLock<HashSet<&'static str>> = LazyLock::new(|| NOTHING.split_whitespace().collect());

/// Returns the words of a text in lower case, without plural endings and without values.
pub(super) fn words(text: &str) -> HashSet<String> {
    let exact: HashSet<&str> = values(text).map(|value| value.text).collect();
    let parts = text.split(|char: char| !char.is_alphanumeric() && !"-_/.'’".contains(char));
    let plain = parts
        .filter(|part| !exact.contains(part.trim_matches(['.', '-'])))
        .flat_map(|part| part.split(|char: char| !char.is_alphanumeric()).filter(|word| word.chars().nth(2).is_some()));
    let names: HashSet<&str> = PERSON.find_iter(text).flat_map(|found| found.as_str().split(' ')).collect();
    plain
        .filter(|word| !names.contains(word) && !word.chars().any(|char| char.is_ascii_digit()))
        .map(|word| stem(&word.to_lowercase()))
        .collect()
}

fn stem(word: &str) -> String {
    let stems = ["ing", "ed", "es", "s"];
    let cut = stems.iter().find_map(|end| word.strip_suffix(end).filter(|stem| stem.chars().count() >= 3));
    cut.unwrap_or(word).to_owned()
}

pub(super) fn families(text: &str) -> HashSet<FactKind> {
    FAMILIES.iter().filter(|(_, words)| words.is_match(text)).map(|(family, _)| *family).collect()
}

pub(super) fn is_of_family(stem: &str) -> bool {
    const OF_FAMILIES: &[&str] = &[
        "budget", "spend", "expens", "expense", "cost", "ceil", "cap", "deadline", "due", "codename", "label", "call",
        "pager", "rotation", "branch", "answer", "reply", "repli", "respons", "response", "date", "name", "target",
    ];
    OF_FAMILIES.contains(&stem)
}

pub(super) fn says_nothing(stem: &str) -> bool {
    SAYS_NOTHING.contains(stem)
}

pub(super) fn sorts(text: &str) -> HashSet<ValueSort> {
    let mut sorts = HashSet::new();
    for (sort, has) in [
        (ValueSort::Money, MONEY.is_match(text)),
        (ValueSort::Day, DAY.is_match(text)),
        (ValueSort::Person, PERSON.is_match(text)),
        (
            ValueSort::Exact,
            values(text).any(|value| matches!(value.kind, ValueKind::Id | ValueKind::Path | ValueKind::Name)),
        ),
    ] {
        if has {
            sorts.insert(sort);
        }
    }
    sorts
}

/// Returns the subject of a statement with a verb like "is": the words before the verb.
pub(super) fn subject(text: &str) -> HashSet<String> {
    let before = SAYS.find(text).map_or("", |found| text.get(..found.start()).unwrap_or(""));
    words(before).into_iter().filter(|word| !says_nothing(word)).collect()
}

/// Whether a text says that something has changed.
pub(crate) fn announces_change(text: &str) -> bool {
    // At the beginning the word only announces the next action.
    let rest = text.trim_start();
    let rest = rest.strip_prefix("Now ").or_else(|| rest.strip_prefix("now ")).unwrap_or(rest);
    CHANGED.is_match(rest)
}
