//! The relevant content of one message.

use std::sync::LazyLock;

use serde_json::Value as Json;

use crate::anchors;
use crate::failure::failure;
use crate::handoff;
use crate::hash::Fnv;
use crate::message::{Message, Role};
use crate::pattern::Pattern;
use crate::replaced;
use crate::text::ends;
use crate::work::{self, ValueKind, values};

/// Bytes of one text that are read; a longer one is read at both ends.
const TEXT_BYTES: usize = 16 << 10;
/// Bytes of outputs that are read, newest first; older outputs count nothing. It limits the time.
const OUTPUT_BYTES: usize = 1 << 20;
/// Bytes of other messages that are read, newest first.
const OTHER_BYTES: usize = 8 << 20;
/// The most bytes of arguments that are read.
const ARGUMENT_BYTES: usize = 16 << 10;

/// The wording of a correction by the user.
static CORRECTS: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(
        r"(?ix) ^\W*(?:no|nope|wrong|stop|wait|nein|falsch|halt|non|faux|mal|нет|стоп)\b
        | \b(?:that['’]?s|that\ is|this\ is|it['’]?s)\ (?:wrong|not\ (?:right|what|it))\b | \bnot\ what\ I\b | \bI\ meant\b | \bI\ said\b
        | \binstead\ of\b | \brather\ than\b | \bdon['’]t\b.{1,60}\b(?:use|do|touch|change|delete)\b | \bundo\b | \brevert\b | ^\W*actually\b
        | \b(?:das\ ist\ falsch|nicht\ so|stattdessen|pas\ ça|plutôt|en\ vez\ de)\b | 不对 | 错了 | 違う",
    )
});

/// An exact value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exact {
    pub(super) hash: u64,
    /// False for numbers and dates.
    pub(super) is_name: bool,
}

/// The content of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct MessageFacts {
    /// Values in its text, each once.
    pub(super) values: Vec<Exact>,
    /// Values in the arguments of its calls, each once.
    pub(super) given: Vec<Exact>,
    /// The subject of each of its calls: a hash of the first word in its arguments.
    pub(super) about: Vec<u64>,
    /// Whether it reports a failure.
    pub(super) failed: bool,
    pub(super) decides: bool,
    pub(super) corrects: bool,
}

/// Returns which messages are read: all but those too far from the end.
pub(super) fn read(messages: &[Message]) -> Vec<bool> {
    let (mut outputs, mut others) = (0, 0);
    let mut is_read: Vec<bool> = messages
        .iter()
        .rev()
        .map(|message| {
            let (bytes, most) =
                if message.is(Role::Tool) { (&mut outputs, OUTPUT_BYTES) } else { (&mut others, OTHER_BYTES) };
            *bytes += message.raw().len().min(TEXT_BYTES + ARGUMENT_BYTES);
            *bytes <= most
        })
        .collect();
    is_read.reverse();
    is_read
}

impl MessageFacts {
    pub(super) fn of(message: &Message, is_read: bool) -> Self {
        let mut said = Self::default();
        if !is_read || message.is(Role::System) || handoff::is_only_handoff(message) {
            return said;
        }
        let own = handoff::without_handoff(message);
        let message = own.as_ref().unwrap_or(message);
        let text = message.shown_text();
        for part in ends(&text, TEXT_BYTES) {
            said.values.extend(values(part).map(|value| exact(value.text, value.kind)));
        }
        once(&mut said.values);
        match message.role() {
            Role::Tool => said.failed = ends(&text, TEXT_BYTES).into_iter().any(|part| failure(part).is_some()),
            Role::Assistant => {
                said.decides = anchors::is_decision(&text);
                for call in message.tool_calls() {
                    let arguments = message.arguments(call);
                    let arguments = if arguments.len() <= ARGUMENT_BYTES {
                        serde_json::from_str(&arguments).unwrap_or(Json::Null)
                    } else {
                        Json::Null
                    };
                    said.about.push(first_word(&arguments).map_or(0, hash));
                    // Argument names don't count, only their values.
                    work::leaves(&arguments, &mut |leaf| {
                        said.given.extend(values(leaf).map(|value| exact(value.text, value.kind)));
                    });
                }
                once(&mut said.given);
            }
            Role::User => {
                said.decides = anchors::is_decision(&text);
                said.corrects = CORRECTS.is_match(&text) || replaced::announces_change(&text);
            }
            _ => {}
        }
        said
    }
}

/// Removes duplicate values; the order does not matter.
fn once(values: &mut Vec<Exact>) {
    values.sort_unstable_by_key(|value| value.hash);
    values.dedup_by_key(|value| value.hash);
}

fn exact(text: &str, kind: ValueKind) -> Exact {
    Exact { hash: hash(text), is_name: !matches!(kind, ValueKind::Number | ValueKind::Date) }
}

fn hash(text: &str) -> u64 {
    let mut hash = Fnv::default();
    hash.write(text.as_bytes());
    hash.finish()
}

/// Returns the first word of the first text in a call's arguments: a path, the name of a program.
fn first_word(arguments: &Json) -> Option<&str> {
    match arguments {
        Json::String(text) => text.split_whitespace().next(),
        Json::Array(items) => items.iter().find_map(first_word),
        Json::Object(fields) => fields.values().find_map(first_word),
        Json::Null | Json::Bool(_) | Json::Number(_) => None,
    }
}
