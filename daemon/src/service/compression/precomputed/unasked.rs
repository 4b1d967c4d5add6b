//! When a run is made ahead that nobody asked for.
//!
//! Where herma itself writes what a compression needs, it costs nothing but a moment of a processor. It is begun where
//! a session comes near its threshold: by what a check says, or by what was appended, once nobody appends for a
//! moment. Then nothing is left to do for the turn that crosses it but to put the list together.

use std::sync::Arc;
use std::time::{Duration, Instant};

use herma_context::engine::Focus;
use herma_context::{Settings, tokens};

use super::begin::{prepare, write};
use super::{Stage, Writer};
use crate::service::compression::CompressionService;
use crate::service::compression::due::{Due, Reason};
use crate::service::growth::Pace;
use crate::service::session::Session;

/// Percent of the threshold from which a run is begun. What comes until the threshold is in the tail of that run, so
/// it is to be little.
const NEAR: u64 = 90;

/// Nobody appends any more when nobody did for so long.
const CALM: Duration = Duration::from_millis(50);

impl CompressionService {
    /// Begins a run ahead where a check found that a session is near its threshold.
    pub(crate) fn begin_ahead_if_near(self: &Arc<Self>, session: &Arc<Session>, settings: &Settings, due: &Due) {
        let may = matches!(due.reason, Reason::BelowThreshold | Reason::OverThreshold) && !due.compress;
        if may && is_near(due.tokens, due.threshold) && self.asks_nobody(session, settings) {
            self.begin_ahead(session, settings);
        }
    }

    /// Notes that messages were appended, and begins a run ahead once it is calm, if the transcript is near the threshold.
    pub(crate) fn note_appended(self: &Arc<Self>, session: &Arc<Session>, generation: u64, bytes: u64) {
        if !session.growth().appended(generation, bytes) {
            return;
        }
        let (service, session) = (Arc::clone(self), Arc::clone(session));
        tokio::spawn(async move {
            let Some(bytes) = calm(&session).await else { return };
            let Ok(settings) = session.settings().in_force(&service.defaults) else { return };
            let tokens = tokens::of_bytes(bytes);
            let is_near = is_near(tokens, settings.budgets().threshold_tokens);
            if service.defaults.context.enabled && is_near && service.asks_nobody(&session, &settings) {
                service.begin_ahead(&session, &settings);
            }
        });
    }

    /// Whether herma writes by itself what a compression of the session needs.
    fn asks_nobody(&self, session: &Session, settings: &Settings) -> bool {
        settings.engine.writes_itself() || self.chain(session, None).is_at_hand()
    }

    fn begin_ahead(self: &Arc<Self>, session: &Arc<Session>, settings: &Settings) {
        if !session.growth().begins(session.generation()) {
            return;
        }
        let precomputed = &self.prepared.precomputed;
        if let Some((_, Stage::Running)) = precomputed.stage(session, settings, &Focus::Auto) {
            return;
        }
        let (service, session, settings) = (Arc::clone(self), Arc::clone(session), settings.clone());
        let generation = session.generation();
        let name = precomputed.start(&session, generation, settings.clone(), Focus::Auto, Writer::Herma);
        let named = name.clone();
        let task = tokio::spawn(async move {
            let begun = Instant::now();
            let run = async {
                let options = service.options_ahead(&session, &settings, Focus::Auto).await?;
                prepare(&service, &session, &settings, options).await
            };
            match run.await {
                Ok(Some(run)) if run.generation == generation => {
                    write(service, run, named).await;
                    session.growth().took(begun.elapsed(), Instant::now());
                }
                other => {
                    if let Err(error) = other {
                        tracing::debug!(session = session.id, "nothing was made ahead: {error}");
                    }
                    service.prepared.precomputed.remove(&named);
                }
            }
        });
        self.prepared.precomputed.is_done_by(&name, task.abort_handle());
    }
}

/// Waits until nobody appends to a session, and another run may be begun; the bytes that it has then. `None` where it
/// came to another generation meanwhile.
async fn calm(session: &Session) -> Option<u64> {
    let mut bytes = session.growth().bytes();
    let mut pause = CALM;
    loop {
        tokio::time::sleep(pause).await;
        let mut growth = session.growth();
        pause = match growth.pace(bytes, Instant::now()) {
            Pace::Calm { rest: Duration::ZERO } => {
                growth.unwatch();
                return growth.is_of(session.generation()).then_some(bytes);
            }
            Pace::Calm { rest } => rest,
            Pace::Grows => CALM,
        };
        bytes = growth.bytes();
    }
}

fn is_near(tokens: u64, threshold: u64) -> bool {
    u128::from(tokens) * 100 >= u128::from(threshold) * u128::from(NEAR)
}
