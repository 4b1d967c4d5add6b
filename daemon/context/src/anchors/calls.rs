//! Anchors from the arguments of calls: commands with the exit codes of their results, paths and addresses.

use hashbrown::HashMap;
use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::rank::{self, Anchor};
use super::{Kind, snippet};
use crate::message::Message;
use crate::pairs;
use crate::text::longer_than;

/// The score of a command.
const COMMAND: f64 = 0.95;
/// The factor on the score of a failed command.
const FAILED: f64 = 1.1;
/// The score of a path in the arguments of a call.
const PATH: f64 = 0.5;
/// The score of an address in the arguments of a call.
const URL: f64 = 0.9;
/// The most chars of a command; longer ones are scripts.
const MAX_COMMAND_CHARS: usize = 300;
/// The most chars of a path or an address.
const MAX_PLACE_CHARS: usize = 260;
/// The most bytes of arguments that are parsed; in longer ones the named fields don't matter.
const MAX_ARGUMENTS_BYTES: usize = 4_096;
/// The words between a command and its exit code.
const EXIT_WORDS: &str = " -> exit ";
/// Bytes at each end of a result that are searched for an exit code.
const EXIT_BYTES: usize = 240;

/// The arguments that name something exact; all others are ignored.
#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow, default, alias = "cmd", alias = "script")]
    command: Option<Text<'a>>,
    #[serde(borrow, default, alias = "file_path", alias = "filename", alias = "file")]
    path: Option<Text<'a>>,
    #[serde(borrow, default)]
    workdir: Option<Text<'a>>,
    #[serde(borrow, default)]
    url: Option<Text<'a>>,
}

/// A string, or another value, which is ignored.
#[derive(Deserialize)]
#[serde(untagged)]
enum Text<'a> {
    #[serde(borrow)]
    Plain(Cow<'a, str>),
    Other(serde::de::IgnoredAny),
}

impl Text<'_> {
    fn plain(field: Option<Self>) -> Option<String> {
        match field? {
            Text::Plain(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Text::Other(_) => None,
        }
    }
}

/// Names of the fields that [`Named`] has.
const NAMES: [&str; 9] = ["command", "cmd", "script", "path", "file_path", "filename", "file", "workdir", "url"];

/// Whether this module reads the named arguments of a call.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    Read,
    Unread,
}

impl Names {
    /// Whether this module reads the field.
    pub(super) fn covers(self, name: &str, value: &Value) -> bool {
        let short = value.as_str().is_some_and(|text| !longer_than(text.trim(), MAX_PLACE_CHARS));
        self == Self::Read && short && NAMES.contains(&name)
    }
}

/// Returns whether this module reads the named arguments of such arguments.
pub(super) fn is_read(arguments: &str) -> Names {
    if arguments.len() <= MAX_ARGUMENTS_BYTES && serde_json::from_str::<Named<'_>>(arguments).is_ok() {
        Names::Read
    } else {
        Names::Unread
    }
}

/// Returns the command of an anchor with an exit code.
pub(super) fn ended(text: &str) -> Option<&str> {
    text.rsplit_once(EXIT_WORDS).map(|(command, _)| command)
}

struct CommandRun {
    at: usize,
    text: String,
    exit: Option<String>,
}

/// Returns the anchors of all calls in `turns`.
pub(super) fn anchors(turns: &[&Message]) -> Vec<Anchor> {
    let results = results(turns);
    let mut ran: Vec<CommandRun> = Vec::new();
    let mut places: Vec<Anchor> = Vec::new();
    for (at, turn) in turns.iter().enumerate().rev() {
        for (index, call) in turn.tool_calls().iter().enumerate() {
            let arguments = turn.arguments(call);
            if arguments.len() > MAX_ARGUMENTS_BYTES {
                continue;
            }
            let Ok(named) = serde_json::from_str::<Named<'_>>(&arguments) else { continue };
            let recency = rank::recency(at, turns.len());
            if let Some(text) = Text::plain(named.command).filter(|text| !longer_than(text, MAX_COMMAND_CHARS)) {
                let result = results.get(&(at, index)).and_then(|&at| turns.get(at));
                ran.push(CommandRun { at, text, exit: result.and_then(|result| exit_code(result.raw())) });
            }
            let mut place = |kind, text: Option<String>, worth: f64| {
                if let Some(text) = text.filter(|text| !longer_than(text, MAX_PLACE_CHARS) && !text.contains('\n')) {
                    places.push(Anchor { kind, text, score: worth * recency });
                }
            };
            place(Kind::Path, Text::plain(named.path), PATH);
            place(Kind::Path, Text::plain(named.workdir), PATH);
            place(Kind::Url, Text::plain(named.url), URL);
        }
    }
    let mut heads: HashMap<String, u32> = HashMap::new();
    for command in &ran {
        *heads.entry(head(&command.text)).or_default() += 1;
    }
    let commands = ran.into_iter().map(|command| {
        let rarity = rank::rarity(heads.get(&head(&command.text)).copied().unwrap_or(1));
        let failed = command.exit.as_deref().is_some_and(|code| code != "0");
        let score = COMMAND * rarity * rank::recency(command.at, turns.len()) * if failed { FAILED } else { 1.0 };
        let line = command.text.replace('\n', "; ");
        let text = match command.exit {
            Some(code) => format!("{}{EXIT_WORDS}{code}", line.trim()),
            None => snippet::unescaped(line.trim()).into_owned(),
        };
        Anchor { kind: Kind::Command, text, score }
    });
    places.extend(commands);
    places
}

/// Returns the first two words of a command, which identify the program.
fn head(command: &str) -> String {
    let words: Vec<&str> = command.split_whitespace().take(2).collect();
    words.join(" ")
}

/// Returns for each call the position of its result.
fn results(turns: &[&Message]) -> HashMap<(usize, usize), usize> {
    let callers = pairs::callers(turns.iter().copied());
    callers.into_iter().enumerate().filter_map(|(at, caller)| Some((caller?, at))).collect()
}

/// Returns the exit code that a result contains near one of its ends.
fn exit_code(text: &str) -> Option<String> {
    let tail = text.get(text.ceil_char_boundary(text.len().saturating_sub(EXIT_BYTES))..)?;
    let head = text.get(..text.floor_char_boundary(EXIT_BYTES))?;
    [tail, head].into_iter().find_map(|end| {
        let bytes = end.as_bytes();
        if memchr::memmem::find(bytes, b"xit").is_none() && memchr::memmem::find(bytes, b"code").is_none() {
            return None;
        }
        let lower = end.to_ascii_lowercase();
        ["exit_code", "exit code", "exit status", "exitcode", "returncode"].iter().find_map(|name| {
            let from = lower.find(name)? + name.len();
            let rest = lower.get(from..)?.trim_start_matches([' ', ':', '=', '"', '\\']);
            let digits: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '-').take(6).collect();
            Some(digits).filter(|digits| !digits.is_empty())
        })
    })
}
