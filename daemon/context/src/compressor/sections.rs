//! The sections that herma appends to a summary: anchors, the user's words, rules, and the handle of the
//! replaced messages.

mod shares;

use std::borrow::Cow;

use hashbrown::HashSet;

use shares::Shares;
pub(super) use shares::is_short;

use crate::anchors::{self, Anchor};
use crate::constants::{END_MARKER, PREFIX, RECALL_EXPAND, RECALL_SEARCH};
use crate::constraints::{self, Constraint, Update};
use crate::episodes::Found;
use crate::episodes::section::Finished;
use crate::handoff::{FRAME_OF_SECTION, Section, SectionKind};
use crate::message::Message;
use crate::redaction::Redaction;
use crate::replaced::Replaced;
use crate::run::ArchiveNote;
use crate::user_messages::{self, UserMessages};
use crate::work::{self, Known, Outline, WorkState};

/// The most percent of a handoff for the state of the work.
const STATE_SHARE: usize = 30;
/// The most percent of a handoff for the lines of finished episodes.
const EPISODES_SHARE: usize = 10;
/// Room for the line with the handle of the messages, its heading included, in chars.
const RECALL_CHARS: usize = 520;
/// The same in a short handoff.
const SHORT_RECALL_CHARS: usize = 200;
/// The most handles of earlier compressions in the line, the newest ones.
const MAX_HANDLES: usize = 8;
/// The words before the handle.
const HANDLE_WORDS: &str = "under the handle ";
/// The words before earlier handles.
const EARLIER_WORDS: &str = " Earlier ones: ";

/// The record before the sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Record {
    /// It is not yet written, and gets the room that the sections leave.
    Coming,
    /// It has so many chars; the sections may fill the rest.
    Written(usize),
}

/// The input of all sections except the rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Material {
    state: WorkState,
    /// The values in the messages that stay.
    stays: Known,
    anchors: Vec<Anchor>,
    said: UserMessages,
    /// Handles of earlier compressions, newest first.
    handles: Vec<String>,
    finished: Finished,
}

/// The messages after the handoff, and the finished episodes that left.
pub(crate) struct Kept<'a> {
    /// Episodes, each with the number of its messages that leave.
    pub(crate) episodes: Vec<(&'a Found, usize)>,
    /// The exact values in the kept messages, in their kept form.
    pub(crate) known: Known,
    /// The kept outputs that become shorter, without secrets, each with the text that is left of it.
    pub(crate) shortened: Vec<(Message, String)>,
    /// The number of user messages that later ones replaced.
    pub(crate) left_out: usize,
    /// The turns and the kept messages after the handoff, unpruned, in order, without secrets. Their pruned
    /// forms may be shorter.
    pub(crate) all: Vec<Message>,
}

/// Builds the material from the turns of the summary, unpruned and without their secrets, and from the
/// sections of the earlier handoff.
pub(crate) fn gather(
    turns: &[Message],
    kept: Kept<'_>,
    carried: &[Section],
    (replaced, redaction): (&Replaced, Redaction),
) -> Material {
    let turns: Vec<&Message> = turns.iter().collect();
    // What a kept output loses is as lost as what leaves the list.
    let losing: Vec<&Message> = turns.iter().copied().chain(kept.shortened.iter().map(|(whole, _)| whole)).collect();
    let carried =
        |kind| carried.iter().find(|section| section.kind == kind).map_or("", |section| section.text.as_str());
    // A masked secret would be masked again, and shorter.
    let clean = |kind| match redaction {
        Redaction::Full => redaction.apply(carried(kind)),
        Redaction::On | Redaction::Off => carried(kind).into(),
    };
    let (anchors, said) = (clean(SectionKind::Anchors), clean(SectionKind::UserMessages));
    let mut known = anchors::parse(&anchors);
    known.retain(|(_, text)| !replaced.has(text));
    let mut quoted = user_messages::parse(&said);
    let before = quoted.texts.len();
    quoted.texts.retain(|text| !replaced.has(text));
    quoted.hidden += kept.left_out + before - quoted.texts.len();
    let state = clean(SectionKind::State);
    let ((anchors, said), state) = rayon::join(
        || {
            rayon::join(
                || {
                    let mut anchors = anchors::gather(&losing, &known, redaction);
                    anchors.retain(|anchor| !kept.shortened.iter().any(|(_, left)| left.contains(&anchor.text)));
                    anchors
                },
                || user_messages::gather(&turns, quoted, Redaction::Off),
            )
        },
        || WorkState::read(&kept.all, work::parse(&state)),
    );
    let mut finished = Finished::parse(&clean(SectionKind::Episodes));
    for (episode, messages) in kept.episodes {
        let outcome = episode.outcome.as_deref().map(|outcome| redaction.apply(outcome));
        finished.add(&redaction.apply(&episode.title), outcome.as_deref(), messages);
    }
    Material { state, stays: kept.known, anchors, said, handles: handles(carried(SectionKind::Recall)), finished }
}

