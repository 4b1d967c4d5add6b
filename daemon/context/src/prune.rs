//! Pruning without a model: duplicates, tool outputs as one line, shorter arguments, no images.

mod arguments;
mod dedup;
mod kept;
mod line;
mod output;

use rayon::prelude::*;
use serde_json::Value;

use crate::images::without_images;
use crate::json;
use crate::message::{Content, Message, ObjectContent, Role};
use crate::pairs;
use crate::parallel::FEW_MESSAGES;
use crate::settings::Host;
use crate::text::head;
use crate::tokens::message_tokens;

pub(crate) use arguments::shorter_calls;
pub use arguments::shrink as shrink_arguments;
pub use dedup::DUPLICATE;
pub(crate) use kept::{kept, stub};
pub use line::one_line;
pub use output::{Lengths, Output};

/// The text that replaces an image in a tool result.
pub const SCREENSHOT: &str = "[screenshot removed to save context]";
/// Tool outputs of up to this many chars stay, and so do the notes that pruning inserts.
const SHORT_OUTPUT_CHARS: usize = 200;
/// Chars of a multimodal result's summary that stay.
const MULTIMODAL_CHARS: usize = 200;
/// Arguments of up to this many chars stay.
pub(crate) const SHORT_ARGUMENTS_CHARS: usize = 500;

/// A pruned list, as long as the input. Unchanged messages are shared, not copied.
#[derive(Clone, Debug)]
pub struct Pruned {
    /// The messages, one for each of the input.
    pub messages: Vec<Message>,
    /// How many tool results were replaced; shorter arguments do not count.
    pub count: usize,
}

impl Pruned {
    /// Restores each message of which the host keeps the original.
    pub(crate) fn restored(mut self, messages: &[Message], host: Host) -> Self {
        if host.takes_every_form() {
            return self;
        }
        for (pruned, original) in self.messages.iter_mut().zip(messages) {
            if !host.takes_short(original) && !pruned.same(original) {
                self.count = self.count.saturating_sub(usize::from(original.is(Role::Tool)));
                pruned.clone_from(original);
            }
        }
        self
    }
}

/// Prunes everything before the protected tail, and removes duplicates everywhere.
///
/// At least `floor_count` messages at the end are protected. A budget of tokens (0: none) may protect more.
pub fn prune(messages: &[Message], floor_count: usize, token_budget: Option<u64>) -> Pruned {
    let boundary = messages.len() - protected(messages, floor_count, token_budget);
    let (duplicates, callers) = rayon::join(|| dedup::duplicates(messages), || pairs::callers(messages));
    let pruned = |(at, message): (usize, &Message)| {
        let shorter = if duplicates[at] {
            Some(message.with_content(&json::encode(DUPLICATE), &[]))
        } else if at < boundary && message.is(Role::Tool) {
            shorter_result(message, callers[at].map(|(at, index)| (&messages[at], index)))
        } else {
            None
        };
        let is_shorter = shorter.is_some();
        let calls_cut = if at < boundary && message.is(Role::Assistant) {
            shorter_calls(message, SHORT_ARGUMENTS_CHARS)
        } else {
            None
        };
        (shorter.or(calls_cut).unwrap_or_else(|| message.clone()), is_shorter)
    };
    let all = messages.par_iter().enumerate().with_min_len(FEW_MESSAGES).map(pruned);
    let (messages, is_shorter): (Vec<Message>, Vec<bool>) = all.unzip();
    Pruned { messages, count: is_shorter.into_iter().filter(|shorter| *shorter).count() }
}

/// Returns how many messages at the end are protected.
fn protected(messages: &[Message], floor_count: usize, token_budget: Option<u64>) -> usize {
    let n = messages.len();
    let floor = floor_count.min(n);
    let Some(budget) = token_budget.filter(|&budget| budget > 0) else {
        return floor;
    };
    let mut sum = 0_u64;
    for (at, message) in messages.iter().enumerate().rev() {
        sum += message_tokens(message);
        if sum > budget && n - at >= floor {
            return (n - at).max(floor);
        }
    }
    n
}

/// Returns the shorter form of a tool result. `call` is the message and index of its call, if known.
pub(crate) fn shorter_result(message: &Message, call: Option<(&Message, usize)>) -> Option<Message> {
    match message.content() {
        Content::List(_) => without_images(message, SCREENSHOT),
        Content::Object(object) if object.multimodal => {
            let text = multimodal_note(object, message);
            Some(message.with_content(&json::encode(&text), &[]))
        }
        Content::Text(span) => {
            let token = message.slice(*span);
            let lengths = message.content_length()?;
            if lengths.decoded <= SHORT_OUTPUT_CHARS {
                return None;
            }
            let tool = call.and_then(|(message, index)| message.tool_calls().get(index)?.name.as_deref());
            if let Some(line) = kept::line_before(token, tool) {
                return Some(message.with_content(&json::encode(&line), &[]));
            }
            let line = line_of(Output::Token(token, Lengths(lengths)), call);
            Some(message.with_content(&json::encode(&line), &[]))
        }
        _ => None,
    }
}

fn multimodal_note(object: &ObjectContent, message: &Message) -> String {
    let summary = object.text_summary.map_or("".into(), |span| json::text_form(message.slice(span)));
    if summary.trim().is_empty() {
        SCREENSHOT.to_owned()
    } else {
        format!("[screenshot removed] {}", head(&summary, MULTIMODAL_CHARS))
    }
}

/// Returns the one line for a tool output whose call may be known.
pub(crate) fn line_of(output: Output<'_>, call: Option<(&Message, usize)>) -> String {
    let found = call.and_then(|(message, index)| Some((message, message.tool_calls().get(index)?)));
    let Some((message, call)) = found else {
        return one_line("unknown", &Value::Null, output);
    };
    let arguments = serde_json::from_str(&message.arguments(call)).unwrap_or(Value::Null);
    one_line(call.name.as_deref().unwrap_or("unknown"), &arguments, output)
}

#[cfg(test)]
mod tests;
