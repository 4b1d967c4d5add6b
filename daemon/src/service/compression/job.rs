//! A run on its way: what was decided, and what is to be reported.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use herma_context::{AuxFailure, CompressRequest, Declined, Message, Prepared, Settings, prepare_and};
use herma_protocol::context::ReplyForm;
use herma_protocol::notification::Phase;

use super::chain::Chain;
use super::stage::Stage;
use super::{ahead, collect, tell};
use crate::data::config::CompressionMode;
use crate::data::error::Outcome;
use crate::service::session::Session;
use crate::wire::handler::blocking;
use crate::wire::state::State;

/// What a caller asks for, apart from the list.
#[derive(Debug)]
pub(crate) struct Wish {
    /// What the engine is told.
    pub request: CompressRequest,
    /// The summarizers to try, in order.
    pub chain: Chain,
    /// What becomes of the session.
    pub mode: CompressionMode,
    /// How the answer looks.
    pub form: ReplyForm,
    /// When it was asked for.
    pub started: Instant,
}

/// A run that lacks its summary.
pub(crate) struct Job {
    pub session: Arc<Session>,
    /// The session's generation when the run began; any other one ends it.
    pub generation: u64,
    pub prepared: Arc<Prepared>,
    pub chain: Chain,
    pub mode: CompressionMode,
    pub form: ReplyForm,
    pub started: Instant,
    pub account: Account,
    /// What of it is on its way into the archive already.
    pub stage: Option<Stage>,
}

impl std::fmt::Debug for Job {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Job").field("session", &self.session.id).finish_non_exhaustive()
    }
}

/// What happened on the way that the report tells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Account {
    /// A summary model that failed and was left.
    pub aux_failure: Option<AuxFailure>,
    /// Why the last summarizer that was tried wrote nothing.
    pub error: Option<String>,
    /// Quotations that nobody said.
    pub unverified: Vec<String>,
    /// What the caller should know.
    pub warnings: Vec<String>,
}

/// A summary that was accepted.
#[derive(Debug, Clone)]
pub(crate) struct Text {
    /// Its own sections.
    pub body: String,
    /// Who wrote it.
    pub by: crate::data::summarizer_kind::Kind,
}

/// What the first phases come to.
pub(crate) enum Begun {
    /// There is too little to compress, or nothing.
    Declined { why: Declined, input: Arc<[Message]> },
    /// A summary is to be written.
    Job(Box<Job>),
    /// One was written ahead, and the list only grew since; or none is needed.
    Ready(Box<Job>, Text),
}

/// Takes the list and decides what would be replaced.
pub(crate) async fn begin(
    state: &Arc<State>,
    session: &Arc<Session>,
    settings: Settings,
    texts: Vec<String>,
    wish: Wish,
) -> Outcome<Begun> {
    tell(state, session, Phase::Prune);
    let kept = session.kept().engine.clone();
    let generation = session.generation();
    let ready = state.compressions.aheads.take(&session.id, generation, &settings, &wish);
    let (state, session) = (Arc::clone(state), Arc::clone(session));
    blocking("context.compress", move || {
        let Wish { request, chain, mode, form, started } = wish;
        let is_at_hand = chain.is_at_hand() && mode == CompressionMode::InPlace;
        let early = Arc::clone(&session);
        let job = |prepared, chain, account, stage| {
            let prepared = Arc::new(prepared);
            Box::new(Job { session, generation, prepared, chain, mode, form, started, account, stage })
        };
        let texts = match ready {
            None => texts,
            Some(ready) => match ahead::continued(*ready, texts, &kept, &request)? {
                ahead::Continued::Fits { prepared, text, account } => {
                    return Ok(Begun::Ready(job(*prepared, chain, account, None), text));
                }
                ahead::Continued::Differs(texts) => texts,
            },
        };
        let messages = collect::parse(texts);
        let mut stage = None;
        let leaving = |middle: Range<usize>| {
            if let Some(leaving) = messages.get(middle.clone()).filter(|_| is_at_hand) {
                stage = Stage::begin(&state, &early, generation, middle.start, leaving.to_vec());
            }
        };
        Ok(match prepare_and(&messages, &settings, &kept, &request, leaving) {
            Err(why) => Begun::Declined { why, input: messages.into() },
            Ok(prepared) if !prepared.needs_summary() => {
                let text = Text { body: String::new(), by: chain.configured() };
                Begun::Ready(job(prepared, chain, Account::default(), None), text)
            }
            Ok(prepared) => Begun::Job(job(prepared, chain, Account::default(), stage)),
        })
    })
    .await
}
