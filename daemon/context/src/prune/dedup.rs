//! Tool outputs that a later call returned again, word for word.

use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;

use rayon::prelude::*;

use crate::json;
use crate::message::{Content, Message, Role};
use crate::parallel::FEW_MESSAGES;

/// The replacement for an output that a later call returned again.
pub const DUPLICATE: &str = "[Duplicate tool output — same content as a more recent call]";
/// Outputs with fewer chars than this are not compared.
const MIN_CHARS: usize = 200;

/// Chars at the beginning that distinguish outputs of one length before they are compared.
const GLANCE_CHARS: usize = 64;

/// Returns for every message whether a later tool result has the same text.
pub(super) fn duplicates(messages: &[Message]) -> Vec<bool> {
    let glances: Vec<Option<(usize, String)>> = messages.par_iter().with_min_len(FEW_MESSAGES).map(glance).collect();
    let mut twins: HashMap<&(usize, String), usize> = HashMap::new();
    for glance in glances.iter().flatten() {
        *twins.entry(glance).or_default() += 1;
    }
    let mut seen: HashSet<Cow<'_, str>> = HashSet::new();
    let mut out = vec![false; messages.len()];
    for (at, message) in messages.iter().enumerate().rev() {
        let twin = glances[at].as_ref().and_then(|glance| twins.get(glance));
        if twin.is_some_and(|&count| count > 1) {
            out[at] = !seen.insert(message.text());
        }
    }
    out
}

/// Returns the length and the beginning of a tool result's string content, if it is long enough.
fn glance(message: &Message) -> Option<(usize, String)> {
    let Content::Text(span) = message.content() else {
        return None;
    };
    if !message.is(Role::Tool) || span.end - span.start < MIN_CHARS + 2 {
        return None;
    }
    let chars = message.content_length()?.decoded;
    (chars >= MIN_CHARS).then(|| (chars, json::decode_head(message.slice(*span), GLANCE_CHARS)))
}
