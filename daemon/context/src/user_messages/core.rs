//! Finds the requests in a message.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

use rayon::prelude::*;

use crate::anchors::{self, Prose};
use crate::constraints;
use crate::hash::Fnv;
use crate::parallel::FEW_TEXTS;
use crate::pattern::Pattern;
use crate::sentences::sentences;
use crate::text::{collapse, head, longer_than};

/// The most chars of one sentence in a shortened message.
const SENTENCE_CHARS: usize = 260;
/// The weight of a sentence that makes a request of someone.
const ASKS: u32 = 7;
/// The weight of a sentence that begins like an order.
const ORDERS: u32 = 5;
/// The weight of a question.
const QUESTION: u32 = 3;
/// The weight of a rule.
const RULE: u32 = 6;
/// The weight of a revocation: it must not be missing if the rule is shown.
const REVOCATION: u32 = 8;
/// The weight of an exact string.
const EXACT: u32 = 2;
/// The weight of a name or a number, which refers to a specific thing.
const SPECIFIC: u32 = 2;
/// The weight of a message that begins with a label, such as "FACT:" or "Decision:".
const LABELLED: u32 = 4;
/// The weight of the first sentence of a message, whatever its content.
const FIRST: u32 = 1;

static REQUEST: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix) \b(?:please|pls|plz|kindly)\b | \b(?:can|could|would|will)\ (?:you|we|someone)\b | \bI(?:['’]d|\ would)\ (?:also\ |really\ )?(?:like|love|want|prefer|appreciate)\b
        | \b(?:I|we)(?:['’]ll)?\ (?:also\ |still\ |really\ )?(?:need|want|wish|expect|require)\b | \b(?:your\ (?:task|job|next)|next\ task|todo|to[\ -]do|action\ item|request|task|goal|deliverable|requirement)\b\s*(?:\W|is|:)
        | \blet['’]?s\b | \bwe\ should\b | \byou\ should\b | \bmake\ sure\b | \b(?:have|get)\ (?:a\ look|it\ (?:done|working))\b | \btake\ a\ look\b | \bdon['’]t\ forget\b | \bremember\ to\b | \bgo\ ahead\ and\b | \bhelp\ me\b | \bI['’]m\ (?:looking|trying|hoping)\ (?:to|for)\b | \b(?:would|it['’]d)\ be\ (?:great|nice|good|helpful|useful)\b | \bshow\ me\b | \btell\ me\b | \blet\ me\ know\b
        | \b(?:after|once|when)\ (?:that|this|you['’]re\ done|done)\b[^.]*,\s*\w | \b(?:before|by|until)\ (?:monday|tuesday|wednesday|thursday|friday|tomorrow|tonight|the\ (?:release|demo|meeting|end)|next\ week|noon)\b
        | \b(?:bitte|kannst\ du|könntest\ du|können\ sie|ich\ (?:möchte|brauche|hätte\ gern)|por\ favor|puedes|podrías|necesito|quiero|s['’]il\ (?:te|vous)\ pla[iî]t|peux[\ -]tu|pouvez[\ -]vous|j['’]aimerais|il\ me\ faut)\b | 请|帮我|麻烦|能不能|可以.*吗|需要|してください|お願い|てほしい|ほしい|пожалуйста|можешь|нужно|주세요|부탁",
    )
});

static ORDER: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix) ^\W*(?:(?:ok(?:ay)?|also|and|then|next|now|first|second|third|finally|afterwards|additionally|meanwhile|later|instead|plus|great|thanks?|hi|hello|hey)\b[\s,:;-]*)*
          (?:add|fix|write|implement|create|build|make|remove|delete|rename|change|update|upgrade|check|run|investigate|explain|look|find|show|give|list|review|refactor|extract|move|replace|document|test|cover|deploy|release|publish|prepare|set|configure|install|bump|port|convert|migrate|extend|improve|optimi[sz]e|speed|reduce|increase|split|merge|rebase|revert|undo|restore|generate|summari[sz]e|compare|measure|profile|benchmark|debug|reproduce|draft|send|book|cancel|schedule|rewrite|translate|clean|tidy|drop|expose|export|import|support|handle|validate|verify|ensure|track|log|print|wire|hook|introduce|switch|use|try|start|stop|finish|continue|go|figure|trace|double[\ -]check|open|close|file|tag|design|plan|propose|suggest|estimate|append|include|provide|put|turn|enable|disable|raise|lower|sort|group|filter|parse|format|lint|bring|keep|return|read|save|store|cache|download|upload|fetch|sync|render|display|hide|wrap|backport|squash|cherry-pick|annotate|audit|collect|count|calculate|compute|attach|apply|adjust|adapt|allow|automate|confirm|connect|copy|define|describe|detect|ship|simplify|swap|unify|wait|work)\b\s+\S",
    )
});

