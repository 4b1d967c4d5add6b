//! What a person prefers: a clause that is a standing wish, also inside a question.
//!
//! "I prefer trains, so can you find me a way to Rome?" asks once, and says something that also holds later.

use std::ops::Range;
use std::sync::LazyLock;

use crate::pattern::Pattern;

/// Words that refer to something that is only known here, and begin what is preferred.
const REFERRING: &[&str] = &[
    "it",
    "this",
    "that",
    "these",
    "those",
    "them",
    "you",
    "him",
    "her",
    "option",
    "number",
    "how",
    "the way",
    "the idea",
    "the first",
    "the second",
    "the third",
    "the last",
    "the other",
    "the latter",
    "the former",
    "the one",
    "the same",
    "to bother",
    "to say",
    "to ask",
    "to interrupt",
    "to be that",
    "ese",
    "esa",
    "eso",
    "esto",
    "das",
    "dies",
    "cela",
    "ça",
];
/// The same in Chinese, where words have no spaces.
const REFERRING_CHINESE: &[&str] = &["这", "那", "它"];

/// Words that begin such a clause.
static PREFERS: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)
        \b(?:I|we)\ (?:(?:strongly|generally|usually|normally|really|always|much|personally|also|still|definitely|absolutely|typically|mostly|just)\ )*
          (?: prefer | favou?r | dislike | hate | detest | love | can['’]?t\ stand | cannot\ stand | (?:don['’]?t|do\ not)\ (?:really\ )?(?:like|enjoy|eat|drink) | tend\ to\ (?:prefer|avoid) | avoid )\b
        | \bI(?:['’]m|\ am)\ (?:(?:very|highly|severely|really|also)\ )*(?:allergic\ to | not\ a\ (?:big\ )?fan\ of | not\ (?:into|fond\ of))\b
        | \bmy\ (?:(?:strong|personal|clear)\ )?preference\ is\b
        | \b(?:ich|wir)\ (?:bevorzuge|mag|mögen|hasse)n?\b | \bmir\ ist\b[^.?!]{2,60}\blieber\b
        | \b(?:prefiero|preferimos|prefiro|preferisco|preferiamo|odio)\b | \bje\ (?:préfère|déteste)\b | \bj['’]aime\ (?:mieux|pas)\b
        | 我(?:们)?(?:更|比较|最|非常|很)?(?:喜欢|偏好|讨厌|不喜欢) | (?:の(?:方|ほう)が)(?:好き|いい) | (?:я|мы)\ (?:предпочита(?:ю|ем)|не\ люблю) | (?:선호|좋아)(?:해요|합니다|해)",
    )
});

/// Words before the clause that make it a question, a condition or somebody's opinion of it.
static ASKED: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)\b(?:do|did|does|should|would|could|can|will|shall|must|might|may|if|whether|unless|think|guess|assume|say|said|suppose|how|when|why|where|what|which)(?:\ you|\ that|\ it)?\ *$",
    )
});

/// Where the clause ends: a question or an order follows.
static END: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix)
        [,;:–—]?\s+(?:and\ |but\ )?(?:so|therefore|thus|hence|then)[\s,]+(?:please|can|could|would|will|what|which|how|where|when|who|why|is|are|do|does|should|any|may|might|have|find|show|give|tell|suggest|recommend|help|let)\b
        | [,;:–—]\s*(?:and\ |but\ |so\ |now\ |then\ )?(?:please|pls|can|could|would|will|what|which|how|where|when|who|why|is|are|do|does|should|any|may|might|find|show|give|tell|suggest|recommend|help|let|thanks|thank\ you)\b
        | \s+[–—-]\s+
        | [,;]?\s+and\ (?:can|could|would|will|please|what|which|how|where|should)\b
        | [,;]\s*(?:kannst|können|könnten|könntest|puedes|podrías|peux|pouvez|puoi|você|можешь|можете)\b
        | [，；。] | [,;]?\s*¿
        | [?？!！]|\.\s*$",
    )
});

