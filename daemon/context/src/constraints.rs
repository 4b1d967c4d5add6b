//! Rules of the user that every handoff quotes word for word.
//!
//! A rule is a sentence of a user message, or was added by hand. It stays until the user revokes it or a
//! person removes it. A rule for one task ends with that task.

mod find;
mod render;
mod task;
mod words;

use std::fmt;

pub use find::{Found, find};
pub(crate) use render::parse;
pub use render::{Rendered, render};
pub(crate) use words::revokes;

use crate::handoff;
use crate::message::{Message, Role};

/// Hex digits in the id of a constraint.
const ID_DIGITS: usize = 12;

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// `c_` and twelve hex digits of a hash of the text without case, punctuation and white space.
    pub id: String,
    /// The words of the user.
    pub text: String,
    /// How long it applies.
    pub scope: Scope,
    /// Where it comes from.
    pub source: Source,
    /// When it became known, in Unix seconds.
    pub at: f64,
    /// Whether it applies.
    pub state: State,
}

impl Constraint {
    /// Returns a rule that applies from now on.
    pub fn new(text: &str, scope: Scope, source: Source, at: f64) -> Self {
        let text = text.trim().to_owned();
        Self { id: id(&text), text, scope, source, at, state: State::Active }
    }
}

/// How long a rule applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Until it is revoked.
    #[default]
    Standing,
    /// For the task in which it was given.
    Once,
}

/// Where a rule comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A person added it.
    Explicit,
    /// It was found in a message of the user.
    Found,
}

/// Whether a rule applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// It applies.
    #[default]
    Active,
    /// A person removed it; it is never found again.
    Removed,
    /// The user revoked it.
    Revoked,
    /// Its task is over.
    Done,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Standing => "standing",
            Self::Once => "once",
        })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Explicit => "explicit",
            Self::Found => "found",
        })
    }
}

/// The rules after some messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Update {
    /// All rules, also those that no longer apply, oldest first.
    pub constraints: Vec<Constraint>,
    /// Whether they differ from those known before.
    pub changed: bool,
}

/// Reads the user messages in order: finds rules, revokes them, and ends those of a finished task. A rule
/// that a person removed stays removed. A revoked rule applies again only if the user repeats it after the
/// newest handoff, because an earlier run read the messages before that.
pub fn update(known: &[Constraint], messages: &[Message], now: f64) -> Update {
    let seen = messages.iter().rposition(handoff::is_handoff);
    let mut rules = Rules { list: known.to_vec(), now };
    for (at, message) in messages.iter().enumerate() {
        if !message.is(Role::User) {
            continue;
        }
        let text = message.text();
        let rest = if handoff::is_handoff(message) {
            handoff::split(&text).map(|parts| parts.rest).unwrap_or_default().into()
        } else {
            text
        };
        let age = if seen.is_some_and(|handoff| at < handoff) { Age::Known } else { Age::New };
        rules.read(&rest, age);
    }
    let changed = rules.list != known;
    Update { constraints: rules.list, changed }
}

/// Whether a message was there at an earlier run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Age {
    Known,
    New,
}

struct Rules {
    list: Vec<Constraint>,
    now: f64,
}

impl Rules {
    fn read(&mut self, text: &str, age: Age) {
        if age == Age::New && self.list.iter().any(|rule| rule.scope == Scope::Once) && task::begins(text) {
            self.end_task();
        }
        for sentence in find::usable(text) {
            if revokes(sentence) {
                self.revoke(sentence, age);
            } else if let Some(found) = find::rule(sentence) {
                self.add(&found, age);
            }
        }
    }

    fn add(&mut self, found: &Found, age: Age) {
        let id = id(&found.text);
        let Some(rule) = self.list.iter_mut().find(|rule| rule.id == id) else {
            self.list.push(Constraint::new(&found.text, found.scope, Source::Found, self.now));
            return;
        };
        if age == Age::New && matches!(rule.state, State::Revoked | State::Done) {
            rule.state = State::Active;
        }
    }

    /// Revokes the one rule that shares the most words with the sentence, if it shares enough.
    fn revoke(&mut self, sentence: &str, age: Age) {
        let said = words::Revocation::of(sentence);
        let best = self
            .list
            .iter_mut()
            .filter(|rule| rule.state == State::Active && (age == Age::New || rule.source == Source::Found))
            .filter_map(|rule| Some((said.meant(&rule.text)?, rule)))
            .max_by_key(|(shared, _)| *shared);
        if let Some((_, rule)) = best {
            rule.state = State::Revoked;
        }
    }

    fn end_task(&mut self) {
        for rule in &mut self.list {
            if rule.scope == Scope::Once && rule.state == State::Active {
                rule.state = State::Done;
            }
        }
    }
}

/// Returns the id of a text. Texts that differ only in case, punctuation and white space have the same id.
pub fn id(text: &str) -> String {
    let mut hash = crate::hash::Fnv::default();
    let mut gap = false;
    for c in text.chars() {
        if c.is_alphanumeric() {
            if std::mem::take(&mut gap) {
                hash.write(b" ");
            }
            for lower in c.to_lowercase() {
                hash.write(lower.encode_utf8(&mut [0; 4]).as_bytes());
            }
        } else {
            gap = true;
        }
    }
    let digits = format!("{:016x}", hash.finish());
    format!("c_{}", digits.get(..ID_DIGITS).unwrap_or(&digits))
}

#[cfg(test)]
mod tests;