/// A label at the beginning of a message: words in capitals that name no level of a log, or one of these words.
static LABEL: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?x)^\W*(?: (?i:(?:(?:hard|key|user|project|my|our|the|safety|style|current)\ )?(?:facts?|notes?|preferences?|constraints?|rules?|goals?|decisions?|deadlines?|requirements?|contacts?|context|important|reminder|todo|fyi|nb|assumptions?|limits?|budget)) | \p{Lu}[\p{Lu}\d]{2,}(?:[\ _-][\p{Lu}\d]{2,}){0,3} )[:：]\s*[^\s/]",
    )
});

/// Labels of logs, which label nothing that a person wants to be kept.
static LOG_LEVEL: LazyLock<Pattern> =
    LazyLock::new(|| crate::pattern(r"(?i)^\W*(?:error|warn|warning|info|debug|trace|fatal|notice|usage)\s*[:：]"));

/// Sentences that only keep the conversation going.
static EMPTY: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)^\W*(?:(?:yes|yeah|yep|no|nope|ok(?:ay)?|sure|thanks?(?:\ you)?(?:\ (?:so|very)\ much)?|great|good|perfect|fine|cool|nice|alright|right|correct|exactly|please|do\ (?:it|that|so)|go\ (?:ahead|on)|continue|proceed|sounds\ (?:good|great)|looks\ good|lgtm|that(?:['’]s|\ is|\ works)?\ ?(?:all|it|fine|great|good|correct|right|okay)?|everything|you['’]re\ welcome|with|the|this|it|i|confirm|agree|understood|got\ it|done|stop|and|for\ (?:your|the)\ (?:help|patience|assistance))\b\W*)+$",
    )
});

/// The weight that a routine sentence loses.
const ROUTINE_LOSS: u32 = 4;
/// The number of repetitions that make a sentence routine.
const ROUTINE: u32 = 8;

/// The weight of each sentence of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Core {
    /// The weight and the range of each sentence, in the order of the text.
    sentences: Vec<(u32, Range<usize>)>,
}

/// Returns the cores of all messages. A sentence that occurs in many messages in nearly the same words weighs
/// less; a rule keeps its weight.
pub(super) fn cores(texts: &[String]) -> Vec<Core> {
    let mut cores: Vec<Core> = texts.par_iter().with_min_len(FEW_TEXTS).map(|text| Core::of(text)).collect();
    let mut counts: HashMap<u64, u32> = HashMap::new();
    for (core, text) in cores.iter().zip(texts) {
        core.places().for_each(|place| *counts.entry(wording(text, place)).or_default() += 1);
    }
    cores.par_iter_mut().zip(texts).with_min_len(FEW_TEXTS).for_each(|(core, text)| {
        for (weight, place) in &mut core.sentences {
            let is_routine = counts.get(&wording(text, place)).is_some_and(|count| *count >= ROUTINE);
            let sentence = text.get(place.clone()).unwrap_or("");
            if is_routine && *weight > ROUTINE_LOSS && !is_rule(sentence) {
                *weight -= ROUTINE_LOSS;
            }
        }
    });
    cores
}

/// Returns a hash of the words of a sentence, without its names and numbers.
fn wording(text: &str, place: &Range<usize>) -> u64 {
    let mut hash = Fnv::default();
    for word in text.get(place.clone()).unwrap_or("").split_whitespace() {
        hash.byte(b' ');
        if !word.contains(|c: char| c.is_ascii_digit() || c.is_uppercase() || "_/".contains(c)) {
            hash.write(word.as_bytes());
        }
    }
    hash.finish()
}

fn is_rule(sentence: &str) -> bool {
    constraints::revokes(sentence) || !constraints::find(sentence).is_empty()
}

impl Core {
    fn of(text: &str) -> Self {
        let sentences = places(text)
            .enumerate()
            .map(|(at, place)| (weight(text.get(place.clone()).unwrap_or(""), at), place))
            .collect();
        Self { sentences }
    }

    fn places(&self) -> impl Iterator<Item = &Range<usize>> {
        self.sentences.iter().map(|(_, place)| place)
    }

