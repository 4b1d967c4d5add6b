//! The first phase: decides what to summarise, and builds the summarizer's input.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::assemble;
use super::clean::CleanTurns;
use super::decide::{Decision, ImportanceChoices, Target, decide, gain_chars};
use super::goal::Goal;
use super::layout::{Brief, Layout};
use super::losses;
use super::options::Options;
use super::sections::{self, Kept, Material, Record, SectionRoom, Sections};
use super::shorten::PREVIEW_CHARS;
use crate::constraints::{Constraint, Update};
use crate::episodes::{Episodes, Found};
use crate::extractive::{Extract, Reason, Skeleton};
use crate::handoff::{Section, SectionKind};
use crate::message::Message;
use crate::parallel::FEW_MESSAGES;
use crate::pins::Pins;
use crate::redaction::Redaction;
use crate::rehydrate::Earlier;
use crate::replaced::Replaced;
use crate::request::{CompressRequest, Gain, Today};
use crate::run::{ArchiveNote, Compressed, EngineState, Place, Rejection, Spill, Summary, SummaryRequest, Writer};
use crate::text::{head, longer_than, tail};
use crate::work::Known;
use crate::{Host, Settings, pairs, serialize};

/// Chars reserved for a handle.
const EXPECTED_HANDLE: usize = 24;

/// The most chars of a memory provider's text in a prompt; a longer one keeps its head and its tail.
const MEMORY_CHARS: usize = 6_000;
/// Chars of the head of a longer text.
const MEMORY_HEAD: usize = 4_000;
/// Chars of the tail of a longer text.
const MEMORY_TAIL: usize = 1_500;

/// A compression that only lacks its summary. It owns all its data and can be kept for later.
pub struct Prepared {
    pub(super) input: Vec<Message>,
    pub(super) layout: Layout,
    pub(super) brief: Brief,
    pub(super) state: EngineState,
    pub(super) redaction: Redaction,
    /// The forms of a list that the host accepts.
    pub(super) host: Host,
    pub(super) current_tokens: Option<i64>,
    pub(super) summary_model: Option<String>,
    pub(super) today: Option<Today>,
    reserved_chars: usize,
    /// The session's rules, updated from the messages.
    pub(super) rules: Update,
    /// Texts that the user later replaced, computed on first use.
    replaced: OnceLock<Replaced>,
    /// The input of a model, and of the sections after its summary, computed on first use.
    masked: OnceLock<Sources>,
    /// The same for a record without a model.
    clean: OnceLock<Sources>,
    /// The most chars of the whole handoff, without names beyond it.
    pub(super) limit: usize,
    /// The most chars of names beyond that limit, in room that the threshold leaves free.
    pub(super) names: usize,
    pub(super) gain: Gain,
    pub(super) has_handoff: bool,
    pub(super) goal: Goal,
    /// The required size, if the list is over the threshold.
    pub(super) target: Option<Target>,
    pub(super) weighed: ImportanceChoices,
    pub(super) pins: Pins,
    pub(super) episodes: Episodes,
}

/// Turns without their secrets, and the input of the sections after their summary.
pub(super) struct Sources {
    pub(super) turns: CleanTurns,
    pub(super) material: Material,
}

/// Decides what a compression of the list would replace, and declines if there is nothing.
pub fn prepare(
    messages: &[Message],
    settings: &Settings,
    state: &EngineState,
    request: &CompressRequest,
) -> Result<Prepared, Rejection> {
    prepare_and(messages, settings, state, request, |_| ())
}