/// Returns the clause of a sentence that says what a person prefers, without the question around it.
pub(super) fn preference(sentence: &str) -> Option<&str> {
    PREFERS.find_iter(sentence).find_map(|verb| clause(sentence, verb.start()..verb.end()))
}

/// Returns the clause with this verb, if it states a preference.
fn clause(sentence: &str, verb: Range<usize>) -> Option<&str> {
    let before = sentence.get(..verb.start)?.trim_end();
    let rest = sentence.get(verb.end..)?;
    // A question about it, and a text that is quoted or given.
    if ASKED.is_match(before) || before.ends_with(['"', '“', '‘', '\'', '`', ':', '：']) {
        return None;
    }
    if sentence.get(verb.clone())?.ends_with(|char| "きい요다해".contains(char)) {
        // In Japanese and Korean what is preferred is before the verb, and what follows may deny it.
        let follows = rest.trim_start_matches("です").trim_matches(['。', '.', '!', '！', ' ']);
        let is_stated = follows.is_empty() || follows.starts_with(['、', ',', '，']);
        return is_stated.then(|| sentence.get(..verb.end)?.rsplit(['、', ',']).next().map(str::trim))?;
    }
    let what = rest.get(..END.find(rest).map_or(rest.len(), |found| found.start()))?.trim();
    let lower = what.to_lowercase();
    let is_word = |word: &str| lower.strip_prefix(word).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric));
    let refers =
        REFERRING.iter().any(|word| is_word(word)) || REFERRING_CHINESE.iter().any(|word| lower.starts_with(word));
    if what.is_empty() || refers {
        return None;
    }
    sentence.get(verb.start..verb.end + rest.find(what)? + what.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clause_is_taken_and_not_the_question() {
        for (sentence, expected) in [
            ("I prefer trains to planes, so can you find me a way to Rome?", "I prefer trains to planes"),
            ("I prefer window seats, can you book one?", "I prefer window seats"),
            ("Can you suggest a place for dinner, since I strongly prefer vegan food?", "I strongly prefer vegan food"),
            ("I dislike crowded places and can you name a quiet beach?", "I dislike crowded places"),
            ("What should I cook tonight, given that I'm allergic to peanuts?", "I'm allergic to peanuts"),
            ("I don't like horror films – which of these is one?", "I don't like horror films"),
            ("We prefer small commits, please split this one.", "We prefer small commits"),
            ("I prefer tabs over spaces.", "I prefer tabs over spaces"),
            ("My preference is British spelling; could you check the page?", "My preference is British spelling"),
            ("Ich bevorzuge kurze Antworten, kannst du das zusammenfassen?", "Ich bevorzuge kurze Antworten"),
            ("Prefiero el tren, ¿puedes buscar uno?", "Prefiero el tren"),
            ("我更喜欢简短的回答，你能总结一下吗？", "我更喜欢简短的回答"),
            ("短い答えの方が好きです。", "短い答えの方が好き"),
            ("Should I avoid planes, given that I hate flying?", "I hate flying"),
        ] {
            assert_eq!(preference(sentence), Some(expected), "{sentence}");
        }
    }

    #[test]
    fn who_asks_about_a_preference_states_none() {
        for sentence in [
            "Do I prefer trains?",
            "What if I prefer the other one?",
            "I would prefer the morning flight.",
            "I'd prefer that one, is it free?",
            "Which one do you prefer?",
            "I love it!",
            "I love how it works.",
            "I prefer that one, thanks.",
            "I prefer the second one.",
            "I prefer option 2.",
            "I love that idea!",
            "I love it so much!",
            "I don't like the way this test fails.",
            "Shall I avoid the highway?",
            "Do you know how I avoid the toll?",
            "I hate to bother you, but can you look at it?",
            "Translate: I love my dog",
            "Translate 'I prefer tea' into French.",
            "Ich mag das.",
            "我喜欢这个",
            "短い答えの方が好きではありません。",
            "猫の方が好きですか？",
            "짧은 답을 선호해요?",
            "Do you think I hate it?",
            "",
        ] {
            assert_eq!(preference(sentence), None, "{sentence}");
        }
    }
}
