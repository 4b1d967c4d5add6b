//! What a person or a model typed, as phrases to look for. Any text is fine: none
//! of it is syntax, except that what stands in double quotes belongs together.

use crate::token;

/// Chars of a query that are looked at.
pub const LONGEST_QUERY: usize = 1_000;

/// Words and quoted parts of a query that are looked for.
pub const MOST_WORDS: usize = 32;

/// Chars from which on a word also stands for longer ones that begin with it.
const SHORTEST_BEGINNING: usize = 3;

/// Tokens that must follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Phrase {
    /// The tokens, at least one.
    pub(crate) tokens: Vec<String>,
    /// The last one may be the beginning of a longer one.
    pub(crate) open: bool,
}

/// How the phrases of a query belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// All must occur.
    All,
    /// One must.
    Any,
}

/// Whether a word also stands for longer ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Where its phrase is open.
    AsAsked,
    /// No.
    Closed,
}

/// The phrases of a query; none of one without any letter or digit.
pub(crate) fn phrases(query: &str) -> Vec<Phrase> {
    let end = query.char_indices().nth(LONGEST_QUERY).map_or(query.len(), |(at, _)| at);
    let query = query.get(..end).unwrap_or_default();
    let mut phrases = Vec::new();
    for (part, quoted) in query.split('"').zip([false, true].into_iter().cycle()) {
        let words: Vec<&str> = if quoted { vec![part] } else { part.split_whitespace().collect() };
        for phrase in words.into_iter().filter_map(|word| phrase(word, quoted)) {
            if phrases.len() < MOST_WORDS && !phrases.contains(&phrase) {
                phrases.push(phrase);
            }
        }
    }
    phrases
}

/// The phrases in the words of FTS5. Tokens consist of letters, digits and marks,
/// so that nothing in the quotes can end them.
pub(crate) fn expression(phrases: &[Phrase], join: Join, ends: Ends) -> String {
    let words = phrases.iter().map(|phrase| {
        let open = if phrase.open && ends == Ends::AsAsked { " *" } else { "" };
        format!("\"{}\"{open}", phrase.tokens.join(" "))
    });
    words.collect::<Vec<_>>().join(match join {
        Join::All => " AND ",
        Join::Any => " OR ",
    })
}

fn phrase(text: &str, quoted: bool) -> Option<Phrase> {
    let normalised = token::normalise(text);
    let mut phrase = Phrase { tokens: Vec::new(), open: false };
    let mut runs = token::runs(&normalised).peekable();
    while let Some(run) = runs.next() {
        let is_last = runs.peek().is_none();
        if run.spaced {
            let word = token::cut(run.text);
            phrase.tokens.push(token::lower(word));
            phrase.open = !quoted && word.chars().count() >= SHORTEST_BEGINNING;
            continue;
        }
        phrase.tokens.extend(token::pairs(run.text).map(token::lower));
        // The text may go on where the query ends: then its last char is not alone.
        let is_alone = run.text.chars().count() == 1;
        if is_last && !is_alone {
            phrase.tokens.pop();
        }
        phrase.open = is_alone;
    }
    (!phrase.tokens.is_empty()).then_some(phrase)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(query: &str) -> String {
        expression(&phrases(query), Join::All, Ends::AsAsked)
    }

    #[test]
    fn words_become_phrases() {
        for (query, expect) in [
            ("", ""),
            (" \t\" \" -- () * \u{1f600}", ""),
            ("Hello", r#""hello" *"#),
            ("of the", r#""of" AND "the" *"#),
            ("the the THE", r#""the" *"#),
            ("\"of the\" end", r#""of the" AND "end" *"#),
            ("\"never closed", r#""never closed""#),
            ("a\"b", r#""a" AND "b""#),
            ("NEAR(a OR b) NOT c:d* ^x", r#""near a" AND "or" AND "b" AND "not" * AND "c d" AND "x""#),
            ("snake_case.rs", r#""snake case rs""#),
            ("src/Main", r#""src main" *"#),
            ("数据", r#""数据""#),
            ("数据库", r#""数据 据库""#),
            ("数", r#""数" *"#),
            ("数据abc", r#""数据 据 abc" *"#),
            ("x数", r#""x 数" *"#),
            ("\"abc 数\"", r#""abc 数" *"#),
            ("ｶﾞｽ", r#""ガス""#),
            ("Ünïcode", r#""unicode" *"#),
            ("; DROP TABLE word; --", r#""drop" * AND "table" * AND "word" *"#),
        ] {
            assert_eq!(shown(query), expect, "{query}");
        }
    }

    #[test]
    fn a_query_has_limits() {
        let many: String = (0..100).map(|number| format!("w{number} ")).collect();
        assert_eq!(phrases(&many).len(), MOST_WORDS);
        let long = format!("{}zzz", " ".repeat(LONGEST_QUERY));
        assert_eq!(phrases(&long), []);
    }
}
