//! The first phase: what would be summarised, and what a summarizer needs for it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::assemble;
use super::clean::CleanTurns;
use super::decide::{Decided, Target, Weighed, decide, gain_chars};
use super::goal::Goal;
use super::layout::{Brief, Layout};
use super::options::Options;
use super::price::chars_within;
use super::sections::{self, Kept, Material, Record, Sections};
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
use crate::run::{ArchiveNote, Compressed, Declined, EngineState, Place, Spill, Summary, SummaryRequest, Writer};
use crate::text::{head, longer_than, tail};
use crate::work::Known;
use crate::{Host, Settings, pairs, serialize};

/// The least that a handoff is given beside the user's words, in chars, however little it replaces.
const MIN_HANDOFF_CHARS: usize = 3_000;
/// Chars of a handle that room is kept for.
const EXPECTED_HANDLE: usize = 24;

/// Chars of a memory provider's text that go into a prompt; of a longer one its head and its tail.
const MEMORY_CHARS: usize = 6_000;
/// Chars of its head.
const MEMORY_HEAD: usize = 4_000;
/// Chars of its tail.
const MEMORY_TAIL: usize = 1_500;

/// A compression that only lacks its summary. It owns all it needs and can be kept for later.
pub struct Prepared {
    pub(super) input: Vec<Message>,
    pub(super) layout: Layout,
    pub(super) brief: Brief,
    pub(super) state: EngineState,
    pub(super) redaction: Redaction,
    /// What the host takes.
    pub(super) host: Host,
    pub(super) current_tokens: Option<i64>,
    pub(super) summary_model: Option<String>,
    pub(super) today: Option<Today>,
    reserved_chars: usize,
    /// The session's rules, brought up to date.
    pub(super) rules: Update,
    /// What the user said and replaced later, once that was asked for.
    replaced: OnceLock<Replaced>,
    /// What a model is asked about, and what a handoff shows beside its summary; once either was
    /// asked for.
    masked: OnceLock<Sources>,
    /// The same for a record without a model.
    clean: OnceLock<Sources>,
    /// Chars that the whole handoff may take.
    pub(super) limit: usize,
    pub(super) gain: Gain,
    pub(super) has_handoff: bool,
    pub(super) goal: Goal,
    /// What a list over the threshold has to become.
    pub(super) target: Option<Target>,
    pub(super) weighed: Weighed,
    pub(super) pins: Pins,
    pub(super) episodes: Episodes,
}

/// Turns without their secrets, and what stands beside their summary.
pub(super) struct Sources {
    pub(super) turns: CleanTurns,
    material: Material,
}

/// Decides what a compression of the list would replace, and declines if that is nothing.
pub fn prepare(
    messages: &[Message],
    settings: &Settings,
    state: &EngineState,
    request: &CompressRequest,
) -> Result<Prepared, Declined> {
    prepare_and(messages, settings, state, request, |_| ())
}

/// [`prepare`], which calls `leaving` as soon as it is known, and at most once, which messages a
/// handoff will replace: the longest part of the [`Prepared::middle`] of what comes of it in which nothing
/// is kept.
pub fn prepare_and(
    messages: &[Message],
    settings: &Settings,
    state: &EngineState,
    request: &CompressRequest,
    leaving: impl FnOnce(Range<usize>),
) -> Result<Prepared, Declined> {
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
    let Decided { layout, brief, goal, target, weighed } = decide(messages, &options)?;
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
        gain: request.gain,
        has_handoff,
        goal,
        target,
        weighed,
        pins: request.wishes.pins.clone(),
        episodes: request.wishes.episodes.clone(),
    };
    prepared.limit = if has_handoff { prepared.limit() } else { 0 };
    Ok(prepared)
}

/// What a memory provider adds, as it goes into a prompt.
fn memory(text: &str, redaction: Redaction) -> Option<String> {
    let text = redaction.apply(text.trim());
    match longer_than(&text, MEMORY_CHARS) {
        _ if text.is_empty() => None,
        true => Some(format!("{}\n...[truncated]...\n{}", head(&text, MEMORY_HEAD), tail(&text, MEMORY_TAIL))),
        false => Some(text.into_owned()),
    }
}

