//! Collects the quotations of a record, from the newest turn to the oldest.

use hashbrown::HashSet;

use super::Extract;
use super::earlier::EarlierSummary;
use super::files::Paths;
use super::quote::Quoter;
use crate::failure::failure;
use crate::message::{Message, Role};
use crate::pairs;
use crate::prune::{DUPLICATE, Output, line_of};
use crate::text::{collapse, head, longer_than};

/// Requests, in addition to the newest one, in a record of the smallest size.
const ASKS: usize = 12;
/// Actions in such a record.
const ACTIONS: usize = 12;
/// Failures in such a record.
const BLOCKED: usize = 5;
/// Paths in such a record.
const FILES: usize = 12;
/// Last turns in such a record.
const LAST: usize = 8;
/// Tool names of one turn.
const NAMES: usize = 6;
/// Chars of a failed result.
const BLOCKED_CHARS: usize = 500;
/// Bytes of results, newest first, that are searched for failures; older ones are stale.
const FAILURE_BYTES: usize = 2 << 20;
/// The most chars of an output that is quoted next to the line that describes it.
const SHORT_OUTPUT: usize = 200;

/// The quotations of a record; all lists newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Material {
    /// The newest request of the user.
    pub(super) task: Option<String>,
    /// The last words of the assistant.
    pub(super) in_progress: Option<String>,
    pub(super) asks: Vec<String>,
    pub(super) actions: Vec<String>,
    pub(super) blocked: Vec<String>,
    pub(super) files: Vec<String>,
    pub(super) last: Vec<String>,
    /// Lines of an earlier summary: heading, newline, line.
    pub(super) notes: Vec<String>,
}

impl Material {
    /// Returns only the parts that are shown whatever the room.
    pub(super) fn bare(found: &Self) -> Self {
        Self { task: found.task.clone(), in_progress: found.in_progress.clone(), ..Self::default() }
    }

    /// Adds the items of an earlier summary, within the counts of `scaled`. Items in `kept` are left out,
    /// because they stay in the list.
    pub(super) fn append(&mut self, earlier: EarlierSummary, kept: &HashSet<String>, scaled: impl Fn(usize) -> usize) {
        let lists = [
            (&mut self.asks, earlier.asks, ASKS),
            (&mut self.actions, earlier.actions, ACTIONS),
            (&mut self.blocked, earlier.blocked, BLOCKED),
            (&mut self.files, earlier.files, FILES),
        ];
        for (list, older, limit) in lists {
            let known: HashSet<String> = list.iter().cloned().collect();
            list.extend(older.into_iter().filter(|item| !known.contains(item) && !kept.contains(item)));
            list.truncate(scaled(limit));
        }
        self.notes = earlier.notes;
    }
}

/// Collects material from the turns of an extract.
pub(super) fn gather(extract: &Extract<'_>, quoter: &Quoter) -> Material {
    let kept: HashSet<String> =
        extract.tail.iter().map(|message| collapse(&message.shown_text())).filter(|text| !text.is_empty()).collect();
    let mut gatherer = Gatherer {
        extract,
        quoter,
        kept,
        calls: pairs::callers(extract.turns),
        paths: Paths::new(extract.scaled(FILES)),
        searched: 0,
        found: Material::default(),
    };
    for at in (0..extract.turns.len()).rev() {
        gatherer.turn(at);
    }
    let paths = gatherer.paths.found.iter();
    gatherer.found.files = paths.map(|path| quoter.line(path)).collect();
    gatherer.found
}

struct Gatherer<'a> {
    extract: &'a Extract<'a>,
    quoter: &'a Quoter,
    /// Texts that stay in the list, each on one line.
    kept: HashSet<String>,
    /// For each result the message and position of its call.
    calls: Vec<Option<(usize, usize)>>,
    paths: Paths,
    /// Bytes of results that were searched for failures.
    searched: usize,
    found: Material,
}

