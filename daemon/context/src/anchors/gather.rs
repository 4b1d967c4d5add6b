//! Walks the turns, newest first, and collects anchors.

use hashbrown::{HashMap, HashSet};
use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;
use serde_json::Value;

use super::measure::{Prose, kind_of};
use super::rank::{self, Anchor};
use super::shape::{self, Counts};
use super::snippet::{excerpt, unescaped};
use super::{Kind, calls};
use crate::json;
use crate::message::{Content, Message, Role};
use crate::parallel::{FEW_LINES, MANY_MESSAGES};
use crate::redaction::Redaction;
use crate::sentences::sentences;

/// The score of a match in the model's words, and of one in the user's words, which are quoted elsewhere too.
const SAID: f64 = 1.0;
/// See [`SAID`].
const ASKED: f64 = 0.8;
/// The score of a match in an output.
const PRINTED: f64 = 0.85;
/// The score of a match in the arguments of a call.
const GIVEN: f64 = 0.75;
/// Chars of outputs and arguments that are read line by line, newest first. It limits the time: of older
/// outputs in a longer conversation only the beginning is read.
const SCAN_CHARS: usize = 4 << 20;
/// Bytes of one text that are read.
const TEXT_BYTES: usize = 128 << 10;
/// Chars of an output that are read if it is too old to be read whole.
const OLD_CHARS: usize = 600;
/// The most lines of one shape that are examined, the newest ones.
const KEPT_OF_SHAPE: u32 = 10;
/// A shape with more lines than this is noise.
const MAX_OF_SHAPE: u32 = 60;
/// The most lines that are examined.
const MAX_LINES: usize = 16_000;
/// Bytes of the shortest line that is examined.
const MIN_LINE: usize = 6;
/// Bytes above which a line of JSON is split at its fields.
const LONG_LINE: usize = 240;
/// The most anchors that are masked; far more than any budget holds.
const MAX_ANCHORS: usize = 1_200;
/// The factor on the score of an anchor that comes only from the list of a part.
const LISTED: f64 = 0.8;
/// The most anchors if those of earlier lists are added.
const MAX_LISTED: usize = 4 * MAX_ANCHORS;

/// Returns the anchors of the turns and those of an earlier handoff, best first, masked.
pub fn gather(turns: &[&Message], carried: &[(Kind, &str)], redaction: Redaction) -> Vec<Anchor> {
    let read = || {
        let parts = Part::newest_first(turns);
        let read: Vec<Gatherer> = parts.par_iter().map(|part| part.read(turns)).collect();
        let mut gathered = Gatherer::default();
        read.into_iter().for_each(|older| gathered.append(older));
        gathered.finish()
    };
    let (mut found, called) = rayon::join(read, || calls::anchors(turns));
    found.extend(called);
    found.extend(rank::carried(carried));
    let ended: HashSet<String> =
        found.iter().filter_map(|anchor| calls::ended(&anchor.text)).map(str::to_owned).collect();
    found.retain(|anchor| !ended.contains(&anchor.text));
    let mut ranked = rank::ranked(found);
    ranked.truncate(MAX_ANCHORS);
    for anchor in &mut ranked {
        if let Cow::Owned(masked) = redaction.apply(&anchor.text) {
            anchor.text = masked;
        }
    }
    ranked
}

/// Adds the anchors of earlier lists, and sorts all, best first. Each list has the form of [`super::render`].
pub(crate) fn with_lists<'a>(mut anchors: Vec<Anchor>, lists: impl Iterator<Item = &'a str>) -> Vec<Anchor> {
    let mut known: HashSet<String> = anchors.iter().map(|anchor| anchor.text.clone()).collect();
    let mut listed: Vec<(u64, Anchor)> = Vec::new();
    for list in lists {
        let of_list = rank::carried(&super::parse(list)).into_iter();
        let new = of_list.filter(|anchor| known.insert(anchor.text.clone()));
        listed.extend(new.map(|anchor| (shape::shape(&anchor.text), anchor)));
    }
    // A shape that is rare in one part may be common in all of them. Then its score is as low as in one list
    // of all.
    let mut shapes = Counts::default();
    listed.iter().for_each(|(shape, _)| *shapes.entry(*shape).or_default() += 1);
    anchors.extend(listed.into_iter().map(|(shape, anchor)| {
        let count = shapes.get(&shape).copied().unwrap_or(1);
        Anchor { score: LISTED * anchor.score * rank::rarity(count), ..anchor }
    }));
    anchors.sort_by(|one, other| other.score.total_cmp(&one.score));
    anchors.truncate(MAX_LISTED);
    anchors
}

/// A line of an output that may be examined.
struct Line {
    text: String,
    form: Form,
    shape: u64,
    worth: f64,
}

/// A match in a sentence.
struct SentenceMatch {
    anchor: Anchor,
    shape: u64,
}