/// Like [`prepare`], but calls `leaving` at most once, as early as possible, with messages that a handoff
/// will replace: the longest part of the resulting [`Prepared::middle`] in which nothing is kept.
pub fn prepare_and(
    messages: &[Message],
    settings: &Settings,
    state: &EngineState,
    request: &CompressRequest,
    leaving: impl FnOnce(Range<usize>),
) -> Result<Prepared, Rejection> {
    let options = Options {
        settings,
        earlier: Earlier { held: state.previous_summary.as_deref(), is_scattered: state.has_scattered_handoffs },
        focus: &request.focus,
        gain: request.gain,
        prompt: request.prompt(),
        wishes: &request.wishes,
        range: request.range.as_ref(),
        weighs: true,
    };
    let Decision { layout, brief, goal, target, weighed } = decide(messages, &options)?;
    let redaction = Redaction::from(settings);
    let has_handoff = brief.is_some();
    let mut brief = brief.unwrap_or_default();
    brief.memory = request.memory.as_deref().and_then(|text| memory(text, redaction));
    if has_handoff {
        leaving(layout.dropped_range());
    }
    let rules = sections::rules(messages, &brief.carried, &request.constraints, request.now);
    let mut state = state.clone();
    state.begin_run();
    let own_model = settings.summary_model.as_ref();
    let mut prepared = Prepared {
        input: messages.to_vec(),
        layout,
        brief,
        state,
        redaction,
        host: settings.host,
        current_tokens: request.current_tokens,
        summary_model: own_model.filter(|model| !model.is_empty()).cloned(),
        today: request.today.clone(),
        reserved_chars: 0,
        rules,
        replaced: OnceLock::new(),
        masked: OnceLock::new(),
        clean: OnceLock::new(),
        limit: 0,
        names: 0,
        gain: request.gain,
        has_handoff,
        goal,
        target,
        weighed,
        pins: request.wishes.pins.clone(),
        episodes: request.wishes.episodes.clone(),
    };
    if has_handoff {
        prepared.limit = prepared.limit_chars();
        prepared.names = prepared.names();
    }
    Ok(prepared)
}

/// Returns a memory provider's text as it goes into a prompt.
fn memory(text: &str, redaction: Redaction) -> Option<String> {
    let text = redaction.apply(text.trim());
    match longer_than(&text, MEMORY_CHARS) {
        _ if text.is_empty() => None,
        true => Some(format!("{}\n...[truncated]...\n{}", head(&text, MEMORY_HEAD), tail(&text, MEMORY_TAIL))),
        false => Some(text.into_owned()),
    }
}

impl Prepared {
    /// Returns the input of that writer's summary and of the sections after it. It is computed on first use,
    /// from turns without their secrets: after a cut, a secret would not be recognised.
    pub(super) fn sources(&self, writer: Writer) -> &Sources {
        let known = match writer {
            Writer::Model => &self.masked,
            Writer::Extractive => &self.clean,
        };
        known.get_or_init(|| {
            let redaction = self.redaction(writer);
            let mut turns = CleanTurns::of(&self.input, &self.layout, &self.brief, redaction);
            let left_out = turns.leave_out(self.replaced());
            let stays = self.layout.stays().filter_map(|at| self.layout.pruned.get(at));
            // Kept messages are read with the turns, each at its place, because the newest of two values
            // counts.
            let beside = self.layout.kept.iter().copied().chain(self.layout.tail..self.input.len());
            let clean = |at: usize| Some((at, redaction.message(self.input.get(at)?)));
            let turned = turns.indexes.iter().copied().zip(turns.originals.iter().cloned());
            let mut all: Vec<(usize, Message)> = turned.chain(beside.filter_map(clean)).collect();
            all.sort_by_key(|(at, _)| *at);
            let kept = Kept {
                episodes: self.newly_left().collect(),
                known: Known::of(stays),
                left_out,
                shortened: losses::losses(&self.input, &self.layout, redaction),
                all: all.into_iter().map(|(_, message)| message).collect(),
            };
            let material = sections::gather(&turns.originals, kept, &self.brief.carried, (self.replaced(), redaction));
            Sources { turns, material }
        })
    }

    /// Returns the episodes of which messages leave for the first time, each with the number of these
    /// messages.
    fn newly_left(&self) -> impl Iterator<Item = (&Found, usize)> {
        self.layout.left().filter(|(found, _)| !self.state.named_episodes.contains(&found.number))
    }

    /// Returns the numbers of the episodes that have a line in the new handoff.
    pub(super) fn named_episodes(&self) -> Vec<u64> {
        let known = self.state.named_episodes.iter().filter(|number| self.episodes.has(**number));
        known.copied().chain(self.newly_left().map(|(found, _)| found.number)).collect()
    }

    /// Returns the texts that the user later replaced.
    fn replaced(&self) -> &Replaced {
        let rules = || self.rules.constraints.iter().rev().map(|rule| rule.text.as_str());
        self.replaced.get_or_init(|| Replaced::of(&self.input, &self.brief.carried, rules()))
    }

    /// Returns how secrets are handled in a handoff around a summary of that writer.
    pub(crate) fn redaction(&self, writer: Writer) -> Redaction {
        match writer {
            Writer::Model => self.redaction,
            Writer::Extractive => self.redaction.without_model(),
        }
    }

