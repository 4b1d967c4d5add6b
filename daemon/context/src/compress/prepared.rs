//! The first phase: what would be summarised, and what a summarizer needs for it.

use std::ops::Range;

use super::layout::{Brief, Layout};
use super::sections::{self, Material, Record, Sections, Sources};
use super::{ArchiveNote, Compressed, Declined, Section, Summary, SummaryRequest, assemble};
use crate::compress::SYSTEM_NOTE;
use crate::constraints::Update;
use crate::extractive::{Extract, Reason};
use crate::message::Message;
use crate::redaction::Redaction;
use crate::request::Gain;
use crate::tokens::{Measure, tokens_to_chars};
use crate::{CompressRequest, EngineState, Settings, Today, serialize};

/// Messages that a list must have beyond the head before it is worth a run.
const MIN_BEYOND_HEAD: usize = 3 + 1;

/// The least that a handoff is given beside the user's words, in chars, however little it replaces.
const MIN_HANDOFF_CHARS: usize = 3_000;
/// The shortest handoff that says anything, in chars.
const SHORTEST_CHARS: usize = 2_400;
/// Chars that a handoff takes in the list besides its text, and what repairs of pairs may add.
const MESSAGE_CHARS: usize = 400;
/// The least of the limit for the whole, in chars, where the budget is smaller.
const SMALLEST_LIMIT: usize = 8_000;
/// Chars of a handle that room is kept for.
const EXPECTED_HANDLE: usize = 24;
/// Of 100 chars of a handoff in the list so many are its text; the others are escapes.
const TEXT_SHARE: usize = 95;

/// A compression that only lacks its summary. It owns all it needs and can be kept for later.
pub struct Prepared {
    pub(super) input: Vec<Message>,
    pub(super) layout: Layout,
    pub(super) brief: Brief,
    pub(super) state: EngineState,
    pub(super) redaction: Redaction,
    pub(super) current_tokens: Option<i64>,
    pub(super) summary_model: Option<String>,
    pub(super) today: Option<Today>,
    reserved_chars: usize,
    pub(super) material: Material,
    /// Chars that the whole handoff may take.
    pub(super) limit: usize,
    pub(super) gain: Gain,
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

/// [`prepare`], which tells as soon as that is known, and at most once, which messages a handoff
/// will replace: the [`Prepared::middle`] of what comes of it.
pub fn prepare_and(
    messages: &[Message],
    settings: &Settings,
    state: &EngineState,
    request: &CompressRequest,
    tell: impl FnOnce(Range<usize>),
) -> Result<Prepared, Declined> {
    let head_size = crate::boundary::head_size(messages, settings);
    if messages.len() <= head_size.saturating_add(MIN_BEYOND_HEAD) {
        return Err(Declined::TooFew);
    }
    let layout = Layout::of(messages, settings);
    if layout.start >= layout.tail_start() {
        return Err(Declined::NothingBetween);
    }
    let held = state.previous_summary.as_deref();
    let brief = Brief::of(&layout, messages, settings, held, &request.focus);
    if brief.turns.is_empty() && layout.end - layout.start < 2 {
        return Err(Declined::NothingBetween);
    }
    let gain = gain_chars(&layout);
    if request.gain == Gain::Required && gain < SHORTEST_CHARS {
        return Err(Declined::NoGain);
    }
    tell(layout.middle());
    let redaction = Redaction::from(settings);
    let originals = originals(messages, &layout, &brief);
    let sources = Sources {
        messages,
        turns: &originals,
        carried: &brief.carried,
        known: &request.constraints,
        now: request.now,
        redaction,
    };
    let material = sources.gather();
    let least = match request.gain {
        Gain::Any => MIN_HANDOFF_CHARS.saturating_add(material.said_chars()),
        Gain::Required => 0,
    };
    let limit = budget_chars(&brief).min(gain.max(least));
    let mut state = state.clone();
    state.begin_run();
    let own_model = settings.summary_model.as_ref();
    Ok(Prepared {
        input: messages.to_vec(),
        layout,
        brief,
        state,
        redaction,
        current_tokens: request.current_tokens,
        summary_model: own_model.filter(|model| !model.is_empty()).cloned(),
        today: request.today.clone(),
        reserved_chars: 0,
        material,
        limit,
        gain: request.gain,
    })
}

/// Chars that the budget gives a handoff.
fn budget_chars(brief: &Brief) -> usize {
    tokens_to_chars(brief.handoff_tokens).max(SMALLEST_LIMIT)
}

/// Chars that a handoff may have if the new list is not to be longer than the input.
fn gain_chars(layout: &Layout) -> usize {
    let tail = layout.tail_start();
    let kept = layout.measures.iter().enumerate().filter(|(at, _)| *at < layout.start || *at >= tail);
    let kept = kept.fold(Measure::default(), |sum, (_, measure)| sum.plus(*measure));
    let beside = kept.chars + SYSTEM_NOTE.len() + MESSAGE_CHARS;
    layout.before.chars.saturating_sub(beside) / 100 * TEXT_SHARE
}

/// The unpruned form of each turn.
fn originals<'a>(input: &'a [Message], layout: &Layout, brief: &'a Brief) -> Vec<&'a Message> {
    let pairs = brief.turns.iter().zip(&brief.indexes);
    pairs
        .map(|(turn, &at)| match layout.pruned.get(at) {
            Some(pruned) if pruned.same(turn) => input.get(at).unwrap_or(turn),
            _ => turn,
        })
        .collect()
}

impl Prepared {
    /// What to ask a model.
    pub fn request(&self) -> SummaryRequest {
        let serialized = serialize::serialize(&self.brief.turns, self.redaction);
        let prompt = self.brief.prompt(&serialized, self.today.as_ref(), self.redaction);
        SummaryRequest {
            prompt: prompt.unwrap_or_default(),
            max_tokens: self.brief.max_tokens(),
            model: self.summary_model.clone(),
        }
    }

