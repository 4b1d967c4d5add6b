//! Marking the quotations that the user did not say.

use super::quotes::{MARK, quotes};
use super::user_words::UserWords;

/// Quotations that are looked up; those beyond count as unverified. Each takes a search through all
/// that the user said, so without a limit many of them would take more than linear time.
const MOST_LOOKED_UP: usize = 500;
/// A text with the marks that it needs.
pub(super) struct Marked {
    pub(super) text: String,
    /// What is marked, in order.
    pub(super) unverified: Vec<String>,
}

/// Marks the quotations of the user that do not occur in the user's words.
pub(super) fn marked(text: &str, said: &UserWords) -> Marked {
    let mut marked = Marked { text: String::with_capacity(text.len()), unverified: Vec::new() };
    let mut copied = 0;
    for (number, quote) in quotes(text).iter().enumerate() {
        let words = text.get(quote.words.clone()).unwrap_or("");
        let is_known = !quote.is_marked && number < MOST_LOOKED_UP && said.has(words);
        if is_known {
            continue;
        }
        marked.unverified.push(words.to_owned());
        if !quote.is_marked {
            marked.text.push_str(text.get(copied..quote.end).unwrap_or(""));
            marked.text.push_str(MARK);
            copied = quote.end;
        }
    }
    marked.text.push_str(text.get(copied..).unwrap_or(""));
    marked
}
