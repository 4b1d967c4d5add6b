//! The second phase: head, handoff, tail, and the repairs that make them a valid list.

use std::borrow::Cow;

use super::decide::ImportanceChoices;
use super::over;
use super::pinned;
use super::sections::{self, Record, Sections};
use super::{Prepared, shorten};
use crate::cache::Sizes;
use crate::handoff::Section;
use crate::handoff::{self, Placement};
use crate::images;
use crate::json::{self, Splice};
use crate::message::{Content, Message, Role, text_part};
use crate::pairs::{self, Entry};
use crate::request::Gain;
use crate::run::{ArchiveNote, Compressed, Numbers, Removed, Scored, Summary};
use crate::savings::savings_pct;
use crate::settings::Host;
use crate::slot::Slot;
use crate::text::{head, longer_than};
use crate::tokens::{Load, tokens_of, tokens_to_chars};

/// The note in the system message after the first compression.
pub const SYSTEM_NOTE: &str = "[Note: earlier turns were compacted into a handoff message. Build on it instead of doing that work again. MEMORY.md and USER.md stay authoritative.]";
/// How every version of the note begins.
const NOTE_START: &str = "[Note: earlier turns ";
/// What every version of the note says then.
const NOTE_WORDS: &str = "were compacted into a handoff message";

/// How often a handoff is shortened to make the list smaller.
const FITTING_TRIES: usize = 8;
/// Chars per token of the smallest useful handoff. Their product is the shortest handoff of a list under
/// pressure.
const CHARS_PER_TOKEN: usize = 3;
/// The fewest chars by which names beyond the limit become shorter.
const LEAST_LESS: usize = 400;
/// The fewest chars to which a summary is cut; a shorter one says nothing.
const LEAST_BODY: usize = 120;
/// The mark at the end of a cut summary.
const CUT_MARK: &str = "...[summary truncated]";

/// A message of the new list and where it comes from.
struct Placed {
    message: Message,
    origin: Origin,
}

/// The origin of a message of the new list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    /// The input, at this index.
    Input(usize),
    /// A stub, or the handoff after its placement.
    New,
    /// A placeholder between head and tail for the handoff.
    Gap,
}

impl Entry for Placed {
    fn message(&self) -> &Message {
        &self.message
    }
    fn inserted(message: Message) -> Self {
        Self { message, origin: Origin::New }
    }
}

/// The new list, with its handoff if it has one.
struct Assembled {
    list: Vec<Placed>,
    /// The summary's own text.
    body: String,
    /// The whole handoff.
    text: String,
    appended: Sections,
    after: Load,
}

/// The input of an assembled list, in addition to the prepared run.
struct Material<'a> {
    summary: &'a Summary,
    note: &'a ArchiveNote,
    /// Returns the preview of an output that is stored outside the list.
    preview: &'a dyn Fn(usize, usize) -> Option<String>,
    /// Percent of each planned preview that is shown.
    shown: usize,
    /// Writes a record of at most so many chars, if it is not the summary's body.
    record: Option<&'a dyn Fn(usize) -> String>,
}

fn assembled(prepared: &Prepared, material: &Material<'_>) -> Assembled {
    let note = material.note;
    let (mut body, mut text, mut appended) = (String::new(), String::new(), Sections::default());
    if prepared.needs_summary() {
        let redaction = prepared.redaction(material.summary.writer);
        let written: Cow<'_, str> = match material.record {
            Some(record) => {
                let coming = prepared.appended(material.summary.writer, note, Record::Coming);
                record(prepared.body_limit(&coming)).into()
            }
            None => material.summary.body.as_str().into(),
        };
        body = handoff::defused(&redaction.apply(handoff::strip(&written)));
        appended = self::appended(prepared, &body, material.summary, note);
        body = bounded(body, prepared.body_limit(&appended), sections::is_short(prepared.limit()));
        text = handoff_text(&body, &appended);
    }
    // Pairs first, because this may change the handoff's neighbours.
    let mut list = pairs::sanitise(joined(prepared, material));
    if prepared.needs_summary() {
        place(&mut list, &text, prepared.host);
    }
    strip_images(&mut list, prepared.host);
    let after = list.iter().map(|placed| &placed.message).collect();
    Assembled { list, body, text, appended, after }
}

