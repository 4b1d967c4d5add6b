//! The state of a session's engine between two compressions: its settings, its figures, the decision whether to
//! compress now, and the interpretation of a provider's answers and errors.

mod check;
mod errors;
mod tools;
mod usage;

use std::sync::Arc;

use herma_context::breaker::State as BreakerState;
use herma_context::engine::{Engine, EngineState, Plan, PlanRequest};
use herma_context::{Detail, Settings};

pub(crate) use self::check::Weight;
pub(crate) use self::tools::ToolsQuery;
pub(crate) use self::usage::Reported;
use super::caller::Caller;
use super::compression::{CompressionService, Preview, PreviewRequest, due, parse};
use super::engine_record::EngineRecord;
use super::session::Session;
use super::sessions::SessionService;
use super::settings::{SessionDefaults, SessionSettings};
use super::token_correction::TokenCorrection;
use crate::data::clock::unix_now;
use crate::data::error::{Error, Outcome};
use crate::data::names;
use crate::owners::archive::ArchiveHandle;
use crate::owners::blocking::blocking;

/// Queries and configures the engines of sessions.
#[derive(Debug)]
pub(crate) struct ContextService {
    pub defaults: SessionDefaults,
    pub sessions: Arc<SessionService>,
    pub compression: Arc<CompressionService>,
    pub archive: Arc<ArchiveHandle>,
}

/// The state of a session's engine.
#[derive(Debug)]
pub(crate) struct Status {
    /// The settings in force.
    pub settings: Settings,
    /// The session's generation.
    pub generation: u64,
    /// The engine's figures.
    pub engine: EngineState,
    /// Whether the summary model failed, so that the session's own model is used.
    pub uses_main: bool,
    /// The state of the breaker for automatic compression.
    pub breaker: BreakerState,
    /// Seconds until automatic compression is allowed.
    pub wait_s: f64,
    /// Seconds until a failed summarizer is tried again.
    pub cooldown_s: f64,
}

impl ContextService {
    /// Changes the settings of a session. Settings that are absent keep their values.
    pub(crate) async fn configure(&self, caller: &Caller, id: &str, said: SessionSettings) -> Outcome<Status> {
        names::check_all(&[
            ("model", said.model.as_ref()),
            ("summary_model", said.summary_model.as_ref()),
            ("provider", said.provider.as_ref()),
            ("base_url", said.base_url.as_ref()),
            ("api_mode", said.api_mode.as_ref()),
        ])?;
        check_engine(said.engine.as_deref())?;
        self.compression.summarizers.named(said.summarizer.as_deref())?;
        let session = self.sessions.ensure(caller, id).await?;
        let _alone = session.configuring.lock().await;
        let (before, names_a_model) = (session.settings(), said.summary_model.is_some());
        let after = self.sessions.settled(&before, said).await?;
        after.in_force(&self.defaults)?;
        self.sessions.save_settings(&session, after.clone()).await?;
        if after != before {
            self.compression.forget(&session.id);
        }
        if names_a_model || after.model != before.model {
            {
                let mut record = session.record();
                record.uses_main &= !names_a_model;
                // Another model counts tokens differently.
                if after.model != before.model {
                    record.counting = TokenCorrection::default();
                }
            }
            session.post_record(&self.archive);
        }
        self.status_of(&session)
    }

    /// Returns the state of a session's engine.
    pub(crate) async fn status(&self, caller: &Caller, id: &str) -> Outcome<Status> {
        self.status_of(&*self.sessions.inspected(caller, id).await?)
    }

    /// Returns the state of the engine of a loaded session.
    pub(crate) fn status_of(&self, session: &Session) -> Outcome<Status> {
        let settings = session.settings().in_force(&self.defaults)?;
        let chain = self.compression.summarizers_of(session, None);
        let (record, now) = (session.record().clone(), unix_now());
        let (breaker, wait_s) = due::breaker(&self.defaults.context, &settings, &record, now);
        Ok(Status {
            generation: session.generation(),
            breaker,
            wait_s,
            cooldown_s: due::cooldown_s(&record, &chain, now),
            uses_main: record.uses_main,
            engine: record.engine,
            settings,
        })
    }

    /// Resets the record of a session's engine. Its list, its generation and its rules stay.
    pub(crate) async fn reset(&self, caller: &Caller, id: &str) -> Outcome<Status> {
        let session = self.sessions.ensure(caller, id).await?;
        let settings = session.settings().in_force(&self.defaults);
        self.compression.forget(&session.id);
        *session.record() = EngineRecord::default();
        let shared = Arc::clone(&session);
        self.archive.save_engine(session.id.clone(), move || shared.record().row()).await?;
        settings.and_then(|_| self.status_of(&session))
    }

    /// Returns what a compression of a session's list would do.
    pub(crate) async fn plan_of(
        &self,
        caller: &Caller,
        id: &str,
        messages: Vec<String>,
        request: PlanRequest,
        detail: Detail,
    ) -> Outcome<Plan> {
        let session = self.sessions.inspected(caller, id).await?;
        let settings = session.settings().in_force(&self.defaults)?.detailed(detail);
        let wishes = self.compression.wishes(&session).await?;
        let has_scattered_handoffs = session.record().engine.has_scattered_handoffs;
        let request = PlanRequest { wishes, has_scattered_handoffs, ..request };
        plan(messages, settings, request).await
    }

    /// Returns what a session's list would look like after a compression.
    pub(crate) async fn preview_of(&self, caller: &Caller, id: &str, wanted: PreviewRequest) -> Outcome<Preview> {
        let session = self.sessions.inspected(caller, id).await?;
        let settings = session.settings().in_force(&self.defaults)?;
        self.compression.preview(Some(&session), settings, wanted).await
    }

    /// Returns what a list without a session would look like after a compression.
    pub(crate) async fn preview_with(&self, said: SessionSettings, wanted: PreviewRequest) -> Outcome<Preview> {
        check_engine(said.engine.as_deref())?;
        self.compression.preview(None, said.in_force(&self.defaults)?, wanted).await
    }

    /// Returns what a compression of a list without a session would do.
    pub(crate) async fn plan_with(
        &self,
        said: SessionSettings,
        messages: Vec<String>,
        request: PlanRequest,
        detail: Detail,
    ) -> Outcome<Plan> {
        check_engine(said.engine.as_deref())?;
        plan(messages, said.in_force(&self.defaults)?.detailed(detail), request).await
    }
}

async fn plan(messages: Vec<String>, settings: Settings, request: PlanRequest) -> Outcome<Plan> {
    blocking("context.plan", move || Ok(settings.engine.plan(&parse(messages), &settings, &request))).await
}

fn check_engine(engine: Option<&str>) -> Outcome<()> {
    match engine.filter(|name| Engine::from_name(name).is_none()) {
        None => Ok(()),
        Some(other) => {
            let known: Vec<String> = Engine::NAMED.iter().map(|(name, _)| format!("{name:?}")).collect();
            Err(Error::param("engine", format!("{other:?} is not one; there is {}", known.join(", "))))
        }
    }
}
