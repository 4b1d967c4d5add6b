//! A run in progress: its options, its decisions and its report.

use std::sync::Arc;
use std::time::Instant;

use herma_context::engine::{AuxFailure, CompressRequest, Place, Prepared, RunNotes};
use herma_context::forms::Translation;
use herma_guard::Policy;

use super::ReplyForm;
use super::open_list::OpenList;
use super::summarizer_chain::SummarizerChain;
use crate::data::config::CompressionMode;
use crate::data::summarizer_kind::Kind;
use crate::owners::archive::{KnownTranscript, StagedCompression};
use crate::service::engine_record::EngineRecord;
use crate::service::session::Session;

/// The options of a run, without the list.
#[derive(Debug)]
pub(super) struct RunOptions {
    /// The request for the engine.
    pub request: CompressRequest,
    /// The summarizers to try, in order.
    pub chain: SummarizerChain,
    /// The session that continues afterwards.
    pub mode: CompressionMode,
    /// The form of the answer.
    pub form: ReplyForm,
    /// Where the summary prompt for the agent goes, if the agent writes the summary.
    pub place: Place,
    /// The list with its opened parts, if there are any. The engine gets the list without them.
    pub opened: Option<Arc<OpenList>>,
    /// The translation of the list, if it needed one. The engine gets the translated messages.
    pub translation: Option<Arc<Translation>>,
    /// The time of the request.
    pub started: Instant,
}

/// A run that still needs its summary.
pub(super) struct Run {
    pub session: Arc<Session>,
    /// The session's generation when the run began. A different one ends the run.
    pub generation: u64,
    pub prepared: Arc<Prepared>,
    pub options: RunOptions,
    /// The transcript from which the list was read, if it was.
    pub transcript: Option<KnownTranscript>,
    pub report: RunReport,
    /// The part of the compression that the archive already stores.
    pub staged: Option<StagedCompression<Committed>>,
}

impl Run {
    /// Lets an engine that needs no other party write its summary; `None` if another task shares the run.
    pub(super) fn write_summary(&mut self, policy: &Policy) -> Option<WrittenSummary> {
        let prepared = Arc::get_mut(&mut self.prepared)?;
        self.report.warnings.extend(prepared.write_summary(policy));
        let by = if prepared.needs_no_summarizer() { Kind::Extractive } else { self.options.chain.configured() };
        Some(WrittenSummary { body: String::new(), by })
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Run").field("session", &self.session.id).finish_non_exhaustive()
    }
}

/// Facts about the run for its report.
#[derive(Debug, Clone, Default)]
pub(super) struct RunReport {
    /// The summary model that failed, so that the run went on without it.
    pub aux_failure: Option<AuxFailure>,
    /// Why the last summarizer that was tried wrote nothing.
    pub error: Option<String>,
    /// Quotations that do not occur in the conversation.
    pub unverified: Vec<String>,
    /// Warnings for the caller.
    pub warnings: Vec<String>,
}

impl RunReport {
    /// Returns the notes for the engine's record. `fallback` says that a summarizer other than the configured one wrote
    /// the summary.
    pub(super) fn notes(&self, fallback: bool) -> RunNotes {
        RunNotes { fallback, error: self.error.clone(), aux_failure: self.aux_failure.clone() }
    }
}

/// A summary that passed the checks.
#[derive(Debug, Clone)]
pub(super) struct WrittenSummary {
    /// The text of its own sections.
    pub body: String,
    /// The summarizer that wrote it.
    pub by: Kind,
}

/// The result of storing a compression, in memory.
#[derive(Debug)]
pub(super) struct Committed {
    /// The session with which the client continues.
    pub session: Arc<Session>,
    /// Whether the compressions follow each other too often to help.
    pub is_ineffective: bool,
    /// The engine's record after the compression.
    pub record: EngineRecord,
}
