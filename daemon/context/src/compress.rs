//! A compression in two phases: [`prepare`] decides, a summarizer writes, [`Prepared::finish`]
//! assembles.
//!
//! A list that is over the threshold ends below it, whatever has to give way for that but the system
//! message, the head and the last exchange; where they leave no room [`Over`] says so.

mod assemble;
mod clean;
mod decide;
mod exchange;
mod fitted;
mod goal;
mod later;
mod layout;
mod over;
mod prepared;
mod pressed;
mod sections;
mod shorten;

pub use assemble::SYSTEM_NOTE;
pub use decide::has_work;
pub(crate) use decide::{Case, decide};
pub use layout::summary_budget;
pub(crate) use layout::{Brief, Layout};
pub use over::{Over, OverPart, Part};
pub use prepared::{Prepared, Spill, prepare, prepare_and};
pub(crate) use shorten::with_text;

use crate::constraints::Update;
use crate::{EngineState, Message};

/// Why there is nothing to compress; the input stands as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Declined {
    /// The list is hardly longer than the head and a tail.
    #[error("too few messages to compress")]
    TooFew,
    /// Head and tail meet.
    #[error("nothing between the head and the tail")]
    NothingBetween,
    /// Even the shortest handoff would be longer than what it replaces.
    #[error("the handoff would be longer than what it replaces")]
    NoGain,
    /// The list is over the threshold, and all of it is what no compression touches.
    #[error("the list is over the threshold, and nothing in it can be made smaller")]
    Incompressible,
}

impl Declined {
    /// What a declined run leaves in the state: head and tail meeting counts as a weak run.
    pub fn note(self, state: &mut EngineState) {
        state.begin_run();
        match self {
            Self::TooFew => {}
            Self::NothingBetween | Self::NoGain | Self::Incompressible => {
                state.ineffective_count = state.ineffective_count.saturating_add(1);
                state.savings_pct = 0.0;
            }
        }
    }
}

/// What a model summarizer is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRequest {
    /// The one user message of the call.
    pub prompt: String,
    /// The most tokens the answer may take.
    pub max_tokens: u64,
    /// The model, only where a summary model is set.
    pub model: Option<String>,
}

/// A summary that somebody wrote, and what herma appends to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The summary's own sections. It is trimmed and redacted here.
    pub body: String,
    /// Sections of the caller's own; one of them stands in the place of the one of its kind that
    /// herma would append.
    pub sections: Vec<Section>,
    /// Who wrote it.
    pub writer: Writer,
}

/// Who wrote a summary, and with that how much of a secret may be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writer {
    /// A model. Of a long secret it was shown the ends, which may stand in the handoff.
    #[default]
    Model,
    /// [`Prepared::extractive_summary`]. Nothing of a secret stands in the handoff.
    Extractive,
}

/// One section that herma appends after a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds; gives the heading.
    pub kind: SectionKind,
    /// Its text below the heading.
    pub text: String,
}

/// What herma appends to summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// Exact paths, commands, errors, numbers.
    Anchors,
    /// Words of the user, verbatim.
    UserMessages,
    /// Rules that hold on.
    Constraints,
    /// Where the replaced messages are.
    Recall,
}

impl SectionKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Anchors, Self::UserMessages, Self::Constraints, Self::Recall];

    /// The heading line.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Anchors => "## Exact References",
            Self::UserMessages => "## Earlier User Messages (verbatim)",
            Self::Constraints => "## Standing Constraints",
            Self::Recall => "## Archived Messages",
        }
    }
}

/// Where the replaced messages were archived, for the reader of the handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveNote {
    /// What a recall call takes.
    pub handle: String,
    /// How many messages are there.
    pub messages: usize,
}

/// The new list, as differences from the input.
#[derive(Clone, Debug)]
pub struct Compressed {
    /// The new list in order.
    pub slots: Vec<Slot>,
    /// The input messages whose text is not in the new list as it was, by index.
    pub removed: Vec<Removed>,
    /// Figures for the report.
    pub numbers: Numbers,
    /// The session's rules from now on.
    pub constraints: Update,
    /// The state afterwards; it holds the summary's body.
    pub state: EngineState,
    /// The text of the handoff, prefix and end marker included; empty without one.
    pub handoff: String,
    /// What keeps the new list over the threshold, if it is.
    pub over: Option<Over>,
}

impl Compressed {
    /// The whole new list; kept messages are those of `input`, which must be the input itself.
    pub fn messages<'a>(&'a self, input: &'a [Message]) -> impl Iterator<Item = &'a Message> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Kept(index) => input.get(*index),
            Slot::Replaced { message, .. } | Slot::Inserted(message) => Some(message),
        })
    }
}

/// One message of the new list.
#[derive(Clone, Debug)]
pub enum Slot {
    /// The input message at this index, byte for byte.
    Kept(usize),
    /// A changed form of the input message at this index.
    Replaced {
        /// Position in the input.
        index: usize,
        /// What stands there now.
        message: Message,
    },
    /// A message that was not in the input.
    Inserted(Message),
}

/// An input message whose text left the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone, and the handoff covers it or nothing answers it.
    Dropped(usize),
    /// A changed form of it is still there.
    Replaced(usize),
}

impl Removed {
    /// Position in the input.
    pub fn index(self) -> usize {
        match self {
            Self::Dropped(index) | Self::Replaced(index) => index,
        }
    }
}

/// Figures of one compression.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Numbers {
    /// Messages of the input.
    pub messages_before: usize,
    /// Messages of the new list.
    pub messages_after: usize,
    /// Chars of the input in the sense of the estimate.
    pub chars_before: usize,
    /// Chars of the new list.
    pub chars_after: usize,
    /// Tokens taken as the size before: the caller's figure, the last prompt, or the estimate.
    pub tokens_before: u64,
    /// The estimate of the new list.
    pub tokens_after: u64,
    /// Messages before the handoff's place.
    pub head: usize,
    /// Input messages after it.
    pub tail: usize,
    /// Messages that pruning made shorter.
    pub pruned: usize,
    /// Messages between head and tail cut.
    pub dropped: usize,
    /// Saved tokens as a percentage of those before.
    pub savings_pct: f64,
    /// Rules that the handoff quotes.
    pub constraints: usize,
    /// Exact references that it lists.
    pub anchors: usize,
}