/// Assembles the list. Shortens the handoff if a gain is required or the list has a target.
fn fitting(prepared: &mut Prepared, mut material: Material<'_>) -> Assembled {
    let mut made = assembled(prepared, &material);
    for _ in 0..FITTING_TRIES {
        if let Some(target) = prepared.target {
            let excess = made.after.tokens().saturating_sub(target.list);
            if excess == 0 || !shrink(prepared, &made, excess, &mut material.shown) {
                break;
            }
        } else {
            let excess = made.after.rough().tokens().saturating_sub(prepared.layout.before.tokens());
            if prepared.gain == Gain::Any || excess == 0 {
                break;
            }
            let chars = tokens_to_chars(excess);
            let names = made.appended.beyond.min(prepared.names);
            prepared.names = names.saturating_sub(chars);
            prepared.limit = prepared.limit.saturating_sub(chars.saturating_sub(names));
        }
        made = assembled(prepared, &material);
    }
    made
}

/// Shortens the handoff or, once that is as short as possible, the previews. Returns false if neither can
/// shrink.
fn shrink(prepared: &mut Prepared, made: &Assembled, excess: u64, shown: &mut usize) -> bool {
    let chars = made.text.chars().count();
    let shortest = CHARS_PER_TOKEN * usize::try_from(prepared.goal.smallest_handoff()).unwrap_or(0);
    if prepared.needs_summary() && chars > shortest {
        // Names beyond the limit give way first.
        let beyond = made.appended.beyond.min(prepared.names);
        if beyond > 0 {
            prepared.names = beyond.saturating_sub(tokens_to_chars(excess).max(LEAST_LESS));
            return true;
        }
        let takes = tokens_of(&handoff::standalone(&made.text, Role::User)).max(1);
        // 3 % less than the share, because the remaining text may cost more tokens per char.
        let left = chars as u128 * u128::from(takes.saturating_sub(excess)) * 97 / (u128::from(takes) * 100);
        prepared.limit = usize::try_from(left).unwrap_or(chars).max(shortest);
        return true;
    }
    let can_show_less = *shown > 0 && !prepared.layout.spilled.is_empty();
    *shown /= 2;
    can_show_less
}

pub(super) fn finish(
    mut prepared: Prepared,
    summary: &Summary,
    note: &ArchiveNote,
    preview: &dyn Fn(usize, usize) -> Option<String>,
    record: Option<&dyn Fn(usize) -> String>,
) -> Compressed {
    let material = Material { summary, note, preview, shown: 100, record };
    let Assembled { list, body, text, appended, after } = fitting(&mut prepared, material);
    let load = after;
    let after = load.rough();
    let estimate = prepared.layout.before.tokens();
    let before = prepared.state.size_before(prepared.current_tokens, estimate);
    let pct = savings_pct(before, after.tokens());
    let n = prepared.input.len();
    let numbers = Numbers {
        messages_before: n,
        messages_after: list.len(),
        chars_before: prepared.layout.before.chars,
        chars_after: after.chars,
        tokens_before: before,
        tokens_after: after.tokens(),
        head: prepared.layout.start,
        tail: n - prepared.layout.middle().end,
        pruned: prepared.layout.pruned_count,
        dropped: prepared.dropped(),
        savings_pct: pct,
        constraints: appended.constraints,
        anchors: appended.anchors,
    };
    let named_episodes = prepared.named_episodes();
    let constraints = prepared.rules;
    let ImportanceChoices { verbatim, shortened } = prepared.weighed;
    let mut state = prepared.state;
    state.compression_count += 1;
    state.dropped = numbers.dropped;
    if prepared.has_handoff {
        state.previous_summary = Some(body);
        state.named_episodes = named_episodes;
    }
    state.has_scattered_handoffs = are_scattered(list.iter().map(|placed| &placed.message), prepared.layout.head_end);
    state.note_savings(pct);
    let over = if load.tokens() + prepared.goal.reported_extra_tokens >= prepared.goal.threshold {
        over::of(&list.iter().map(|placed| &placed.message).collect::<Vec<_>>(), numbers.head, &prepared.goal)
    } else {
        None
    };
    let unpinned = pinned::lost(&prepared.input, list.iter().map(|placed| &placed.message), &prepared.pins);
    let (slots, removed) = slots(list, &prepared.input);
    let anchors = prepared.episodes.updated_anchors(&prepared.input, &slots);
    let unchanged = slots.iter().enumerate().take_while(|(at, slot)| matches!(slot, Slot::Kept(index) if index == at));
    let unchanged: Load = prepared.layout.loads.iter().copied().take(unchanged.count()).collect();
    let unchanged = unchanged.rough().tokens();
    let sizes = Sizes { before: estimate, after: after.tokens(), unchanged };
    // An image may have been stripped from it, or the handoff merged into it.
    let is_whole = |scored: &Scored| removed.binary_search_by_key(&scored.index, |one| one.index()).is_err();
    let verbatim = verbatim.into_iter().filter(is_whole).collect();
    Compressed {
        slots,
        removed,
        numbers,
        sizes,
        constraints,
        state,
        handoff: text,
        over,
        verbatim,
        shortened,
        discarded: prepared.layout.discarded.iter().filter(|at| prepared.layout.stays().any(|one| one == **at)).count(),
        episodes: prepared.layout.left().count(),
        anchors,
        pinned: prepared.layout.pinned.len(),
        unpinned,
        nodes: Vec::new(),
    }
}

