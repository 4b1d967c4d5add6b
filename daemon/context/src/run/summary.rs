//! A summary: what is asked of those who write one, and what they wrote.

use crate::handoff::Section;

/// What a model summarizer is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRequest {
    /// The one user message of the call.
    pub prompt: String,
    /// The most tokens the answer may take.
    pub max_tokens: u64,
    /// The model, only where a summary model is set.
    pub model: Option<String>,
    /// Where the message goes.
    pub place: Place,
}

/// Where the message of a [`SummaryRequest`] goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// It is the whole conversation of a call of its own, and holds all that is to be read.
    #[default]
    Alone,
    /// Behind the list, which is sent as it is, so that the provider knows all before it from the last call.
    BehindList,
}

/// A summary as it was written, and what is to stand behind it.
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
    /// The engine itself, from what can be quoted. Nothing of a secret stands in the handoff.
    Extractive,
}

/// Where the replaced messages were archived, for the reader of the handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveNote {
    /// What a recall call takes.
    pub handle: String,
    /// How many messages are there.
    pub messages: usize,
}
