//! The engine that loses nothing: a map in the list replaces the messages that leave, and each part of the
//! map can be opened again.
//!
//! It selects the messages like the [`compressor`], and appends the same sections to its record. Only the
//! record differs. The leaving messages are cut into leaves ([`Node`]s of depth 0, for about [`LEAF_TOKENS`]
//! of messages). Of six nodes of one depth, the oldest four become one node above them. The record is the map
//! of the topmost nodes, from old to new.
//!
//! No summarizer is called during a run: this module writes a node's text from whole lines of the messages.
//! Later a model may rewrite it ([`Rewriting`]).

mod condense;
mod leaf;
mod map;
mod rewrite;
mod time;
mod write;

use std::ops::Range;

use herma_guard::Policy;
use rayon::prelude::*;

pub use condense::GROUP;
pub use leaf::LEAF_TOKENS;
pub use rewrite::{RewriteError, RewriteSource, Rewriting, TextLength, WRITING};
pub use write::{LEAF_TEXT, NODE_TEXT};

use self::leaf::Turn;
use self::write::{LeafTurns, Written};
use crate::compressor;
use crate::message::{Message, Role};
pub use crate::node::{Coverage, NewNode, Node, SessionNodes};
use crate::request::CompressRequest;
use crate::run::{ArchiveNote, Compressed, EngineState, Rejection, Summary, Writer};
use crate::settings::Settings;
use crate::tokens::Measure;

/// Messages at the end that stay unchanged if the budget allows it.
const FRESH: usize = 32;
/// Size of this engine's handoff in percent of the compressor's; the tail gives up the difference.
const HANDOFF_PERCENT: u64 = 180;
/// The tail as a share of the compressor's tail.
const TAIL_SHARE: f64 = 0.8;
/// The writer name of nodes that no model wrote.
pub const OWN: &str = "extractive";

/// A run of this engine.
pub struct Prepared {
    pub(crate) base: compressor::Prepared,
    known: SessionNodes,
    /// The time of the run, in Unix seconds.
    now: f64,
    /// New nodes, in the order of their creation.
    new: Vec<NewNode>,
}

/// Adapts the settings to this engine.
pub(crate) fn settings(settings: &Settings) -> Settings {
    Settings {
        protect_last_n: settings.protect_last_n.max(FRESH),
        handoff_percent: settings.handoff_percent * HANDOFF_PERCENT / 100,
        target_ratio: settings.target_ratio * TAIL_SHARE,
        ..settings.clone()
    }
}

/// Decides which messages leave the list, like [`compressor::prepare_and`].
pub(crate) fn prepare(
    messages: &[Message],
    settings: &Settings,
    state: &EngineState,
    request: &CompressRequest,
    leaving: impl FnOnce(Range<usize>),
) -> Result<Prepared, Rejection> {
    let base = compressor::prepare_and(messages, &self::settings(settings), state, request, leaving)?;
    Ok(Prepared { base, known: request.nodes.clone(), now: request.now, new: Vec::new() })
}

impl Prepared {
    /// Writes the nodes of the leaving messages. Must be called once, before [`Self::finish_with`].
    pub(crate) fn write(&mut self, policy: &Policy) {
        if !self.base.needs_summary() {
            return;
        }
        self.take_over(policy);
        self.add_leaves(policy);
        while let Some(range) = condense::due(&self.known.nodes) {
            let group = self.known.nodes.get(range.clone()).unwrap_or_default().to_vec();
            let Some((first, last)) = group.first().zip(group.last()) else { break };
            let node = Node {
                depth: first.depth + 1,
                first: first.first,
                next: last.next,
                from: first.from,
                until: last.until,
                tokens: group.iter().map(|node| node.tokens).sum(),
                writer: OWN.into(),
                ..Node::default()
            };
            let node = self.known.named(said(node, write::above(&group)));
            self.known.nodes.splice(range, [node.clone()]);
            self.new.push(NewNode { node, of: Coverage::Nodes(group.into_iter().map(|node| node.id).collect()) });
        }
    }

