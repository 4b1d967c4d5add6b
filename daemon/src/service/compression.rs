//! Compressions, which turn a long list into a shorter one.
//!
//! A run has several phases, each in its own file. [`begin`] gets the list and lets the engine decide which messages to
//! replace. [`writing`] tries one summarizer after the other, and the engine checks the result. [`commit`] builds the
//! new list, and stores the messages that left the old one in the archive before the client gets an answer. Nothing
//! changes between the phases. So a run can be dropped at any time before it reaches the archive; after that, the
//! archive's thread finishes it. If the summary is available at once, the archive begins to store while it is written.
//! Outputs that are replaced by previews are stored whole first ([`previews`]).
//!
//! [`tickets`] keeps runs whose summary the agent writes itself, and [`precomputed`] keeps runs made in advance.
//! [`pins`] are messages that must stay, [`discards`] are outputs that may go, and [`episodes`] are finished sub-tasks.
//! [`wishes`] passes all three to the engine. [`rewriting`] lets a model rewrite nodes. [`mod@opened`] puts removed
//! parts back into the list, and [`open_list`] handles them during a compression. [`constraints`] are the rules of a
//! session's user. [`due`] decides when to run, and [`report`] describes the result. [`undo`] restores an earlier list.
//! [`preview`] shows the effect of a run without any change.

mod begin;
mod commit;
mod compress;
mod constraints;
mod discards;
pub(crate) mod due;
mod episodes;
mod health;
mod list;
mod nodes;
mod open_list;
mod opened;
mod pins;
mod precomputed;
mod preview;
mod previews;
mod report;
mod rewriting;
mod run;
mod sent_list;
mod summarizer_chain;
mod tickets;
mod undo;
mod wishes;
mod writing;

use std::borrow::Cow;
use std::sync::Arc;

use herma_guard::Policy;

pub(crate) use self::compress::{Answer, CompressOptions, Reply, ReplyForm, Target};
pub(crate) use self::discards::Discarding;
pub(crate) use self::episodes::{Done, EpisodeStep};
pub(crate) use self::health::Health;
pub(crate) use self::list::parse;
pub(crate) use self::pins::Pinned;
use self::precomputed::PrecomputedRuns;
pub(crate) use self::precomputed::Stage;
pub(crate) use self::preview::{Preview, PreviewRequest};
pub(crate) use self::report::scored;
pub(crate) use self::rewriting::Rewriters;
pub(crate) use self::sent_list::SentList;
use self::summarizer_chain::SummarizerChain;
use self::tickets::Tickets;
pub(crate) use self::undo::EarlierGeneration;
use super::session::{Session, SessionTable};
use super::settings::SessionDefaults;
use super::spilled_outputs::SpilledOutputs;
use crate::data::event::{Event, Phase};
use crate::data::summarizer_kind::Kind;
use crate::owners::archive::ArchiveHandle;
use crate::owners::events::Events;
use crate::owners::stores::Stores;
use crate::owners::summarizer::{Main, Summarizers};

/// Compresses the lists of sessions.
#[derive(Debug)]
pub(crate) struct CompressionService {
    pub defaults: SessionDefaults,
    pub policy: Arc<Policy>,
    /// The largest number of chars that a preview shows of the end of a text.
    pub preview_tail_size: usize,
    pub archive: Arc<ArchiveHandle>,
    pub table: Arc<SessionTable>,
    pub stores: Arc<Stores>,
    pub outputs: Arc<SpilledOutputs>,
    pub summarizers: Arc<Summarizers>,
    pub events: Events,
    pub prepared: PreparedRuns,
    /// The tasks that rewrite nodes.
    pub rewriters: Rewriters,
    /// The health of the summarizers.
    pub health: Health,
}

/// Runs that stopped half-way and can be resumed.
#[derive(Debug, Default)]
pub(crate) struct PreparedRuns {
    /// Runs that wait for a summary by the agent.
    tickets: Arc<Tickets>,
    /// Runs made in advance.
    precomputed: Arc<PrecomputedRuns>,
}

impl CompressionService {
    /// Discards all prepared runs of a session.
    pub(crate) fn forget(&self, session: &str) {
        self.prepared.tickets.cancel(session);
        self.prepared.precomputed.forget(session);
    }

    /// Returns the summarizers of a session: the requested one, else the session's own, else the configured chain.
    pub(crate) fn summarizers_of(&self, session: &Session, asked: Option<Kind>) -> Cow<'_, [Kind]> {
        match asked.or_else(|| session.summarizer()) {
            Some(one) => Cow::Owned(vec![one]),
            None => Cow::Borrowed(self.summarizers.chain()),
        }
    }

    /// Returns the first summarizer of the configured chain, and its health.
    pub(crate) fn health(&self) -> (Kind, String) {
        let kind = self.summarizers.chain().first().copied().unwrap_or(Kind::Extractive);
        (kind, self.health.state(kind))
    }

    fn chain(&self, session: &Session, asked: Option<Kind>) -> SummarizerChain {
        let said = session.settings();
        let gives_up = said.abort_on_summary_failure.unwrap_or(self.defaults.context.abort_on_summary_failure);
        let model = said.summary_model.filter(|model| !model.is_empty() && !session.record().uses_main);
        let main =
            Main { model: said.model, provider: said.provider, base_url: said.base_url, api_mode: said.api_mode };
        SummarizerChain::new(self.summarizers_of(session, asked).into_owned(), model, main, !gives_up)
    }

    /// Publishes that a run entered a phase.
    fn publish_phase(&self, session: &Session, phase: Phase) {
        self.events.publish(Event::CompressionProgress { session: session.id.clone(), phase });
    }
}
