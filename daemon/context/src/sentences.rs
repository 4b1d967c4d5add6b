//! Splits running text into sentences.

/// Words whose final period does not end a sentence.
const ABBREVIATIONS: [&str; 12] = ["e.g", "i.e", "etc", "vs", "cf", "z.b", "approx", "no", "nr", "fig", "p.ej", "ca"];
/// The beginnings of a list item.
const BULLETS: [&str; 5] = ["- ", "* ", "+ ", "• ", "– "];

/// Returns the lines of prose: no fenced code, no quoted mail, no empty lines.
pub(crate) fn prose_lines(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().map(str::trim).filter(move |line| {
        if line.starts_with("```") || line.starts_with("~~~") {
            fenced = !fenced;
            return false;
        }
        !fenced && !line.is_empty() && !line.starts_with('>')
    })
}

/// Returns the sentences of one line, each with its final punctuation and without a list marker.
pub(crate) fn sentences(line: &str) -> Vec<&str> {
    let line = unlisted(line);
    let mut found = Vec::new();
    let mut start = 0;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        let ends = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' | ';' => {
                chars.peek().is_none_or(|(_, next)| next.is_whitespace())
                    && !(c == '.' && is_abbreviation(line.get(start..at).unwrap_or("")))
            }
            _ => false,
        };
        if ends {
            push(&mut found, line.get(start..end));
            start = end;
        }
    }
    push(&mut found, line.get(start..));
    found
}

fn push<'a>(found: &mut Vec<&'a str>, piece: Option<&'a str>) {
    if let Some(piece) = piece.map(str::trim).filter(|piece| piece.chars().any(char::is_alphanumeric)) {
        found.push(piece);
    }
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    let single = word.chars().count() == 1 && word.chars().all(char::is_uppercase) && word != "I";
    single || ABBREVIATIONS.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns a line without the dash or number of a list.
fn unlisted(line: &str) -> &str {
    let line = line.trim();
    let line = BULLETS.iter().find_map(|bullet| line.strip_prefix(bullet)).unwrap_or(line);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = line.get(digits..).unwrap_or("");
    let numbered = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") "));
    if (1..=3).contains(&digits) { numbered.unwrap_or(line).trim_start() } else { line.trim_start() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_falls_into_sentences() {
        for (line, expect) in [
            ("Never do a. Use v1.2 of x.rs! Ok?", vec!["Never do a.", "Use v1.2 of x.rs!", "Ok?"]),
            ("- use e.g. tabs. No, spaces", vec!["use e.g. tabs.", "No, spaces"]),
            ("2) first. . second", vec!["first.", "second"]),
            ("2026. was fine", vec!["2026.", "was fine"]),
            ("不要改。谢谢！", vec!["不要改。", "谢谢！"]),
            ("", vec![]),
            ("...", vec![]),
        ] {
            assert_eq!(sentences(line), expect, "{line}");
        }
    }

    #[test]
    fn code_and_quotes_are_not_prose() {
        let text = "a\n```sh\nnever\n```\n> quoted\n\n b ";
        assert_eq!(prose_lines(text).collect::<Vec<_>>(), ["a", "b"]);
    }
}