    /// Returns the request for a model.
    pub fn request(&self) -> SummaryRequest {
        let serialized = serialize::serialize(&self.sources(Writer::Model).turns.pruned, Redaction::Off);
        let prompt = self.brief.prompt(&serialized, self.today.as_ref(), self.redaction);
        SummaryRequest {
            prompt: prompt.unwrap_or_default(),
            max_tokens: self.brief.max_tokens(),
            model: self.summary_model.clone(),
            place: Place::Alone,
        }
    }

    /// Writes a summary without a model; `failure` is the reason if a model failed.
    pub fn extractive_summary(&self, failure: Option<&str>) -> String {
        let turns = &self.sources(Writer::Extractive).turns;
        let redaction = self.redaction(Writer::Extractive);
        let stays = self.layout.kept.iter().filter_map(|&at| self.layout.pruned.get(at));
        let tail = self.layout.pruned.get(self.layout.tail..).unwrap_or(&[]);
        let tail: Vec<&Message> = stays.chain(tail).collect();
        let tail: Vec<Message> =
            tail.par_iter().with_min_len(FEW_MESSAGES).map(|message| redaction.message(message)).collect();
        let appended = self.appended(Writer::Extractive, &self.expected_note(), Record::Coming);
        let beyond = self.brief.handoff_chars().saturating_sub(self.limit);
        let said = appended.list.iter().find(|section| section.kind == SectionKind::UserMessages);
        Extract {
            turns: &turns.pruned,
            originals: &turns.originals.iter().collect::<Vec<_>>(),
            tail: &tail,
            previous: self.brief.previous.as_deref(),
            budget_tokens: self.brief.handoff_tokens,
            reserved_chars: self.reserved_chars + appended.chars() + beyond,
            said: said.map_or("", |section| &section.text),
            dropped: self.dropped(),
            reason: failure.map_or(Reason::Chosen, Reason::Failed),
            redaction,
            skeleton: self.skeleton(failure),
        }
        .write()
    }

    /// Returns the sections of the record: all of the skeleton, except in a short handoff or one that would
    /// make the list longer.
    fn skeleton(&self, failure: Option<&str>) -> Skeleton {
        let would_grow = self.target.is_none() && gain_chars(&self.layout) < self.limit;
        if failure.is_none() && (would_grow || sections::is_short(self.limit)) {
            Skeleton::Short
        } else {
            Skeleton::Whole
        }
    }

    /// Returns the sections that [`Self::finish`] appends to a model's summary of so many chars, in order.
    pub fn sections(&self, note: &ArchiveNote, body_chars: usize) -> Vec<Section> {
        self.appended(Writer::Model, note, Record::Written(body_chars)).list
    }

    pub(super) fn appended(&self, writer: Writer, note: &ArchiveNote, record: Record) -> Sections {
        let redaction = self.redaction(writer);
        let holds = |rule: &&Constraint| !self.replaced().has(&rule.text);
        let shown = self.rules.constraints.iter().filter(holds).map(|rule| match redaction.apply(&rule.text) {
            Cow::Borrowed(_) => rule.clone(),
            Cow::Owned(text) => Constraint { text, ..rule.clone() },
        });
        let rules: Vec<Constraint> = shown.collect();
        let room = SectionRoom { limit: self.limit, names: self.names, reserved: self.reserved_chars };
        self.sources(writer).material.sections(room, record, note, &rules)
    }

    /// Returns a note as long as any real one.
    fn expected_note(&self) -> ArchiveNote {
        ArchiveNote { handle: "x".repeat(EXPECTED_HANDLE), messages: self.dropped().max(1) }
    }

    /// Returns the session's rules, updated from the messages.
    pub fn constraints(&self) -> &Update {
        &self.rules
    }

    /// Returns the most chars of the whole handoff, prefix, end marker and names beyond the limit included.
    pub fn handoff_chars(&self) -> usize {
        self.limit + self.names
    }

    /// Returns the most chars of a summary's own text; a longer one is cut.
    pub(super) fn body_limit(&self, appended: &Sections) -> usize {
        self.limit.saturating_sub(sections::frame_chars() + appended.chars())
    }

    /// Returns the same without names beyond the limit.
    pub(crate) const fn limit(&self) -> usize {
        self.limit
    }

    /// Reserves room for sections that the caller will append in addition to herma's.
    pub fn reserve(&mut self, chars: usize) {
        self.reserved_chars = chars;
    }