    /// Returns the warnings from the checks of the new nodes.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut all: Vec<String> = self.new.iter().flat_map(|new| new.node.warnings.iter().cloned()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// See [`compressor::Prepared::continued`].
    pub(crate) fn continued(self, more: Vec<Message>, state: &EngineState, request: &CompressRequest) -> Self {
        Self { base: self.base.continued(more, state, request), ..self }
    }

    /// Assembles the new list around the map.
    pub(crate) fn finish_with(self, note: ArchiveNote, preview: &dyn Fn(usize, usize) -> Option<String>) -> Compressed {
        let Self { mut base, known, new, .. } = self;
        base.add_references(known.nodes.iter().map(|node| node.references.as_str()));
        let limit = base.limit();
        let wanted = map::wanted(&known.nodes);
        base.reserve((*wanted.start()).min(limit / 2));
        let summary = Summary { writer: Writer::Extractive, ..Summary::default() };
        let record = |chars: usize| map::render(&known.nodes, chars.min(*wanted.end()));
        let compressed = base.finish_fitted(summary, note, preview, &record);
        Compressed { nodes: new, ..compressed }
    }

    /// Turns the summary of another engine into a node, so that the map includes it.
    fn take_over(&mut self, policy: &Policy) {
        let Some(record) = self.base.previous_summary().filter(|record| !map::is_map(record)) else { return };
        let Some(handle) = self.base.earlier_handle() else { return };
        let first = self.known.reached(self.base.middle().start);
        let node = Node {
            depth: 0,
            first,
            next: first.max(self.known.left),
            from: self.known.since,
            until: self.known.since,
            writer: OWN.into(),
            ..Node::default()
        };
        let node = said(node, write::of_record(record, policy));
        self.add(node, Coverage::Handle(handle));
    }

    /// Cuts the leaving messages into leaves.
    fn add_leaves(&mut self, policy: &Policy) {
        let sources = self.base.clean_turns(Writer::Extractive);
        let input = self.base.input();
        let turn = |at: usize| {
            let message = input.get(at)?;
            Some(Turn { at, tokens: Measure::of(message).tokens(), begins: !message.is(Role::Tool) })
        };
        let turns: Vec<Turn> = sources.indexes.iter().filter_map(|&at| turn(at)).collect();
        let ranges = leaf::cut(&turns);
        let rules: Vec<&str> = self.base.constraints().constraints.iter().map(|rule| rule.text.as_str()).collect();
        let redaction = self.base.redaction(Writer::Extractive);
        let written: Vec<(Range<usize>, u64, Written)> = ranges
            .into_par_iter()
            .map(|range| {
                let of = |at: usize| sources.indexes.partition_point(|index| *index < at);
                let places = of(range.start)..of(range.end);
                let pruned = sources.pruned.get(places.clone()).unwrap_or_default();
                let originals = sources.originals.get(places.clone()).unwrap_or_default();
                let tokens = turns.get(places).unwrap_or_default().iter().map(|turn| turn.tokens).sum();
                let written = write::leaf(&LeafTurns { pruned, originals, tokens }, &rules, redaction, policy);
                (range, tokens, written)
            })
            .collect();
        for (range, tokens, written) in written {
            let first = self.known.reached(self.base.middle().start);
            let messages = u64::try_from(range.len()).unwrap_or(u64::MAX);
            let node = Node {
                depth: 0,
                first,
                next: first.saturating_add(messages),
                from: self.known.time(range.start, self.now),
                until: self.known.time(range.end - 1, self.now),
                tokens,
                writer: OWN.into(),
                ..Node::default()
            };
            self.add(said(node, written), Coverage::Messages(range));
        }
    }

    fn add(&mut self, node: Node, of: Coverage) {
        let node = self.known.named(node);
        self.known.nodes.push(node.clone());
        self.new.push(NewNode { node, of });
    }
}

fn said(node: Node, written: Written) -> Node {
    let Written { text, references, state, warnings } = written;
    Node { text, references, state, warnings, ..node }
}

#[cfg(test)]
mod tests;
