//! Cuts and counts text by chars.

/// Returns a text, or if it has more than so many bytes, two ends of half of that, the later one first.
pub(crate) fn ends(text: &str, bytes: usize) -> Vec<&str> {
    if text.len() <= bytes {
        return vec![text];
    }
    let head = text.floor_char_boundary(bytes / 2);
    let tail = text.ceil_char_boundary(text.len() - bytes / 2);
    vec![text.get(tail..).unwrap_or(""), text.get(..head).unwrap_or("")]
}

/// Returns the first `chars` chars.
pub(crate) fn head(text: &str, chars: usize) -> &str {
    match text.char_indices().nth(chars) {
        Some((at, _)) => text.get(..at).unwrap_or(text),
        None => text,
    }
}

/// Returns the last `chars` chars.
pub(crate) fn tail(text: &str, chars: usize) -> &str {
    match chars.checked_sub(1).map(|last| text.char_indices().nth_back(last)) {
        None => "",
        Some(Some((at, _))) => text.get(at..).unwrap_or(text),
        Some(None) => text,
    }
}

/// Whether the text has more than `chars` chars.
pub(crate) fn longer_than(text: &str, chars: usize) -> bool {
    text.len() > chars && text.chars().nth(chars).is_some()
}

/// Returns the text, or if it is longer than `chars`, its head and `mark`, together `chars` chars.
pub(crate) fn cut_with(text: &str, chars: usize, mark: &str) -> String {
    if !longer_than(text, chars) {
        return text.to_owned();
    }
    let kept = chars.saturating_sub(mark.chars().count());
    format!("{}{mark}", head(text, kept))
}

/// Replaces every run of white space with one space, and removes it at the ends.
pub(crate) fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(1 << 16));
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Formats a number with commas between groups of three digits.
pub(crate) fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_count_chars() {
        assert_eq!(head("héllo", 2), "hé");
        assert_eq!(tail("héllo", 2), "lo");
        assert_eq!(tail("ab", 5), "ab");
        assert_eq!(tail("ab", 0), "");
        assert_eq!(cut_with("abcdef", 4, "…"), "abc…");
        assert_eq!(cut_with("éééé", 4, "…"), "éééé");
        assert_eq!(collapse("  a \n\t b  "), "a b");
        for (number, text) in [(0, "0"), (999, "999"), (1_474, "1,474"), (1_000_000, "1,000,000")] {
            assert_eq!(thousands(number), text);
        }
    }
}