    /// Whether a summary must be written. Without one the list only becomes shorter, and [`Self::finish`]
    /// ignores the summary.
    pub fn needs_summary(&self) -> bool {
        self.has_handoff
    }

    /// Whether a handoff replaces the messages between the ordinary head and tail, and nothing more is
    /// removed.
    pub fn is_ordinary(&self) -> bool {
        self.has_handoff && !self.layout.is_tight
    }

    /// Returns the outputs to store outside the list before [`Self::finish_with`], in order.
    pub fn spills(&self) -> Vec<Spill> {
        let callers = if self.layout.spilled.is_empty() { Vec::new() } else { pairs::callers(&self.input) };
        let spilled = self.layout.spilled.iter().filter_map(|spilled| {
            let message = self.input.get(spilled.at)?;
            let call = callers.get(spilled.at).copied().flatten();
            let call = call.and_then(|(at, index)| self.input.get(at)?.tool_calls().get(index));
            Some(Spill {
                index: spilled.at,
                tool: call.and_then(|call| call.name.clone()).unwrap_or_default(),
                id: message.tool_call_id().map(str::to_owned),
                text: message.text().into_owned(),
            })
        });
        spilled.collect()
    }

    /// Returns the most chars of a preview of a spilled output.
    pub const fn preview_chars() -> usize {
        PREVIEW_CHARS
    }

    /// Assembles the new list around a summary. Outputs that should have been stored outside the list are
    /// cut, with the handle of the archive.
    pub fn finish(self, summary: Summary, note: ArchiveNote) -> Compressed {
        self.finish_with(summary, note, &|_, _| None)
    }

    /// [`Self::finish`] with previews of the outputs that are now stored outside the list. `preview`
    /// returns the preview of the message at an index, with so many chars of its text.
    pub fn finish_with(
        self,
        summary: Summary,
        note: ArchiveNote,
        preview: &dyn Fn(usize, usize) -> Option<String>,
    ) -> Compressed {
        assemble::finish(self, &summary, &note, preview, None)
    }

    /// Does the same as `finish`; `record` writes the text for the available chars.
    pub(crate) fn finish_fitted(
        self,
        summary: Summary,
        note: ArchiveNote,
        preview: &dyn Fn(usize, usize) -> Option<String>,
        record: &dyn Fn(usize) -> String,
    ) -> Compressed {
        assemble::finish(self, &summary, &note, preview, Some(record))
    }

    /// Returns the turns that the summary covers, without their secrets.
    pub(crate) fn clean_turns(&self, writer: Writer) -> &CleanTurns {
        &self.sources(writer).turns
    }

    /// Adds exact references from other lists to the handoff, if they rank high enough.
    pub(crate) fn add_references<'a>(&mut self, lists: impl Iterator<Item = &'a str>) {
        self.sources(Writer::Extractive);
        if let Some(sources) = self.clean.get_mut() {
            sources.material.add_references(lists);
        }
    }

    /// Returns the newest handle in the earlier handoff.
    pub(crate) fn earlier_handle(&self) -> Option<String> {
        let recall = self.brief.carried.iter().find(|section| section.kind == SectionKind::Recall)?;
        sections::handles(&recall.text).into_iter().next()
    }

    /// Returns the messages that were prepared.
    pub fn input(&self) -> &[Message] {
        &self.input
    }

    /// Returns the input messages that the summary must cover, without those that an earlier summary covers.
    pub fn turns(&self) -> impl Iterator<Item = &Message> {
        self.brief.indexes.iter().filter_map(|&at| self.input.get(at))
    }

    /// Returns the positions between head and tail. The handoff will replace these messages, except the
    /// user's last one and the kept exchanges.
    pub fn middle(&self) -> Range<usize> {
        self.layout.middle()
    }

    /// Returns the earlier summary, if the turns continue one.
    pub fn previous_summary(&self) -> Option<&str> {
        self.brief.previous.as_deref()
    }

    /// Returns the topic that the summary will favour.
    pub fn focus(&self) -> Option<&str> {
        self.brief.focus.as_deref()
    }

    /// Returns the most tokens of the summary.
    pub fn summary_budget(&self) -> u64 {
        self.brief.summary_budget
    }

    /// Returns how many messages the handoff replaces; 0 if everything between head and tail is kept.
    pub fn dropped(&self) -> usize {
        self.layout.dropped()
    }
}