/// Successive turns that form one unit of parallel work.
struct Part {
    turns: Range<usize>,
    /// Whether their outputs and arguments are read whole.
    is_read: bool,
}

impl Part {
    /// Splits the turns into parts, the newest first. Turns with up to [`SCAN_CHARS`] in total are read
    /// whole.
    fn newest_first(turns: &[&Message]) -> Vec<Self> {
        let mut parts: Vec<Self> = Vec::new();
        let mut seen = 0;
        for (at, turn) in turns.iter().enumerate().rev() {
            let is_read = seen < SCAN_CHARS;
            seen += scanned_chars(turn);
            match parts.last_mut() {
                Some(part) if part.turns.len() < MANY_MESSAGES && part.is_read == is_read => part.turns.start = at,
                _ => parts.push(Self { turns: at..at + 1, is_read }),
            }
        }
        parts
    }

    fn read(&self, turns: &[&Message]) -> Gatherer {
        let mut gatherer = Gatherer { is_read: self.is_read, ..Gatherer::default() };
        for at in self.turns.clone().rev() {
            gatherer.turn(turns[at], rank::recency(at, turns.len()));
        }
        gatherer
    }
}

/// Returns the chars of a turn that are read line by line if outputs are read whole: of its output and of its
/// calls' arguments. They are counted without decoding; in most outputs a char is a byte.
fn scanned_chars(turn: &Message) -> usize {
    let output = match turn.content() {
        _ if !turn.is(Role::Tool) => 0,
        Content::Text(_) => turn.content_length().map_or(0, |length| length.decoded),
        // Images have no lines.
        _ => turn.text().len(),
    };
    let given = turn.tool_calls().iter().filter_map(|call| call.arguments).map(|span| match turn.slice(span) {
        token if json::is_string(token) => json::StringLength::of(token).decoded,
        object => object.len(),
    });
    std::iter::once(output).chain(given).map(|chars| chars.min(TEXT_BYTES)).sum()
}

#[derive(Default)]
struct Gatherer {
    is_read: bool,
    shapes: Counts,
    lines: Vec<Line>,
    sentence_matches: Vec<SentenceMatch>,
}

impl Gatherer {
    fn turn(&mut self, turn: &Message, recency: f64) {
        match turn.role() {
            Role::Tool if self.is_read => self.output(&turn.shown_text(), PRINTED * recency),
            Role::Tool => self.old_output(turn, PRINTED * recency),
            Role::User => self.prose(&turn.shown_text(), ASKED * recency),
            _ => self.prose(&turn.shown_text(), SAID * recency),
        }
        let calls = if self.is_read { turn.tool_calls() } else { &[] };
        for call in calls {
            self.arguments(&turn.arguments(call), GIVEN * recency);
        }
    }

    /// Adds the matches of older turns.
    fn append(&mut self, older: Self) {
        let mut of_older = Counts::default();
        for line in older.lines {
            let before = self.shapes.get(&line.shape).copied().unwrap_or(0);
            let count = of_older.entry(line.shape).or_default();
            *count += 1;
            if before + *count <= KEPT_OF_SHAPE && self.lines.len() < MAX_LINES {
                self.lines.push(line);
            }
        }
        for (shape, count) in older.shapes {
            *self.shapes.entry(shape).or_default() += count;
        }
        self.sentence_matches.extend(older.sentence_matches);
    }

    /// Reads the strings among the values of a call; the JSON around them does not count.
    fn arguments(&mut self, text: &str, worth: f64) {
        if let Ok(value) = serde_json::from_str::<Value>(text) {
            self.value(&value, worth, calls::is_read(text));
        }
    }

