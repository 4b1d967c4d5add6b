//! Outputs that later ones supersede: the same was read again, the file was changed, or a failed call later
//! succeeded. Only references count; the agent alone knows whether an old output is still of use.

use hashbrown::HashMap;

use serde_json::Value;

use crate::failure::failure;
use crate::message::{Message, Role};
use crate::pairs;
use crate::text::ends;
use crate::tokens::tokens_of;

/// Tokens of the smallest output that is reported.
const LEAST: u64 = 100;
/// Bytes of the longest arguments that are parsed.
const ARGUMENT_BYTES: usize = 1 << 20;
/// Bytes at the ends of an output that are searched for a failure.
const TEXT_BYTES: usize = 16 << 10;
/// Words in the names of tools that only read.
const LOOKS: [&str; 13] =
    ["read", "view", "open", "cat", "get", "list", "ls", "search", "grep", "find", "glob", "fetch", "show"];
/// Words in the names of tools that change something.
const CHANGES: [&str; 12] =
    ["write", "edit", "patch", "create", "replace", "update", "insert", "delete", "remove", "move", "rename", "append"];
/// Arguments that name a file.
const PATHS: [&str; 5] = ["path", "file_path", "filename", "file", "target_file"];

/// An output that a later one supersedes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Superseded {
    /// Its position.
    pub index: usize,
    /// The position of the output that supersedes it.
    pub by: usize,
    /// Why it is superseded.
    pub since: Since,
    /// Its tokens, by estimate.
    pub tokens: u64,
}

/// Why an output is superseded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Since {
    /// The same call was made again.
    LookedAgain,
    /// The file was changed.
    Changed,
    /// The call had failed, and later succeeded.
    WentWell,
}

impl Since {
    /// Returns the name on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LookedAgain => "looked_again",
            Self::Changed => "changed",
            Self::WentWell => "went_well",
        }
    }
}

/// The later outputs, indexed by what they did.
#[derive(Default)]
struct Later {
    /// Reads, by tool and arguments.
    looks: HashMap<(String, String), usize>,
    /// Changes, by path.
    changes: HashMap<String, usize>,
    /// Calls that succeeded, by tool and subject.
    well: HashMap<(String, String), usize>,
}

/// Returns the superseded outputs, in the order of the list; small ones are left out.
#[must_use]
pub fn superseded(messages: &[Message]) -> Vec<Superseded> {
    let callers = pairs::callers(messages);
    let mut later = Later::default();
    let mut found = Vec::new();
    for (at, message) in messages.iter().enumerate().rev().filter(|(_, message)| message.is(Role::Tool)) {
        let Some(call) = Call::of(messages, callers.get(at).copied().flatten()) else { continue };
        let failed = ends(&message.text(), TEXT_BYTES).into_iter().any(|part| failure(part).is_some());
        let tokens = tokens_of(message);
        let since = later.since(&call, failed).filter(|_| tokens >= LEAST);
        found.extend(since.map(|(by, since)| Superseded { index: at, by, since, tokens }));
        if !failed {
            later.note(call, at);
        }
    }
    found.reverse();
    found
}

impl Later {
    fn since(&self, call: &Call, failed: bool) -> Option<(usize, Since)> {
        if failed {
            return self.well.get(&call.about()).map(|by| (*by, Since::WentWell));
        }
        if !call.has(&LOOKS) || call.has(&CHANGES) {
            return None;
        }
        let changed = call.path.as_ref().and_then(|path| self.changes.get(path)).map(|by| (*by, Since::Changed));
        let again = self.looks.get(&call.whole()).map(|by| (*by, Since::LookedAgain));
        // The newer of both counts.
        again.into_iter().chain(changed).max_by_key(|(by, _)| *by)
    }

    fn note(&mut self, call: Call, at: usize) {
        self.well.entry(call.about()).or_insert(at);
        if call.has(&CHANGES) {
            self.changes.extend(call.path.filter(|path| !self.changes.contains_key(path)).map(|path| (path, at)));
        } else if call.has(&LOOKS) {
            self.looks.entry(call.whole()).or_insert(at);
        }
    }
}

/// The parts of a call that count.
struct Call {
    tool: String,
    arguments: Value,
    path: Option<String>,
}

impl Call {
    fn of(messages: &[Message], place: Option<(usize, usize)>) -> Option<Self> {
        let (by, index) = place?;
        let message = messages.get(by)?;
        let call = message.tool_calls().get(index)?;
        let text = message.arguments(call);
        let arguments: Value =
            if text.len() <= ARGUMENT_BYTES { serde_json::from_str(&text).ok()? } else { return None };
        let path = PATHS.iter().find_map(|name| arguments.get(name)?.as_str()).map(str::to_owned);
        Some(Self { tool: call.name.clone()?, arguments, path })
    }