/// Whether there are handoffs anywhere but directly after the head.
fn are_scattered<'a>(list: impl Iterator<Item = &'a Message>, head_end: usize) -> bool {
    let handoffs = list.enumerate().skip(head_end).filter(|(_, message)| handoff::is_handoff(message));
    handoffs.map(|(at, _)| at).any(|at| at > head_end)
}

/// Returns the sections after the summary: herma's, where a section of the caller replaces one of the same
/// kind.
fn appended(prepared: &Prepared, body: &str, summary: &Summary, note: &ArchiveNote) -> Sections {
    let own: usize = summary.sections.iter().map(Section::chars).sum();
    let mut appended = prepared.appended(summary.writer, note, Record::Written(body.chars().count() + own));
    let redaction = prepared.redaction(summary.writer);
    for own in &summary.sections {
        let own = Section { kind: own.kind, text: redaction.apply(&own.text).into_owned() };
        match appended.list.iter_mut().find(|section| section.kind == own.kind) {
            Some(section) => *section = own,
            None => appended.list.push(own),
        }
    }
    appended.list.retain(|section| !section.text.trim().is_empty());
    appended.list.sort_by_key(|section| section.kind as usize);
    appended
}

/// Shortens a summary that is too long: that of a short handoff by whole sections, if one fits, another at its end.
fn bounded(body: String, chars: usize, is_short: bool) -> String {
    if !longer_than(&body, chars) {
        return body;
    }
    let whole = if is_short { handoff::whole_sections(&body, chars) } else { String::new() };
    if !whole.is_empty() {
        return whole;
    }
    if chars < LEAST_BODY {
        return String::new();
    }
    let kept = head(&body, chars.saturating_sub(CUT_MARK.chars().count() + 1));
    let kept = kept.rsplit_once('\n').map_or(kept, |(lines, _)| lines);
    format!("{}\n{CUT_MARK}", kept.trim_end())
}

fn handoff_text(body: &str, appended: &Sections) -> String {
    let mut all = body.to_owned();
    for section in &appended.list {
        let text = handoff::defused(section.text.trim());
        all.push_str(&format!("\n\n{}\n{text}", section.kind.heading()));
    }
    handoff::with_frame(&all)
}