    /// Reads a value of a call, except the fields that were read with the call.
    fn value(&mut self, value: &Value, worth: f64, named: calls::Names) {
        match value {
            Value::String(text) => {
                let text = text.get(..text.floor_char_boundary(TEXT_BYTES)).unwrap_or(text);
                self.lines(text, Form::Plain, worth);
            }
            Value::Array(all) => all.iter().for_each(|value| self.value(value, worth, calls::Names::Unread)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    if !named.covers(name, value) {
                        self.value(value, worth, calls::Names::Unread);
                    }
                }
            }
            _ => {}
        }
    }

    /// Reads sentences; fenced code is read like an output.
    fn prose(&mut self, text: &str, worth: f64) {
        let text = text.get(..text.floor_char_boundary(TEXT_BYTES)).unwrap_or(text);
        let mut fenced = false;
        for line in text.lines().map(str::trim) {
            if line.starts_with("```") {
                fenced = !fenced;
            } else if fenced {
                self.line(line, Form::Plain, worth);
            } else {
                sentences(line).into_iter().for_each(|sentence| self.sentence(sentence, worth));
            }
        }
    }

    fn sentence(&mut self, sentence: &str, worth: f64) {
        let Some(matched) = kind_of(sentence, Prose::Yes) else { return };
        let text = excerpt(sentence, &matched);
        let shape = shape::shape(sentence) ^ matched.kind.index() as u64;
        self.sentence_matches.push(SentenceMatch {
            anchor: Anchor { kind: matched.kind, text, score: worth * matched.strength },
            shape,
        });
    }

    fn old_output(&mut self, turn: &Message, worth: f64) {
        if let Content::Text(span) = turn.content() {
            let text = json::decode_head(turn.slice(*span), OLD_CHARS);
            self.lines(&text, Form::of(&text), worth);
        }
    }

    fn output(&mut self, text: &str, worth: f64) {
        let form = Form::of(text);
        if text.len() <= TEXT_BYTES {
            return self.lines(text, form, worth);
        }
        let head = text.floor_char_boundary(TEXT_BYTES / 2);
        let tail = text.ceil_char_boundary(text.len() - TEXT_BYTES / 2);
        self.lines(text.get(tail..).unwrap_or(""), form, worth);
        self.lines(text.get(..head).unwrap_or(""), form, worth);
    }

    /// Splits a text at line feeds; within JSON also at escaped ones.
    fn lines(&mut self, text: &str, form: Form, worth: f64) {
        let bytes = text.as_bytes();
        let mut start = 0;
        for at in memchr::memchr2_iter(b'\n', if form == Form::Json { b'\\' } else { b'\n' }, bytes) {
            let escape = bytes.get(at) == Some(&b'\\');
            if at < start || (escape && bytes.get(at + 1) != Some(&b'n')) || (escape && is_escaped(bytes, at)) {
                continue;
            }
            self.fields(text.get(start..at).unwrap_or(""), form, worth);
            start = at + if escape { 2 } else { 1 };
        }
        self.fields(text.get(start..).unwrap_or(""), form, worth);
    }

    /// Reads the line, or the fields of a long line of JSON.
    fn fields(&mut self, line: &str, form: Form, worth: f64) {
        if form == Form::Plain || line.len() <= LONG_LINE {
            return self.line(line, form, worth);
        }
        let bytes = line.as_bytes();
        let mut start = 0;
        for at in memchr::memchr_iter(b',', bytes) {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at));
            let next = bytes.get(at + 1..).and_then(|rest| rest.iter().find(|byte| **byte != b' '));
            if matches!(before, Some(b'"' | b'}' | b']' | b'0'..=b'9' | b'e' | b'l'))
                && matches!(next, Some(b'"' | b'{' | b'['))
            {
                self.line(line.get(start..at).unwrap_or("").trim_start(), form, worth);
                start = at + 1;
            }
        }
        self.line(line.get(start..).unwrap_or("").trim_start(), form, worth);
    }

    fn line(&mut self, line: &str, form: Form, worth: f64) {
        if line.len() < MIN_LINE {
            return;
        }
        let shape = shape::shape(line);
        let count = self.shapes.entry(shape).or_default();
        *count += 1;
        if *count <= KEPT_OF_SHAPE && self.lines.len() < MAX_LINES {
            self.lines.push(Line { text: line.to_owned(), form, shape, worth });
        }
    }

    fn finish(self) -> Vec<Anchor> {
        let mut prose_counts: HashMap<u64, u32> = HashMap::new();
        for found in &self.sentence_matches {
            *prose_counts.entry(found.shape).or_default() += 1;
        }
        let mut found: Vec<Anchor> = Vec::with_capacity(self.sentence_matches.len() + self.lines.len());
        found.extend(self.sentence_matches.into_iter().map(|found| {
            let count = prose_counts.get(&found.shape).copied().unwrap_or(1);
            Anchor { score: found.anchor.score * rank::prose_rarity(count), ..found.anchor }
        }));
        let shapes = self.shapes;
        found.par_extend(self.lines.into_par_iter().with_min_len(FEW_LINES).filter_map(|line| {
            let count = shapes.get(&line.shape).copied().unwrap_or(1);
            if count > MAX_OF_SHAPE {
                return None;
            }
            let plain = match line.form {
                Form::Plain => Cow::Borrowed(line.text.as_str()),
                Form::Json => unescaped(&line.text),
            };
            let matched = kind_of(&plain, Prose::No)?;
            let text = excerpt(&plain, &matched);
            Some(Anchor { kind: matched.kind, text, score: line.worth * matched.strength * rank::rarity(count) })
        }));
        found
    }
}

/// The notation of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    /// Its strings contain escapes.
    Json,
}

impl Form {
    fn of(text: &str) -> Self {
        match text.as_bytes().first() {
            Some(b'{' | b'[') => Self::Json,
            _ => Self::Plain,
        }
    }
}

/// Whether the backslash at `at` is itself escaped by an odd number before it.
fn is_escaped(bytes: &[u8], at: usize) -> bool {
    let before = bytes.get(..at).unwrap_or(&[]);
    before.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}
