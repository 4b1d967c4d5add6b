//! Marks the quotations that the user did not say.

use super::quotes::{MARK, quotes};
use super::user_words::UserWords;

/// The most quotations that are looked up; further ones count as unverified. Each lookup searches all of the
/// user's words, so without a limit the time would not be linear.
const MOST_LOOKED_UP: usize = 500;
/// A text with its marks.
pub(super) struct Marked {
    pub(super) text: String,
    /// The marked quotations, in order.
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