/// Returns the caller's rules, further rules of a handoff in the list, and the changes in the messages. `now`
/// is in Unix seconds.
pub(crate) fn rules(messages: &[Message], carried: &[Section], known: &[Constraint], now: f64) -> Update {
    let listed = carried.iter().find(|section| section.kind == SectionKind::Constraints);
    // A handoff quotes rules with their secrets masked or removed.
    let forms = |rule: &Constraint| {
        [Redaction::On, Redaction::Full].map(|redaction| constraints::id(&redaction.apply(&rule.text)))
    };
    let shown: HashSet<String> = known.iter().flat_map(forms).collect();
    let mut all = known.to_vec();
    for rule in constraints::parse(listed.map_or("", |section| &section.text), now) {
        if !shown.contains(&rule.id) && !all.iter().any(|known| known.id == rule.id) {
            all.push(rule);
        }
    }
    let update = constraints::update(&all, messages, now);
    Update { changed: update.constraints != known, ..update }
}

/// The sections of a handoff and their counts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sections {
    /// The sections in their order, none of them empty.
    pub(crate) list: Vec<Section>,
    /// The number of anchors.
    pub(crate) anchors: usize,
    /// The number of rules.
    pub(crate) constraints: usize,
    /// Chars of names beyond the handoff's limit.
    pub(crate) beyond: usize,
}

/// The most chars of a handoff's parts.
#[derive(Clone, Copy)]
pub(crate) struct SectionRoom {
    /// The whole handoff, without names beyond it.
    pub(crate) limit: usize,
    /// Names that are nowhere else in the list, beyond the limit.
    pub(crate) names: usize,
    /// Sections of the caller.
    pub(crate) reserved: usize,
}

impl Sections {
    /// Returns the chars of the sections within the handoff's limit, headings and blank lines included.
    pub(crate) fn chars(&self) -> usize {
        self.list.iter().map(Section::chars).sum::<usize>().saturating_sub(self.beyond)
    }

    fn push(&mut self, kind: SectionKind, text: String) {
        if !text.trim().is_empty() {
            self.list.push(Section { kind, text });
        }
    }
}

/// Returns the chars of a handoff without the record and herma's sections.
pub(crate) fn frame_chars() -> usize {
    PREFIX.chars().count() + END_MARKER.chars().count() + FRAME_OF_SECTION
}