impl Gatherer<'_> {
    fn turn(&mut self, at: usize) {
        let turn = &self.extract.turns[at];
        match turn.role() {
            Role::Tool => self.result(at, turn),
            Role::Assistant => self.reply(turn),
            Role::User => self.request(turn),
            _ => {}
        }
    }

    /// Whether the text may be quoted: it is not empty, and does not stay in the list anyway.
    fn is_new(&self, text: &str) -> bool {
        !text.trim().is_empty() && (self.kept.is_empty() || !self.kept.contains(&collapse(text)))
    }

    fn request(&mut self, turn: &Message) {
        let wants_ask = self.found.asks.len() < self.extract.scaled(ASKS);
        if !wants_ask && self.last_is_full() && self.paths.full() {
            return;
        }
        let text = turn.shown_text();
        if !self.is_new(&text) {
            return;
        }
        self.paths.in_text(&text);
        if self.found.task.is_none() {
            self.found.task = Some(format!("User asked: '{}'", self.quoter.quote(&text)));
        } else if wants_ask && self.extract.said.is_empty() {
            self.found.asks.push(format!("'{}'", self.quoter.quote(&text)));
        }
        self.last("USER", &text);
    }

    fn reply(&mut self, turn: &Message) {
        let text = turn.shown_text();
        let speaks = self.is_new(&text);
        let names: Vec<&str> =
            turn.tool_calls().iter().map(|call| call.name.as_deref().unwrap_or("unknown")).take(NAMES).collect();
        if self.wants_action() {
            if !names.is_empty() {
                let line = format!("Called tool(s): {}", names.join(", "));
                self.found.actions.push(self.quoter.line(&line));
            } else if speaks {
                self.found.actions.push(self.quoter.quote(&text));
            }
        }
        for call in turn.tool_calls() {
            self.paths.in_arguments(&turn.arguments(call));
        }
        if speaks {
            self.paths.in_text(&text);
            if self.found.in_progress.is_none() {
                let words = self.quoter.quote(&text);
                self.found.in_progress = Some(format!("The assistant's last words: '{words}'"));
            }
            self.last("ASSISTANT", &text);
        } else if !names.is_empty() {
            self.last("ASSISTANT", &format!("called {}", names.join(", ")));
        }
    }

    fn result(&mut self, at: usize, turn: &Message) {
        let original = self.extract.originals.get(at).copied().unwrap_or(turn);
        if self.found.blocked.len() < self.extract.scaled(BLOCKED) && self.searched < FAILURE_BYTES {
            self.searched += original.raw().len();
            self.failure(original);
        }
        if !self.wants_action() && self.last_is_full() && self.paths.full() {
            return;
        }
        let shown = turn.shown_text();
        let shortened = !turn.same(original) && shown != DUPLICATE;
        if !shortened && !self.is_new(&original.shown_text()) {
            return;
        }
        let line = if shortened { shown.into_owned() } else { self.describe(at, &original.shown_text()) };
        self.paths.in_text(&line);
        if self.wants_action() {
            self.found.actions.push(self.quoter.quote(&line));
        }
        self.last("TOOL", &line);
    }

    /// Returns one line for a result, with the output itself if it is short.
    fn describe(&self, at: usize, output: &str) -> String {
        let call = self.calls.get(at).copied().flatten().map(|(caller, index)| (&self.extract.turns[caller], index));
        let line = line_of(Output::Text(output), call);
        if longer_than(output, SHORT_OUTPUT) { line } else { format!("{line}: {output}") }
    }

    fn failure(&mut self, original: &Message) {
        let output = original.shown_text();
        let Some(found) = failure(&output) else { return };
        if !self.is_new(&output) {
            return;
        }
        // Show the beginning of the output, unless the failure is reported only later.
        let from = if found.end <= head(&output, BLOCKED_CHARS).len() {
            0
        } else {
            output.floor_char_boundary(found.start.saturating_sub(BLOCKED_CHARS / 5))
        };
        let shown = head(output.get(from..).unwrap_or(&output), BLOCKED_CHARS);
        self.found.blocked.push(self.quoter.line(shown));
    }

    fn wants_action(&self) -> bool {
        self.found.actions.len() < self.extract.scaled(ACTIONS)
    }

    fn last_is_full(&self) -> bool {
        self.found.last.len() >= self.extract.scaled(LAST)
    }

    fn last(&mut self, role: &str, text: &str) {
        if !self.last_is_full() {
            self.found.last.push(format!("{role}: {}", self.quoter.line(text)));
        }
    }
}
