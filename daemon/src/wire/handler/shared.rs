//! `shared.*`.

use herma_guard::{RedactOptions, redact};
use herma_memory::render::shown;
use herma_protocol::shared::{
    InitParams, InitResult, JoinResult, JoinedStore, LeaveResult, LeftOut, Messages, Outputs, Sessions, State,
    StatusResult, Store,
};
use herma_shared::{SharedError, schema};

use super::memory::wire_target;
use crate::data::config::{Offline, SharedConfig};
use crate::data::error::{Error, Outcome};
use crate::data::numbers::to_u64;
use crate::service::caller::Caller;
use crate::service::memory::{JoinReport, SharedStore, SharedView};
use crate::wire::services::Services;

pub(super) async fn status(services: &Services) -> Outcome<StatusResult> {
    let SharedView { config, database, is_open, link, stores } = services.memory.shared().await?;
    let (address, unusable) = match database {
        None => (None, None),
        Some(Ok(address)) => (Some(address), None),
        Some(Err(words)) => (None, Some(words)),
    };
    let configured = config.is_some();
    let offline = config.as_ref().map_or(Offline::Refuse, |config| config.offline);
    let (host, space) = config.map(|config| (config.host, config.space)).unzip();
    let state = match (configured, &unusable, link.is_up) {
        (false, _, _) => State::Off,
        (_, Some(_), _) | (_, _, Some(false)) => State::Down,
        (_, _, Some(true)) => State::Up,
        (_, _, None) => State::Unknown,
    };
    Ok(StatusResult {
        configured,
        host,
        space,
        database: address,
        open: configured.then_some(is_open),
        state,
        since: link.since,
        error: unusable.or(link.error.map(|error| error.to_string())).map(|words| masked(&words)),
        offline: offline.name().to_owned(),
        stores: stores.into_iter().map(store).collect(),
        messages: messages(services).await,
        outputs: configured.then(|| outputs(services)),
        sessions: sessions(services).await,
        left_out: services.sharing.left_out().iter().map(|words| masked(words)).collect(),
    })
}

fn outputs(services: &Services) -> Outputs {
    Outputs {
        url: services.sharing.outputs_url().map(str::to_owned),
        error: services.sharing.outputs_trouble().map(|error| masked(&error.to_string())),
    }
}

/// Returns how many sessions are not published in their current state; `None` if no session can move to another host.
async fn sessions(services: &Services) -> Option<Sessions> {
    let sharing = services.sharing.as_ref();
    let profiles = sharing.joined_profiles();
    if !sharing.hands_over_any() || profiles.is_empty() {
        return None;
    }
    let waiting = services.archive.count_unsent(profiles).await;
    let (waiting, error) = how_far(waiting, sharing.sessions_trouble());
    Some(Sessions { waiting, error })
}

/// Returns the state of message uploads; `None` if messages are not uploaded or no profile joined.
async fn messages(services: &Services) -> Option<Messages> {
    let trouble = services.memory.outbox_trouble()?;
    let profiles = services.sharing.joined_profiles();
    if profiles.is_empty() {
        return None;
    }
    let waiting = services.archive.unshipped(profiles).await;
    let (waiting, error) = how_far(waiting, trouble);
    Some(Messages { waiting, error })
}

/// Returns the number of waiting items, and the error. If the archive can't be read, the number is unknown and 0.
fn how_far(waiting: Outcome<u64>, trouble: Option<SharedError>) -> (u64, Option<String>) {
    let (waiting, unread) = match waiting {
        Ok(waiting) => (waiting, None),
        Err(error) => (0, Some(error.to_string())),
    };
    let error = unread.or(trouble.map(|error| error.to_string()));
    (waiting, error.map(|words| masked(&words)))
}

pub(super) async fn init(services: &Services, params: InitParams) -> Outcome<InitResult> {
    let InitParams { url, password, role, print } = params;
    let version = to_u64(usize::try_from(schema::VERSION).unwrap_or_default());
    if let Some(name) = role.as_deref().filter(|name| name.is_empty() || name.len() > 63 || name.contains('\0')) {
        return Err(Error::param("role", format!("{name:?} can't be a role of PostgreSQL: 1 to 63 bytes")));
    }
    if print == Some(true) {
        let space =
            services.config.shared.as_ref().map_or(SharedConfig::default().space, |shared| shared.space.clone());
        let grants = role.map(|role| schema::grants(&role, &space)).unwrap_or_default();
        return Ok(InitResult { found: None, version, sql: Some(format!("{}{grants}", schema::sql())) });
    }
    let found = services.memory.init_shared(url.as_deref(), password, role.as_deref()).await?;
    Ok(InitResult { found: Some(to_u64(usize::try_from(found).unwrap_or_default())), version, sql: None })
}

pub(super) async fn join(services: &Services, caller: &Caller) -> Outcome<JoinResult> {
    let policy = services.memory.policy();
    let wire = |brought: JoinReport| {
        let JoinReport { store, waiting } = brought;
        let show = |entry: &herma_memory::Entry| shown(policy, store.target, entry);
        let left_out = store.left_out.iter().zip(waiting).map(|(left_out, waiting)| {
            let why = format!("the store would have {} of {} chars with it", left_out.total, left_out.limit);
            let (pending_id, why) = match waiting {
                Ok(id) => (Some(id), why),
                Err(error) => (None, format!("{why}; it could not be kept to be approved: {error}")),
            };
            LeftOut { entry: show(&left_out.entry), why, pending_id }
        });
        JoinedStore {
            target: wire_target(store.target),
            revision: store.revision,
            found: to_u64(store.found),
            left_out: left_out.collect(),
            brought: store.brought.iter().map(show).collect(),
        }
    };
    let stores = services.memory.join(caller).await?;
    Ok(JoinResult { profile: caller.profile().to_owned(), stores: stores.into_iter().map(wire).collect() })
}

pub(super) async fn leave(services: &Services, caller: &Caller) -> Outcome<LeaveResult> {
    let pending = services.memory.leave(caller).await?;
    Ok(LeaveResult { profile: caller.profile().to_owned(), pending: to_u64(pending) })
}

fn store(store: SharedStore) -> Store {
    Store {
        profile: store.profile,
        target: wire_target(store.target),
        joined: store.has_joined,
        revision: store.revision,
        shared_revision: store.shared_revision,
        stale_s: store.stale_s,
        edited: store.holds_an_edit,
        queued: to_u64(store.queued),
        error: store.trouble.map(|error| masked(&error.to_string())),
    }
}

/// Masks secrets, which an error text from outside may contain.
fn masked(words: &str) -> String {
    redact(words, RedactOptions::default()).text.into_owned()
}