    fn sentence<'a>(&self, text: &'a str, at: usize) -> &'a str {
        self.sentences.get(at).and_then(|(_, place)| text.get(place.clone())).unwrap_or("")
    }

    /// Returns the weight of the heaviest sentence.
    pub(super) fn weight(&self) -> u32 {
        self.sentences.iter().map(|(weight, _)| *weight).max().unwrap_or(0)
    }

    /// Returns the sentences of at least this weight within a number of chars, in their order, on one line.
    /// Omitted parts between them are marked.
    pub(super) fn shortened(&self, text: &str, least: u32, chars: usize) -> String {
        let mut order: Vec<usize> = (0..self.sentences.len()).collect();
        let heavy = |at: &usize| self.sentences.get(*at).map_or(0, |(weight, _)| *weight);
        order.retain(|at| heavy(at) >= least);
        order.sort_by_key(|at| std::cmp::Reverse(heavy(at)));
        let longest = SENTENCE_CHARS.min(chars.saturating_sub(FRAME));
        let mut room = chars;
        let mut taken: Vec<usize> = Vec::new();
        for at in order {
            let sentence = self.sentence(text, at);
            let cost = sentence.chars().count().min(longest) + FRAME;
            if cost <= room {
                room -= cost;
                taken.push(at);
            }
        }
        taken.sort_unstable();
        let mut out = String::new();
        let mut next = 0;
        for at in taken {
            let sentence = self.sentence(text, at);
            if at > next {
                out.push_str(if out.is_empty() { MARK } else { " …" });
            }
            if !out.is_empty() {
                out.push(' ');
            }
            out.push_str(&collapse(head(sentence, longest)));
            if longer_than(sentence, longest) {
                out.push_str(" …");
            }
            next = at + 1;
        }
        if !out.is_empty() && next < self.sentences.len() && !out.ends_with('…') {
            out.push_str(" …");
        }
        out
    }
}

/// Returns a message with a mark for each run of sentences for which `is_shown` is true; `None` if nothing else is in
/// it. The rest stays byte for byte.
pub(super) fn without(text: &str, is_shown: impl Fn(&str) -> bool) -> Option<String> {
    let mut left = String::with_capacity(text.len());
    let mut end = 0;
    for place in places(text).filter(|place| text.get(place.clone()).is_some_and(&is_shown)) {
        let between = text.get(end..place.start).unwrap_or("");
        if !(left.ends_with(MARK) && between.trim().is_empty()) {
            left.push_str(between);
            left.push_str(MARK);
        }
        end = place.end;
    }
    left.push_str(text.get(end..).unwrap_or(""));
    (end == 0 || left.contains(char::is_alphanumeric)).then_some(left)
}

/// Returns the places of the sentences.
fn places(text: &str) -> impl Iterator<Item = Range<usize>> {
    let all = text.lines().filter(|line| !line.trim().is_empty()).flat_map(sentences);
    all.map(|sentence| {
        let start = sentence.as_ptr().addr().saturating_sub(text.as_ptr().addr());
        start..start + sentence.len()
    })
}

/// The replacement for an omitted part.
const MARK: &str = "…";
/// Chars of marks and spaces around one sentence.
const FRAME: usize = 5;

fn weight(sentence: &str, at: usize) -> u32 {
    if EMPTY.is_match(sentence) {
        return 0;
    }
    let mut weight = if at == 0 { FIRST } else { 0 };
    if REQUEST.is_match(sentence) {
        weight += ASKS;
    } else if ORDER.is_match(sentence) {
        weight += ORDERS;
    }
    if at == 0 && LABEL.is_match(sentence) && !LOG_LEVEL.is_match(sentence) {
        weight += LABELLED;
    }
    if is_specific(sentence) {
        weight += SPECIFIC;
    }
    if sentence.ends_with(['?', '？']) {
        weight += QUESTION;
    }
    if !constraints::find(sentence).is_empty() {
        weight += RULE;
    }
    if constraints::revokes(sentence) {
        weight += REVOCATION;
    }
    if anchors::kind_of(sentence, Prose::Yes).is_some() {
        weight += EXACT;
    }
    weight
}

/// Whether a sentence contains a word that is not plain.
fn is_specific(sentence: &str) -> bool {
    let inner_capital = |word: &str| word.chars().skip(1).any(char::is_uppercase);
    sentence
        .split_whitespace()
        .any(|word| word.contains(|c: char| c.is_ascii_digit() || "`_/".contains(c)) || inner_capital(word))
}

/// Whether a message has no content that could matter later.
pub(super) fn is_empty_talk(core: &Core) -> bool {
    core.weight() == 0
}
