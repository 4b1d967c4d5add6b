//! Runs in advance that no client requested.
//!
//! If herma itself writes the summary, a run costs only a moment of processor time. It begins when a session comes near
//! its threshold: after a check, or by the size of the transcript once appends pause. For the turn that crosses the
//! threshold, only the list remains to be built.

use std::sync::Arc;
use std::time::{Duration, Instant};

use herma_context::engine::Focus;
use herma_context::{Settings, tokens};

use super::begin::{prepare, write};
use super::{RunGuard, RunOrigin};
use crate::data::error::Outcome;
use crate::service::compression::CompressionService;
use crate::service::compression::due::{Due, Reason};
use crate::service::growth::Pace;
use crate::service::session::Session;

/// The percentage of the threshold at which a run begins. Messages between this point and the threshold go into the
/// tail of that run, so they should be few.
const NEAR: u64 = 90;

/// The size of a transcript from which its compression takes long enough to be worth a run in advance, in bytes.
const LEAST_BYTES: u64 = 128 << 10;

/// How long appends must pause before a run begins.
const CALM: Duration = Duration::from_millis(50);

impl CompressionService {
    /// Begins a run if a check found that the session is near its threshold.
    pub(crate) fn begin_ahead_if_near(self: &Arc<Self>, session: &Arc<Session>, settings: &Settings, due: &Due) {
        let may = matches!(due.reason, Reason::BelowThreshold | Reason::OverThreshold) && !due.compress;
        if may && is_near(due.tokens, due.threshold) && self.needs_no_model(session, settings) {
            self.begin_ahead(session, settings);
        }
    }

    /// Notes appended messages. Once appends pause, begins a run if the transcript is near the threshold.
    pub(crate) fn note_appended(self: &Arc<Self>, session: &Arc<Session>, generation: u64, bytes: u64) {
        if !session.growth().append(generation, bytes) {
            return;
        }
        let (service, session) = (Arc::clone(self), Arc::clone(session));
        tokio::spawn(async move {
            calm(&session).await;
            if let Err(error) = service.look(&session).await {
                tracing::debug!(session = session.id, "nothing was made ahead: {error}");
            }
        });
    }

    /// Begins a run if the transcript's size is near the threshold.
    async fn look(self: &Arc<Self>, session: &Arc<Session>) -> Outcome<()> {
        let settings = session.settings().in_force(&self.defaults)?;
        if !self.defaults.context.enabled || !self.needs_no_model(session, &settings) {
            return Ok(());
        }
        let bytes = self.archive.transcript_bytes(session.id.clone()).await?;
        if bytes >= LEAST_BYTES && is_near(tokens::of_bytes(bytes), settings.budgets().threshold_tokens) {
            self.begin_ahead(session, &settings);
        }
        Ok(())
    }

    /// Whether herma itself writes the summary for a compression of the session.
    pub(super) fn needs_no_model(&self, session: &Session, settings: &Settings) -> bool {
        settings.engine.needs_no_summarizer() || self.chain(session, None).is_at_hand()
    }

    fn begin_ahead(self: &Arc<Self>, session: &Arc<Session>, settings: &Settings) {
        let generation = session.generation();
        if self.prepared.precomputed.is_asked_for(&session.id, generation)
            || !session.growth().begins(generation, Instant::now())
        {
            return;
        }
        let running = Running(Arc::clone(session), Instant::now());
        let started = self.prepared.precomputed.start(
            session,
            settings.clone(),
            Focus::Auto,
            RunOrigin { asked: false, is_quick: true },
        );
        let name = started.name().to_owned();
        let (service, session, settings) = (Arc::clone(self), Arc::clone(session), settings.clone());
        let task = tokio::spawn(async move {
            if let Err(error) = service.make_ahead(&session, &settings, started).await {
                tracing::debug!(session = session.id, "nothing was made ahead: {error}");
            }
            drop(running);
        });
        self.prepared.precomputed.is_done_by(&name, task.abort_handle());
    }

    async fn make_ahead(
        self: &Arc<Self>,
        session: &Arc<Session>,
        settings: &Settings,
        started: RunGuard,
    ) -> Outcome<()> {
        let mut options = self.options_ahead(session, Focus::Auto).await?;
        // The run is used once the session is over its threshold, so it decides as it would then.
        options.request.current_tokens = i64::try_from(settings.budgets().threshold_tokens).ok();
        if let Some(run) = prepare(self, session, settings, options).await? {
            write(self, run, started).await;
        }
        Ok(())
    }
}

/// A run in advance of a session, and its start.
struct Running(Arc<Session>, Instant);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.growth().ended(self.1.elapsed(), Instant::now());
    }
}

/// Waits until appends to a session pause, and another run may begin.
async fn calm(session: &Session) {
    let mut appended = session.growth().appended();
    let mut pause = CALM;
    loop {
        tokio::time::sleep(pause).await;
        let mut growth = session.growth();
        pause = match growth.pace(appended, Instant::now()) {
            Pace::Calm { rest: Duration::ZERO } => return growth.looked(),
            Pace::Calm { rest } => rest,
            Pace::Busy => CALM,
        };
        appended = growth.appended();
    }
}

fn is_near(tokens: u64, threshold: u64) -> bool {
    u128::from(tokens) * 100 >= u128::from(threshold) * u128::from(NEAR)
}
