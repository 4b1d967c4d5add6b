//! Compressions: how a long list becomes a shorter one.
//!
//! A run goes through phases, each in a file of its own. [`begin`] takes the list and has the
//! engine decide what would be replaced; [`writing`] asks one summarizer after the other, and
//! the engine checks what it wrote; [`commit`] puts the new list together and has the archive
//! keep what left the old one, before anybody gets it. Between the phases nothing is changed, so
//! a run can be dropped anywhere before the archive is asked; once it was, its thread finishes
//! alone. Where the summary comes at once, the archive begins while it is written; outputs that
//! become previews are kept whole first ([`previews`]).
//!
//! [`tickets`] keeps runs whose summary the agent writes itself, [`precomputed`] those that were
//! made while nobody waited. [`pins`] are messages that stay, [`discards`] outputs that may go,
//! [`episodes`] sub-tasks that are done ([`wishes`]: all three, as an engine is told), [`rewriting`] nodes that a model writes
//! anew, [`mod@opened`] parts that stand in the list again ([`open_list`]: while it is compressed), [`constraints`] the rules of
//! a session's user; [`due`] decides when to run, [`report`] tells what came of it. [`undo`] brings the list of before
//! back, [`preview`] says what a run would do, and does nothing.

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

pub(crate) use self::compress::{Answer, Asked, Reply, ReplyForm, Target};
pub(crate) use self::discards::Discarding;
pub(crate) use self::episodes::{Done, EpisodeStep};
pub(crate) use self::health::Health;
pub(crate) use self::list::parse;
pub(crate) use self::pins::Pinned;
use self::precomputed::PrecomputedRuns;
pub(crate) use self::precomputed::Stage;
pub(crate) use self::preview::{Preview, PreviewRequest};
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
    /// Chars of a text's end that a preview shows at the most.
    pub preview_tail_size: usize,
    pub archive: Arc<ArchiveHandle>,
    pub table: Arc<SessionTable>,
    pub stores: Arc<Stores>,
    pub outputs: Arc<SpilledOutputs>,
    pub summarizers: Arc<Summarizers>,
    pub events: Events,
    pub prepared: PreparedRuns,
    /// Who writes nodes anew.
    pub rewriters: Rewriters,
    /// How the summarizers do.
    pub health: Health,
}

/// Runs that stopped half-way, to be gone on with.
#[derive(Debug, Default)]
pub(crate) struct PreparedRuns {
    /// Runs that wait for a summary of the agent.
    tickets: Arc<Tickets>,
    /// Runs that were made ahead.
    precomputed: Arc<PrecomputedRuns>,
}

impl CompressionService {
    /// Nothing that was prepared for a session counts any more.
    pub(crate) fn forget(&self, session: &str) {
        self.prepared.tickets.void(session);
        self.prepared.precomputed.forget(session);
    }

    /// The summarizers of a session: the one that is asked for, else its own, else those of the
    /// configuration.
    pub(crate) fn summarizers_of(&self, session: &Session, asked: Option<Kind>) -> Cow<'_, [Kind]> {
        match asked.or_else(|| session.summarizer()) {
            Some(one) => Cow::Owned(vec![one]),
            None => Cow::Borrowed(self.summarizers.chain()),
        }
    }

    /// The summarizer that is asked first unless a session says otherwise, and how it does.
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

    /// Tells subscribers that a run has come to a phase.
    fn publish_phase(&self, session: &Session, phase: Phase) {
        self.events.publish(Event::CompressionProgress { session: session.id.clone(), phase });
    }
}