impl Prepared {
    /// Chars that the whole handoff may take.
    fn limit(&self) -> usize {
        let most = self.brief.handoff_chars();
        match (self.target, self.gain) {
            (Some(target), _) => chars_within(target.handoff, &self.brief.turns, most).unwrap_or(most),
            (None, Gain::Required) => most.min(gain_chars(&self.layout)),
            (None, Gain::Any) => {
                let least = MIN_HANDOFF_CHARS.saturating_add(self.sources(Writer::Model).material.said_chars());
                match self.layout.handoff_chars(&self.input) {
                    0 => most.min(gain_chars(&self.layout).max(least)),
                    // Otherwise each run in a row would say a little less of the same.
                    _ => most,
                }
            }
        }
    }

    /// What a summary of that writer is made from, and what stands beside it. It is gathered when it
    /// is first asked for, from turns without their secrets: cut first, a secret would be known no
    /// more.
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
            // What stays is read with the turns, each at its place: of two values the newest counts.
            let beside = self.layout.kept.iter().copied().chain(self.layout.tail..self.input.len());
            let clean = |at: usize| Some((at, redaction.message(self.input.get(at)?)));
            let turned = turns.indexes.iter().copied().zip(turns.originals.iter().cloned());
            let mut all: Vec<(usize, Message)> = turned.chain(beside.filter_map(clean)).collect();
            all.sort_by_key(|(at, _)| *at);
            let kept = Kept {
                episodes: self.newly_left().collect(),
                known: Known::of(stays),
                left_out,
                all: all.into_iter().map(|(_, message)| message).collect(),
            };
            let material = sections::gather(&turns.originals, kept, &self.brief.carried, (self.replaced(), redaction));
            Sources { turns, material }
        })
    }

    /// The episodes of which messages leave for the first time, and how many do.
    fn newly_left(&self) -> impl Iterator<Item = (&Found, usize)> {
        self.layout.left().filter(|(found, _)| !self.state.named_episodes.contains(&found.number))
    }

    /// The numbers of the episodes that a handoff has a line of then.
    pub(super) fn named_episodes(&self) -> Vec<u64> {
        let known = self.state.named_episodes.iter().filter(|number| self.episodes.has(**number));
        known.copied().chain(self.newly_left().map(|(found, _)| found.number)).collect()
    }

    /// What the user said and replaced later.
    fn replaced(&self) -> &Replaced {
        let rules = || self.rules.constraints.iter().rev().map(|rule| rule.text.as_str());
        self.replaced.get_or_init(|| Replaced::of(&self.input, &self.brief.carried, rules()))
    }

    /// What becomes of secrets in a handoff around a summary of that writer.
    pub(crate) fn redaction(&self, writer: Writer) -> Redaction {
        match writer {
            Writer::Model => self.redaction,
            Writer::Extractive => self.redaction.without_model(),
        }
    }

    /// What to ask a model.
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

    /// A summary without a model; `failure` tells why it stands in for one.
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

    /// What the record shows: all of the skeleton, but in a handoff that is short, or that would make the list longer.
    fn skeleton(&self, failure: Option<&str>) -> Skeleton {
        let would_grow = self.target.is_none() && gain_chars(&self.layout) < self.limit;
        if failure.is_none() && (would_grow || sections::is_short(self.limit)) {
            Skeleton::Telling
        } else {
            Skeleton::Whole
        }
    }

    /// What [`Self::finish`] appends to a model's summary of so many chars, in order.
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
        self.sources(writer).material.sections(self.limit, record, self.reserved_chars, note, &rules)
    }

    /// A note as long as any that will come.
    fn expected_note(&self) -> ArchiveNote {
        ArchiveNote { handle: "x".repeat(EXPECTED_HANDLE), messages: self.dropped().max(1) }
    }

    /// The session's rules, brought up to date by the messages.
    pub fn constraints(&self) -> &Update {
        &self.rules
    }

    /// Chars that the whole handoff may take, prefix and end marker included.
    pub fn handoff_chars(&self) -> usize {
        self.limit
    }

    /// Chars of a summary's own text beyond which it would be cut.
    pub(super) fn body_limit(&self, appended: &Sections) -> usize {
        self.limit.saturating_sub(sections::frame_chars() + appended.chars())
    }

    /// Keeps room for sections that the caller will append beside those of herma.
    pub fn reserve(&mut self, chars: usize) {
        self.reserved_chars = chars;
    }

    /// Whether a summary is to be written. Without one the list only becomes a shorter form of
    /// itself, and [`Self::finish`] looks at no summary.
    pub fn needs_summary(&self) -> bool {
        self.has_handoff
    }

    /// Whether a handoff replaces what lies between the ordinary head and tail, and no more gives
    /// way than that.
    pub fn is_ordinary(&self) -> bool {
        self.has_handoff && !self.layout.is_tight
    }

    /// Outputs that are to be kept elsewhere before [`Self::finish_with`], in their order.
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

    /// Chars that a preview of a spilled output shows at the most.
    pub const fn preview_chars() -> usize {
        PREVIEW_CHARS
    }

    /// Puts the new list together around a summary. Outputs that would have to be kept elsewhere
    /// are cut, and name the handle of the archive.
    pub fn finish(self, summary: Summary, note: ArchiveNote) -> Compressed {
        self.finish_with(summary, note, &|_, _| None)
    }

    /// [`Self::finish`] with previews of the outputs that are kept elsewhere by now: `preview` is
    /// asked for that of the message at an index with so many chars of its text.
    pub fn finish_with(
        self,
        summary: Summary,
        note: ArchiveNote,
        preview: &dyn Fn(usize, usize) -> Option<String>,
    ) -> Compressed {
        assemble::finish(self, &summary, &note, preview, None)
    }

    /// The same with a record that is written for the chars that there are for it.
    pub(crate) fn finish_fitted(
        self,
        summary: Summary,
        note: ArchiveNote,
        preview: &dyn Fn(usize, usize) -> Option<String>,
        record: &dyn Fn(usize) -> String,
    ) -> Compressed {
        assemble::finish(self, &summary, &note, preview, Some(record))
    }

    /// The turns that the summary covers, without their secrets.
    pub(crate) fn clean_turns(&self, writer: Writer) -> &CleanTurns {
        &self.sources(writer).turns
    }

    /// Has the handoff list exact references that are known from elsewhere, where they are worth it.
    pub(crate) fn add_references<'a>(&mut self, lists: impl Iterator<Item = &'a str>) {
        self.sources(Writer::Extractive);
        if let Some(sources) = self.clean.get_mut() {
            sources.material.add_references(lists);
        }
    }

    /// The newest handle that the handoff before named.
    pub(crate) fn earlier_handle(&self) -> Option<String> {
        let recall = self.brief.carried.iter().find(|section| section.kind == SectionKind::Recall)?;
        sections::handles(&recall.text).into_iter().next()
    }

    /// The messages that were prepared.
    pub fn input(&self) -> &[Message] {
        &self.input
    }

    /// The input messages that the summary has to cover: nothing that an earlier summary covers.
    pub fn turns(&self) -> impl Iterator<Item = &Message> {
        self.brief.indexes.iter().filter_map(|&at| self.input.get(at))
    }

    /// Positions between head and tail: the handoff will replace the messages there, all but the
    /// user's last one and the exchanges that stay.
    pub fn middle(&self) -> Range<usize> {
        self.layout.middle()
    }

    /// The summary so far, if the turns continue one.
    pub fn previous_summary(&self) -> Option<&str> {
        self.brief.previous.as_deref()
    }

    /// What the summary will favour.
    pub fn focus(&self) -> Option<&str> {
        self.brief.focus.as_deref()
    }

    /// Tokens that the summary may take.
    pub fn summary_budget(&self) -> u64 {
        self.brief.summary_budget
    }

    /// Messages that the handoff replaces. None when all that stands between head and tail is kept.
    pub fn dropped(&self) -> usize {
        self.layout.dropped()
    }
}
