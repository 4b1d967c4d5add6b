//! Compressions: how a long list becomes a shorter one.
//!
//! A run goes through phases, each in a file of its own. [`collect`] takes the list;
//! [`job`] has the engine decide what would be replaced; [`chain`] asks one summarizer
//! after the other, and [`verify`] checks what it wrote; [`commit`] puts the new list
//! together and has the archive keep what left the old one, before anybody gets it.
//! Between the phases nothing is changed, so a run can be dropped anywhere before the
//! archive is asked; once it was, its thread finishes alone. Where the summary comes at
//! once, [`stage`] has the archive begin while it is written; outputs that become
//! previews are kept whole first ([`previews`]).
//!
//! [`tickets`] keeps runs whose summary the agent writes itself, [`ahead`] those that
//! were made while nobody waited. [`kept`] is what a session remembers, [`rules`]
//! are its user's, [`due`] decides when to run.

pub(crate) mod ahead;
pub(crate) mod chain;
pub(crate) mod collect;
pub(crate) mod commit;
pub(crate) mod counting;
pub(crate) mod due;
mod health;
pub(crate) mod job;
pub(crate) mod kept;
mod previews;
pub(crate) mod rules;
pub(crate) mod stage;
mod streak;
pub(crate) mod tickets;
mod verify;

use std::sync::Arc;

use herma_protocol::notification::{CompressionProgress, Phase};

use self::ahead::Aheads;
use self::health::Health;
use self::tickets::Tickets;
use crate::service::session::Session;
use crate::wire::state::State;

/// What the daemon knows of compressions beside the sessions themselves.
#[derive(Debug, Default)]
pub(crate) struct Compressions {
    /// Those that wait for a summary.
    pub tickets: Arc<Tickets>,
    /// Those that were made ahead.
    pub aheads: Arc<Aheads>,
    /// How the summarizers do.
    pub health: Health,
}

impl Compressions {
    /// Nothing that was prepared for a session counts any more.
    pub(crate) fn forget(&self, session: &str) {
        self.tickets.void(session);
        self.aheads.forget(session);
    }
}

/// Tells whoever wants to know that a run has come to a phase.
fn tell(state: &State, session: &Session, phase: Phase) {
    let done = match phase {
        Phase::Prune => 0.0,
        Phase::Summarise => 0.2,
        Phase::Check => 0.7,
        Phase::Assemble => 0.8,
    };
    state.events.compression_progress(CompressionProgress { session: session.id.clone(), phase, done });
}