    /// A summary without a model; `failure` tells why it stands in for one.
    pub fn extractive_summary(&self, failure: Option<&str>) -> String {
        let kept = self.layout.tail_start();
        let appended = self.appended(&self.expected_note(), Record::Coming);
        let beyond = budget_chars(&self.brief).saturating_sub(self.limit);
        let said = appended.list.iter().find(|section| section.kind == super::SectionKind::UserMessages);
        Extract {
            turns: &self.brief.turns,
            originals: &originals(&self.input, &self.layout, &self.brief),
            tail: self.layout.pruned.get(kept..).unwrap_or(&[]),
            previous: self.brief.previous.as_deref(),
            budget_tokens: self.brief.handoff_tokens,
            reserved_chars: self.reserved_chars + appended.chars() + beyond,
            said: said.map_or("", |section| &section.text),
            dropped: self.dropped(),
            reason: failure.map_or(Reason::Chosen, Reason::Failed),
            redaction: self.redaction,
        }
        .write()
    }

    /// What [`Self::finish`] appends to a summary of so many chars, in order.
    pub fn sections(&self, note: &ArchiveNote, body_chars: usize) -> Vec<Section> {
        self.appended(note, Record::Written(body_chars)).list
    }

    pub(super) fn appended(&self, note: &ArchiveNote, record: Record) -> Sections {
        self.material.sections(self.limit, record, self.reserved_chars, note, self.redaction)
    }

    /// A note as long as any that will come.
    fn expected_note(&self) -> ArchiveNote {
        ArchiveNote { handle: "x".repeat(EXPECTED_HANDLE), messages: self.dropped().max(1) }
    }

    /// The session's rules, brought up to date by the messages.
    pub fn constraints(&self) -> &Update {
        &self.material.rules
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

    /// Puts the new list together around a summary.
    pub fn finish(self, summary: Summary, note: ArchiveNote) -> Compressed {
        assemble::finish(self, &summary, &note)
    }

    /// The messages that were prepared.
    pub fn input(&self) -> &[Message] {
        &self.input
    }

    /// The input messages that the summary has to cover: nothing that an earlier summary covers.
    pub fn turns(&self) -> impl Iterator<Item = &Message> {
        self.brief.indexes.iter().filter_map(|&at| self.input.get(at))
    }

    /// Positions of the input that the handoff will replace.
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

    /// Messages that the handoff replaces: those between head and tail. None when all that
    /// stands between them is the user's last message, which is kept.
    pub fn dropped(&self) -> usize {
        self.middle().len()
    }
}