/// Returns head, gap and the kept messages after it; without a handoff the whole list.
fn joined(prepared: &Prepared, material: &Material<'_>) -> Vec<Placed> {
    let layout = &prepared.layout;
    let kept = |at: usize| Placed { message: layout.pruned[at].clone(), origin: Origin::Input(at) };
    let mut list: Vec<Placed> = layout.stays().map(kept).collect();
    for spilled in &layout.spilled {
        if let Some(placed) = list.iter_mut().rev().find(|placed| placed.origin == Origin::Input(spilled.at)) {
            let chars = spilled.chars * material.shown / 100;
            placed.message = match (material.preview)(spilled.at, chars) {
                Some(block) => placed.message.with_text(&block),
                None => shorten::cut(&placed.message, chars, &material.note.handle),
            };
        }
    }
    if prepared.needs_summary() {
        if let Some(first) = list.first_mut()
            && let Some(noted) = with_note(&first.message)
        {
            first.message = noted;
        }
        let gap = Placed { message: handoff::standalone("", Role::User), origin: Origin::Gap };
        list.insert(layout.start, gap);
    }
    list
}

/// Puts the handoff into the gap, or merges it into the next message.
fn place(list: &mut Vec<Placed>, text: &str, host: Host) {
    let Some(gap) = list.iter().position(|placed| placed.origin == Origin::Gap) else {
        return;
    };
    let role = |at: usize| list.get(at).map(|placed| placed.message.role());
    let prev = gap.checked_sub(1).and_then(role);
    let role = match handoff::placement(prev, role(gap + 1)) {
        _ if !host.takes_merged_handoff => Role::User,
        Placement::User => Role::User,
        Placement::Assistant => Role::Assistant,
        Placement::Merge => {
            if let Some(first) = list.get_mut(gap + 1) {
                first.message = handoff::merged(text, &first.message);
                list.remove(gap);
                return;
            }
            Role::User
        }
    };
    list[gap] = Placed::inserted(handoff::standalone(text, role));
}

/// Returns the system message with the note. Returns `None` if it has the note, or is not a system message.
fn with_note(first: &Message) -> Option<Message> {
    let is_noted = |text: &str| {
        let mut notes = text.split(NOTE_START).skip(1);
        notes.any(|note| note.split(']').next().is_some_and(|note| note.contains(NOTE_WORDS)))
    };
    if !first.is(Role::System) || is_noted(&first.text()) {
        return None;
    }
    let inside = |at: usize, text: String| {
        let span = json::Span { start: at, end: at };
        first.spliced(&[Splice { span, text }])
    };
    let span = first.content_span();
    let end = span.map_or(0, |span| span.end - 1);
    let note = json::encode(SYSTEM_NOTE);
    match first.content() {
        Content::Text(_) if first.text().is_empty() => Some(first.with_content(&note, &[])),
        Content::Text(_) => Some(inside(end, format!("\\n\\n{}", note.trim_matches('"')))),
        Content::Missing | Content::Null => Some(first.with_content(&note, &[])),
        Content::List(parts) => {
            let glue = if parts.is_empty() { "" } else { ", " };
            Some(inside(end, format!("{glue}{}", text_part(SYSTEM_NOTE))))
        }
        Content::Object(_) | Content::Other => None,
    }
}

fn strip_images(list: &mut [Placed], host: Host) {
    let Some(anchor) = images::anchor(list.iter().map(|placed| &placed.message)) else {
        return;
    };
    for placed in list.iter_mut().take(anchor).filter(|placed| host.takes_short(&placed.message)) {
        if let Some(stripped) = images::stripped(&placed.message) {
            placed.message = stripped;
        }
    }
}

/// Returns the list as differences from the input, and the input messages that left or changed.
fn slots(list: Vec<Placed>, input: &[Message]) -> (Vec<Slot>, Vec<Removed>) {
    let mut removed: Vec<Option<Removed>> = (0..input.len()).map(|at| Some(Removed::Dropped(at))).collect();
    let slots = list
        .into_iter()
        .map(|Placed { message, origin }| match origin {
            Origin::New | Origin::Gap => Slot::Inserted(message),
            Origin::Input(index) if input[index].same(&message) => {
                removed[index] = None;
                Slot::Kept(index)
            }
            Origin::Input(index) => {
                removed[index] = Some(Removed::Replaced(index));
                Slot::Replaced { index, message }
            }
        })
        .collect();
    (slots, removed.into_iter().flatten().collect())
}