impl Material {
    /// Adds exact references from other lists.
    pub(crate) fn add_references<'a>(&mut self, lists: impl Iterator<Item = &'a str>) {
        self.anchors = anchors::with_lists(std::mem::take(&mut self.anchors), lists);
    }

    /// Returns the sections of a handoff with this room, less the record. `rules` are in the form that the handoff
    /// may show.
    pub(crate) fn sections(
        &self,
        room: SectionRoom,
        record: Record,
        note: &ArchiveNote,
        rules: &[Constraint],
    ) -> Sections {
        let SectionRoom { limit, names, reserved } = room;
        let recall = self.recall(note, is_short(limit));
        let recall_chars = taken(&recall, SectionKind::Recall);
        let base = limit.saturating_sub(frame_chars() + recall_chars);
        let shares = Shares { limit, base };
        let rules = constraints::render(rules, minus_heading(shares.rules(), SectionKind::Constraints));
        let said = if is_short(limit) {
            let shown: HashSet<String> =
                constraints::parse(&rules.text, 0.0).into_iter().map(|rule| rule.text).collect();
            Cow::Owned(self.said.without(|text| shown.contains(text)))
        } else {
            Cow::Borrowed(&self.said)
        };
        let finished = self.finished.render(inside(limit, EPISODES_SHARE, SectionKind::Episodes));
        let others = reserved + taken(&rules.text, SectionKind::Constraints) + taken(&finished, SectionKind::Episodes);
        let outline = Outline::of(&self.state);
        let kept = match outline.chars() {
            0 => 0,
            chars => {
                // The least room of the record and of the user's words comes first.
                let least = shares.record().min(base / 4) + 2 * shares.floor();
                let free = base.saturating_sub(others + least);
                (limit / 100 * STATE_SHARE).min(chars + heading_chars(SectionKind::State)).min(free)
            }
        };
        let room = shares.room(record, others + kept);
        // The user's words come before entities that the state only names.
        let lent = kept.saturating_sub(outline.needed_chars() + heading_chars(SectionKind::State));
        let render = if is_short(limit) { user_messages::render_short } else { user_messages::render };
        // The section on archived messages has the handle.
        let handle = if is_short(limit) { "" } else { note.handle.as_str() };
        let words = |chars| render(&said, minus_heading(chars, SectionKind::UserMessages), handle);
        let user = words(room.user + lent);
        let left = room.both.saturating_sub(taken(&user.text, SectionKind::UserMessages).min(room.user));
        let known_text = format!("{}\n{}", user.text, rules.text);
        let anchors = anchors::render(&self.anchors, minus_heading(left, SectionKind::Anchors), &known_text);
        // The user's words also get the room that the anchors leave.
        let user = words((room.user.max(room.both.saturating_sub(taken(&anchors.text, SectionKind::Anchors)))) + lent);
        let mut known = Known::default();
        [&user.text, &rules.text, &anchors.text].into_iter().for_each(|text| known.add(text));
        let used = [(&user.text, SectionKind::UserMessages), (&anchors.text, SectionKind::Anchors)];
        let used: usize = used.into_iter().map(|(text, kind)| taken(text, kind)).sum();
        let left = (kept + room.both).saturating_sub(used);
        let state = outline.render(minus_heading(left + names, SectionKind::State), &[&self.stays, &known]);
        let beyond = taken(&state, SectionKind::State).saturating_sub(left);
        let mut sections = Sections { anchors: anchors.count, constraints: rules.shown, beyond, ..Sections::default() };
        sections.push(SectionKind::State, state);
        sections.push(SectionKind::Anchors, anchors.text);
        sections.push(SectionKind::UserMessages, user.text);
        sections.push(SectionKind::Constraints, rules.text);
        sections.push(SectionKind::Episodes, finished);
        sections.push(SectionKind::Recall, recall);
        sections
    }

    /// Returns the chars of all user messages.
    pub(crate) fn said_chars(&self) -> usize {
        self.said.texts.iter().map(|text| text.chars().count()).sum()
    }

    /// Returns the line with the handle of the replaced messages, in few words if the handoff is short.
    fn recall(&self, note: &ArchiveNote, is_short: bool) -> String {
        let ArchiveNote { handle, messages } = note;
        let (mut text, most) = match (messages, is_short) {
            (0, _) => return String::new(),
            (_, true) => {
                let text = format!("{messages} messages are {HANDLE_WORDS}{handle}. {RECALL_EXPAND} gives them back.");
                (text, SHORT_RECALL_CHARS)
            }
            (_, false) => {
                let text = format!(
                    "The {messages} messages that this record replaces are kept word for word in the archive, \
                     {HANDLE_WORDS}{handle}. {RECALL_EXPAND} with a handle gives them back, {RECALL_SEARCH} finds what \
                     was said in them."
                );
                (text, RECALL_CHARS)
            }
        };
        let mut before = EARLIER_WORDS;
        for handle in self.handles.iter().filter(|handle| **handle != note.handle).take(MAX_HANDLES) {
            let more = text.chars().count() + before.len() + handle.chars().count() + " .".len();
            if more > most {
                break;
            }
            text.push_str(&format!("{before}{handle}"));
            before = ", ";
        }
        if before != EARLIER_WORDS {
            text.push('.');
        }
        text
    }
}

fn heading_chars(kind: SectionKind) -> usize {
    kind.heading().len() + FRAME_OF_SECTION
}

/// Returns the chars of a section with its heading; 0 for an empty one.
fn taken(text: &str, kind: SectionKind) -> usize {
    if text.is_empty() { 0 } else { text.chars().count() + heading_chars(kind) }
}

fn minus_heading(room: usize, kind: SectionKind) -> usize {
    room.saturating_sub(heading_chars(kind))
}

/// Returns the most chars of a section's text under a share.
fn inside(limit: usize, share: usize, kind: SectionKind) -> usize {
    minus_heading(limit / 100 * share, kind)
}

/// Returns the handles in a recall line, newest first.
pub(super) fn handles(text: &str) -> Vec<String> {
    let after = |words: &str| text.split_once(words).map_or("", |(_, rest)| rest);
    let newest = after(HANDLE_WORDS).split(['.', ' ', '\n']).next().unwrap_or("");
    let earlier = after(EARLIER_WORDS).trim_end().trim_end_matches('.').split(", ");
    std::iter::once(newest).chain(earlier).filter(|handle| !handle.is_empty()).map(str::to_owned).collect()
}
