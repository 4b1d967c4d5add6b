//! A run on its way: what was asked for, what was decided, and what is to be reported.

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

/// What a caller asks for, apart from the list.
#[derive(Debug)]
pub(super) struct RunOptions {
    /// What the engine is told.
    pub request: CompressRequest,
    /// The summarizers to try, in order.
    pub chain: SummarizerChain,
    /// What becomes of the session.
    pub mode: CompressionMode,
    /// How the answer looks.
    pub form: ReplyForm,
    /// Where the agent is asked for a summary, if it is.
    pub place: Place,
    /// The list with what is opened in it, where anything is; the engine is told the one without.
    pub opened: Option<Arc<OpenList>>,
    /// How the list was translated, where it was; the engine gets the messages.
    pub translation: Option<Arc<Translation>>,
    /// When it was asked for.
    pub started: Instant,
}

/// A run that lacks its summary.
pub(super) struct Run {
    pub session: Arc<Session>,
    /// The session's generation when the run began; any other one ends it.
    pub generation: u64,
    pub prepared: Arc<Prepared>,
    pub chain: SummarizerChain,
    pub mode: CompressionMode,
    pub form: ReplyForm,
    pub place: Place,
    /// The list with what is opened in it, where anything is.
    pub opened: Option<Arc<OpenList>>,
    /// How the list was translated, where it was.
    pub translation: Option<Arc<Translation>>,
    pub started: Instant,
    /// The transcript that the list was read from, if it was.
    pub transcript: Option<KnownTranscript>,
    pub report: RunReport,
    /// What of it is on its way into the archive already.
    pub staged: Option<StagedCompression<Committed>>,
}

impl Run {
    /// Has an engine that asks nobody write what it writes; `None` where somebody else holds the run.
    pub(super) fn write_own(&mut self, policy: &Policy) -> Option<WrittenSummary> {
        let prepared = Arc::get_mut(&mut self.prepared)?;
        self.report.warnings.extend(prepared.write_own(policy));
        let by = if prepared.writes_itself() { Kind::Extractive } else { self.chain.configured() };
        Some(WrittenSummary { body: String::new(), by })
    }
}

impl std::fmt::Debug for Run {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Run").field("session", &self.session.id).finish_non_exhaustive()
    }
}

/// What happened on the way that the report tells.
#[derive(Debug, Clone, Default)]
pub(super) struct RunReport {
    /// A summary model that failed and was left.
    pub aux_failure: Option<AuxFailure>,
    /// Why the last summarizer that was tried wrote nothing.
    pub error: Option<String>,
    /// Quotations that nobody said.
    pub unverified: Vec<String>,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

impl RunReport {
    /// What of it the engine remembers. `fallback` says that another summarizer than the
    /// configured one wrote the summary.
    pub(super) fn notes(&self, fallback: bool) -> RunNotes {
        RunNotes { fallback, error: self.error.clone(), aux_failure: self.aux_failure.clone() }
    }
}

/// A summary that was accepted.
#[derive(Debug, Clone)]
pub(super) struct WrittenSummary {
    /// Its own sections.
    pub body: String,
    /// Who wrote it.
    pub by: Kind,
}

/// What came of keeping a compression, in memory.
#[derive(Debug)]
pub(super) struct Committed {
    /// The session to go on with.
    pub session: Arc<Session>,
    /// It came too often to help.
    pub is_vain: bool,
    /// What is remembered now.
    pub record: EngineRecord,
}
