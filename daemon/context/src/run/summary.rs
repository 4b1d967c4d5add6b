//! A summary: the request to its writer, and the result.

use crate::handoff::Section;

/// The request to a model summarizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SummaryRequest {
    /// The one user message of the call.
    pub prompt: String,
    /// The most tokens of the answer.
    pub max_tokens: u64,
    /// The model, only if a summary model is set.
    pub model: Option<String>,
    /// The place of the message.
    pub place: Place,
}

/// The place of the message of a [`SummaryRequest`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Place {
    /// It is the only message of its own call, and contains everything to read.
    #[default]
    Alone,
    /// After the list, which is sent unchanged, so that the provider has it cached from the last call.
    BehindList,
}

/// A summary as written, and the sections after it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// The summary's own sections. It is trimmed and redacted here.
    pub body: String,
    /// Sections of the caller; each replaces herma's section of the same kind.
    pub sections: Vec<Section>,
    /// The writer of the summary.
    pub writer: Writer,
}

/// The writer of a summary, which determines how secrets are handled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writer {
    /// A model. It saw the two ends of a long secret, and these may be in the handoff.
    #[default]
    Model,
    /// The engine itself, with quotations. The handoff contains nothing of a secret.
    Extractive,
}

/// The archive entry of the replaced messages, for the reader of the handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveNote {
    /// The handle for a recall call.
    pub handle: String,
    /// The number of messages in the entry.
    pub messages: usize,
}
