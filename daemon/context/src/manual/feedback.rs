//! The text about a compression.

use serde_json::Value;

use crate::Message;

/// Why fewer messages can have more tokens.
const DENSER: &str = "There are fewer messages but more tokens by this estimate: a summary is denser text than the turns that it replaced, and an estimate counts that more strictly. The next reply of the model brings the real figure.";

/// Digits of a group.
const GROUP: usize = 3;

/// The report for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feedback {
    /// Whether both lists have the same content.
    pub noop: bool,
    /// The change of the message count.
    pub headline: String,
    /// The change of the request's size.
    pub token_line: String,
    /// An explanation if fewer messages have more tokens by the estimate.
    pub note: Option<String>,
}

/// Returns the report about a list before and after.
pub fn feedback(before: &[Message], after: &[Message], tokens_before: u64, tokens_after: u64) -> Feedback {
    let noop = before.len() == after.len() && before.iter().zip(after).all(|(one, other)| says_the_same(one, other));
    let headline = if noop {
        format!("No changes from compression: {} messages", before.len())
    } else {
        format!("Compressed: {} → {} messages", before.len(), after.len())
    };
    let token_line = if noop && tokens_before == tokens_after {
        format!("Approx request size: ~{} tokens (unchanged)", grouped(tokens_before))
    } else {
        format!("Approx request size: ~{} → ~{} tokens", grouped(tokens_before), grouped(tokens_after))
    };
    let is_denser = !noop && after.len() < before.len() && tokens_after > tokens_before;
    Feedback { noop, headline, token_line, note: is_denser.then(|| DENSER.to_owned()) }
}

/// Whether two messages are the same JSON value.
fn says_the_same(one: &Message, other: &Message) -> bool {
    let value = |message: &Message| serde_json::from_str::<Value>(message.raw()).ok();
    one.raw() == other.raw() || value(one).is_some_and(|one| Some(one) == value(other))
}

/// Formats a number with grouped thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 2);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(GROUP) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