    /// Whether its tool's name has one of these words.
    fn has(&self, words: &[&str]) -> bool {
        let parts = self.tool.split(|char: char| !char.is_alphanumeric());
        parts.flat_map(camel).any(|part| words.contains(&part.to_ascii_lowercase().as_str()))
    }

    /// Returns the tool with all its arguments.
    fn whole(&self) -> (String, String) {
        (self.tool.clone(), self.arguments.to_string())
    }

    /// Returns the tool with its path, or else the first text of its arguments.
    fn about(&self) -> (String, String) {
        (self.tool.clone(), self.path.clone().or_else(|| first_text(&self.arguments)).unwrap_or_default())
    }
}

/// Returns the words of a name like `ReadFile`.
fn camel(name: &str) -> Vec<&str> {
    let starts = name.char_indices().skip(1).filter(|(_, char)| char.is_ascii_uppercase()).map(|(at, _)| at);
    let ends: Vec<usize> = starts.chain([name.len()]).collect();
    let mut from = 0;
    ends.into_iter().filter_map(|end| name.get(std::mem::replace(&mut from, end)..end)).collect()
}

fn first_text(arguments: &Value) -> Option<String> {
    match arguments {
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => items.iter().find_map(first_text),
        Value::Object(fields) => fields.values().find_map(first_text),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{call_of, result, say};

    const LONG: &str = "one line and another line of some text\n";

    /// Builds calls with their results: tool, arguments, beginning of the result.
    fn list(calls: &[(&str, &str, &str)]) -> Vec<Message> {
        let mut all = vec![say("user", "go on")];
        for (at, (tool, arguments, said)) in calls.iter().enumerate() {
            let id = at.to_string();
            all.extend([call_of(&id, tool, arguments), result(&id, &format!("{said}\n{}", LONG.repeat(30)))]);
        }
        all
    }

    /// Returns the superseded calls: which call, by which one, and why.
    fn found(calls: &[(&str, &str, &str)]) -> Vec<(usize, usize, Since)> {
        superseded(&list(calls)).iter().map(|old| (old.index / 2 - 1, old.by / 2 - 1, old.since)).collect()
    }

    const A: &str = r#"{"path": "a.py"}"#;
    const B: &str = r#"{"path": "b.py"}"#;

    #[test]
    fn a_read_is_old_once_the_same_was_read_again_or_its_file_was_changed() {
        use Since::{Changed, LookedAgain};
        for (calls, expected) in [
            (vec![("read_file", A, "x"), ("read_file", B, "x"), ("read_file", A, "y")], vec![(0, 2, LookedAgain)]),
            (vec![("read_file", A, "x"), ("write_file", A, "ok"), ("read_file", B, "y")], vec![(0, 1, Changed)]),
            (
                vec![("Read", r#"{"file_path": "a"}"#, "x"), ("MultiEdit", r#"{"file_path": "a"}"#, "ok")],
                vec![(0, 1, Changed)],
            ),
            // Another part of the file is not the same read.
            (vec![("read_file", r#"{"path": "a.py", "offset": 1}"#, "x"), ("read_file", A, "y")], vec![]),
            // A tool that acts may run twice, and a failed change changes nothing.
            (vec![("terminal", r#"{"command": "make"}"#, "x"), ("terminal", r#"{"command": "make"}"#, "y")], vec![]),
            (vec![("read_file", A, "x"), ("patch", A, "Error: no such line")], vec![]),
            (
                vec![("read_file", A, "x"), ("read_file", A, "y"), ("patch", A, "ok"), ("read_file", A, "z")],
                vec![(0, 3, LookedAgain), (1, 3, LookedAgain)],
            ),
        ] {
            assert_eq!(found(&calls), expected, "{calls:?}");
        }
    }

    #[test]
    fn an_error_is_old_once_the_same_went_well() {
        let make = r#"{"command": "make"}"#;
        let failed = "Error: exit code 2\nTraceback (most recent call last)";
        assert_eq!(found(&[("terminal", make, failed), ("terminal", make, "built")]), [(0, 1, Since::WentWell)]);
        assert_eq!(found(&[("terminal", make, failed), ("terminal", r#"{"command": "ls"}"#, "built")]), []);
        assert_eq!(found(&[("terminal", make, "built"), ("terminal", make, failed)]), []);
    }

    #[test]
    fn small_outputs_and_those_without_a_call_are_left_out() {
        let all = vec![call_of("1", "read_file", A), result("1", "x"), call_of("2", "read_file", A), result("2", "x")];
        assert_eq!(superseded(&all), []);
        assert_eq!(superseded(&[result("1", &LONG.repeat(50)), result("1", &LONG.repeat(50))]), []);
    }
}
