//! The stores that several hosts share in a database. [`link`] knows whether the database is reachable. [`writer`]
//! gives writes their revisions, one store at a time. [`poll`] looks for changes by other hosts. [`joining`] moves a
//! profile to the database and back. [`outbox`] uploads messages, [`sessions`] publishes their sessions, and
//! [`finding`] finds messages of other hosts.

mod brought;
mod finding;
mod joining;
mod link;
mod outbox;
mod outputs;
mod poll;
mod sessions;
mod writer;

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use herma_disk::{file, owner};
use herma_memory::{Author, Entry, Row, Target};
use herma_shared::objects::{Objects, S3};
use herma_shared::stores::StoreKey;
use herma_shared::{Address, Database, SharedError, Space};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::timeout;

use brought::UploadProblems;
pub(crate) use joining::JoinedStore;
use link::Link;
pub(crate) use link::{LinkState, SharedStoreState};
pub(crate) use outputs::FetchedOutput;
pub(crate) use sessions::PublishedSession;
use writer::{QueuedWrite, WriterJob};

use crate::data::config::{Config, SharedConfig};
use crate::data::error::{Error, Outcome};
use crate::owners::joined::SharedProfiles;
use crate::owners::store::{Proposed, StoreHandle, Write, Written};
use crate::owners::stores::Stores;

/// The largest file with a password or certificates, in bytes.
const SECRET_LIMIT: u64 = 1 << 20;

/// The number of writes of one store that may wait.
const QUEUE: usize = 1024;

/// The sharing of this host: its configuration, database and writers.
#[derive(Debug)]
pub(crate) struct Sharing {
    /// The configuration, or the default if there is none.
    config: SharedConfig,
    is_configured: bool,
    /// The number of revisions whose history is kept.
    revisions: usize,
    /// The database, or why it can't be used; `None` if nothing is shared.
    database: Option<Result<Arc<Database>, String>>,
    stores: Arc<Stores>,
    joined: Arc<SharedProfiles>,
    /// The object store for texts of outputs, in addition to the database.
    objects: Option<Objects>,
    link: Link,
    brought: UploadProblems,
    /// How often a profile joined.
    joins: AtomicU64,
    /// Wakes the upload of messages and sessions.
    changed: Notify,
    /// The time at which a question about a session last timed out.
    slow_since: Mutex<Option<Instant>>,
    writers: Mutex<HashMap<(String, Target), mpsc::Sender<WriterJob>>>,
}

impl Sharing {
    /// Creates the sharing of a configuration. It connects only when a request needs it.
    pub(crate) fn new(config: &Config, stores: Arc<Stores>, joined: Arc<SharedProfiles>) -> Arc<Self> {
        let database = config.shared.as_ref().map(database);
        if let Some(Err(words)) = &database {
            tracing::error!("nothing can be shared: {words}");
        }
        Arc::new(Self {
            revisions: config.memory.journal_revisions,
            config: config.shared.clone().unwrap_or_default(),
            is_configured: config.shared.is_some(),
            database,
            stores,
            joined,
            objects: objects(config),
            link: Link::default(),
            brought: UploadProblems::default(),
            joins: AtomicU64::default(),
            changed: Notify::new(),
            slow_since: Mutex::default(),
            writers: Mutex::default(),
        })
    }

    /// Returns the configuration, or the default if there is none.
    pub(crate) const fn config(&self) -> &SharedConfig {
        &self.config
    }

    /// Whether a database is configured.
    pub(crate) const fn is_configured(&self) -> bool {
        self.is_configured
    }

    /// Whether the configuration shares a profile.
    pub(crate) fn shares(&self, profile: &str) -> bool {
        self.is_configured && self.config.shares(profile)
    }

    /// Whether a profile's stores may be shared: the configuration says so, the profile joined, or it is unknown.
    pub(crate) fn covers(&self, profile: &str) -> bool {
        self.shares(profile) || self.joined.has(profile) || self.joined.unknown.is_some()
    }

    /// Returns the problems of database rows that were left out.
    pub(crate) fn left_out(&self) -> Vec<String> {
        self.database().map(|database| database.left_out()).unwrap_or_default()
    }

    /// Whether a profile was moved to the database.
    pub(crate) fn has_joined(&self, profile: &str) -> bool {
        self.joined.has(profile)
    }

    /// Returns the database, or an error if none can be used.
    pub(crate) fn database(&self) -> Outcome<&Arc<Database>> {
        match &self.database {
            Some(Ok(database)) => Ok(database),
            Some(Err(words)) => Err(Error::Unavailable(format!("the shared database can't be used: {words}"))),
            None => Err(Error::Unavailable(
                "nothing is shared here: the daemon has read no [shared] in its configuration (see docs/sharing.md); it reads it when it starts".to_owned(),
            )),
        }
    }

    /// Returns the state of the connection to the database.
    pub(crate) fn link(&self) -> LinkState {
        self.link.state()
    }

    /// Returns why a store can't be written, regardless of the state of the database.
    pub(crate) fn trouble(&self, profile: &str, target: Target) -> Option<SharedError> {
        self.link.own_trouble(profile, target.name())
    }

    /// Returns the state of a store in the database, as it was last seen.
    pub(crate) fn standing(&self, profile: &str, target: Target) -> Option<SharedStoreState> {
        self.link.standing(profile, target.name())
    }

    /// Returns the seconds since a store was last known to equal that of the database; `None` if it never was since the
    /// start.
    pub(crate) fn stale_s(&self, profile: &str, target: Target) -> Option<f64> {
        self.link.stale_s(profile, target.name())
    }

    /// Returns why messages can't be uploaded to the database.
    pub(crate) fn outbox_trouble(&self) -> Option<SharedError> {
        self.brought.trouble()
    }

    /// Returns why sessions can't be published to other hosts.
    pub(crate) fn sessions_trouble(&self) -> Option<SharedError> {
        self.brought.sessions_trouble()
    }

    /// Returns why outputs can't be uploaded for other hosts.
    pub(crate) fn outputs_trouble(&self) -> Option<SharedError> {
        self.brought.outputs_trouble()
    }

    /// Returns the URL of the object store for texts of outputs.
    pub(crate) fn outputs_url(&self) -> Option<&str> {
        self.objects.as_ref().map(Objects::url)
    }

    /// Counts how often the database came back and a profile joined. If either changes, earlier findings are obsolete.
    fn returned(&self) -> (u64, u64) {
        (*self.link.returns().borrow(), self.joins.load(Ordering::Acquire))
    }

    /// Returns a receiver that is notified when the database comes back. Its value counts how often that happened.
    pub(crate) fn returns(&self) -> tokio::sync::watch::Receiver<u64> {
        self.link.returns()
    }

    /// Returns the profiles that were moved to the database.
    pub(crate) fn joined_profiles(&self) -> Vec<String> {
        self.joined.profiles()
    }

    /// Whether a profile was moved to the database, or that is unknown.
    pub(crate) fn may_share(&self, profile: &str) -> bool {
        self.joined.has(profile) || self.joined.unknown.is_some()
    }

    /// Whether the write with this id was done.
    pub(crate) async fn was_written(&self, profile: &str, target: Target, id: &str) -> Outcome<bool> {
        self.check_ready(profile, target)?;
        self.database()?.was_written(id).await.map_err(Error::Shared)
    }

    /// Adopts the new revisions of a store, and waits for that.
    pub(crate) async fn catch_up(&self, profile: &str, target: Target) -> Outcome<()> {
        self.check_ready(profile, target)?;
        let store = self.stores.get(profile, target)?;
        let rows = self.pull(self.database()?, &store, &key(profile, target)).await?;
        store.adopt(rows).await
    }

    /// Returns the new revisions of a store. The error for a history that does not continue where this host's ends says
    /// that it is another store.
    async fn pull(&self, database: &Database, store: &StoreHandle, key: &StoreKey) -> Outcome<Vec<Row>> {
        if let Some(error) = self.link.trouble(&key.profile, key.target).filter(|error| !error.is_passing()) {
            return Err(Error::Shared(error));
        }
        let here = Author { host: Some(self.config.host.clone()), ..Author::default() };
        let Proposed { known, entries, .. } = store.propose(Vec::new(), Vec::new(), here).await?;
        let rows = database.since(key, known.saturating_sub(1), self.revisions).await;
        let mut rows = self.note_result(rows).map_err(Error::Shared)?;
        if goes_on(known, &entries, &mut rows) { Ok(rows) } else { Err(Error::Shared(self.is_another(key))) }
    }

    /// Notes whether the database answered. If it went away, closes the connections to it.
    fn note_result<T>(&self, said: Result<T, SharedError>) -> Result<T, SharedError> {
        match &said {
            Ok(_) => self.link.answered(),
            // The database answered, and other stores may be free.
            Err(SharedError::Contended(_)) => self.link.answered(),
            Err(error) if error.is_passing() => {
                self.link.failed(error);
                self.database().iter().for_each(|database| database.rest());
            }
            Err(_) => {}
        }
        said
    }

    /// Remembers that a store is not the one that this host joined, until it joins again.
    fn is_another(&self, key: &StoreKey) -> SharedError {
        let error = another(key, "its history is not the one that this host knows");
        self.link.troubled(&key.profile, key.target, Some(error.clone()), true);
        error
    }

    /// Gives a write a revision. `id` names a write that may have been done before.
    pub(crate) async fn write(
        self: &Arc<Self>,
        profile: &str,
        target: Target,
        write: Write,
        id: Option<String>,
    ) -> Outcome<Written> {
        self.check_ready(profile, target)?;
        let (answer, answered) = oneshot::channel();
        let asked = Box::new(QueuedWrite::new(write, id, &self.config, answer));
        let sent = self.writer(profile, target)?.try_send(WriterJob::Write(asked));
        sent.map_err(|_| Error::overloaded("the shared store"))?;
        answered.await.map_err(|_| Error::internal("the shared store"))?
    }

    /// Returns why a store can't be written now, as far as that is known without asking.
    fn check_ready(&self, profile: &str, target: Target) -> Outcome<()> {
        if self.database.is_none() {
            return Err(Error::Unavailable(format!(
                "profile {profile:?} shares its stores with other hosts, but the configuration has no [shared]: put it \
                 back, or run `herma --profile {profile} shared leave`"
            )));
        }
        self.database()?;
        if let Some(words) = &self.joined.unknown {
            return Err(Error::Unavailable(format!("it is not known which stores are shared: {words}")));
        }
        if !self.joined.has(profile) {
            return Err(Error::Unavailable(format!(
                "profile {profile:?} is to be shared and was not brought to the database yet; run `herma shared join`"
            )));
        }
        match self.link.trouble(profile, target.name()) {
            Some(error) => Err(Error::Shared(error)),
            None => Ok(()),
        }
    }

    /// Schedules a look at a store. With a revision, only if that is newer than the known one.
    fn sync(self: &Arc<Self>, profile: &str, target: Target, hinted: Option<u64>) {
        if let Ok(writer) = self.writer(profile, target) {
            drop(writer.try_send(WriterJob::Sync(hinted)));
        }
    }

    fn writer(self: &Arc<Self>, profile: &str, target: Target) -> Outcome<mpsc::Sender<WriterJob>> {
        let mut writers = self.writers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(writer) = writers.get(&(profile.to_owned(), target)).filter(|writer| !writer.is_closed()) {
            return Ok(writer.clone());
        }
        let store = self.stores.get(profile, target)?;
        let (sender, jobs) = mpsc::channel(QUEUE);
        let key = key(profile, target);
        tokio::spawn(writer::serve(Arc::clone(self), store, key, jobs));
        writers.insert((profile.to_owned(), target), sender.clone());
        Ok(sender)
    }
}

/// Runs work with the database for a caller that waits no longer than `limit`.
async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, SharedError>>) -> Result<T, SharedError> {
    timeout(limit, work).await.unwrap_or_else(|_| Err(late(limit)))
}

fn late(limit: Duration) -> SharedError {
    SharedError::Unreachable(format!("no answer within {} s", limit.as_secs_f64()))
}

/// Returns a store's key in the database.
fn key(profile: &str, target: Target) -> StoreKey {
    StoreKey { profile: profile.to_owned(), target: target.name() }
}

/// Returns the configured object store. One that can't be used counts as none, and is logged.
fn objects(config: &Config) -> Option<Objects> {
    let outputs = config.shared.as_ref()?.outputs.as_ref()?;
    let variable = |name: &String| std::env::var(name).ok().filter(|value| !value.is_empty());
    let s3 = S3 {
        endpoint: outputs.endpoint.as_ref().map(ToString::to_string),
        region: outputs.region.clone(),
        access_key: variable(&outputs.access_key_env),
        secret_key: variable(&outputs.secret_key_env),
    };
    match Objects::new(&outputs.url, s3) {
        Ok(objects) => Some(objects),
        Err(words) => {
            tracing::error!("outputs can't be brought to an object store: {words}");
            None
        }
    }
}

/// Returns the configured database; the error text says why it can't be used.
pub(crate) fn database(config: &SharedConfig) -> Result<Arc<Database>, String> {
    let address = address(config, &config.url, None)?;
    let space = Space { name: config.space.clone(), host: config.host.clone() };
    Ok(Database::new(address, space, config.timeout))
}

/// Returns an address with the configured password and certificates.
fn address(config: &SharedConfig, url: &str, password: Option<String>) -> Result<Address, String> {
    let password = match (password, &config.password_env, &config.password_file) {
        (Some(password), _, _) => Some(password),
        (None, Some(name), _) => {
            Some(std::env::var(name).map_err(|_| format!("the variable {name} (`shared.password_env`) is not set"))?)
        }
        (None, None, Some(path)) => {
            if owner::is_read_by_others(path) {
                tracing::warn!("others can read {} (`shared.password_file`): chmod 600", path.display());
            }
            Some(secret(path, "shared.password_file")?)
        }
        (None, None, None) => None,
    };
    let ca = config.ca_file.as_deref().map(|path| secret(path, "shared.ca_file")).transpose()?;
    let roots = match &ca {
        Some(_) => Vec::new(),
        None => rustls_native_certs::load_native_certs().certs,
    };
    Address::parse(url, password.as_deref(), ca.as_deref().map(str::as_bytes), roots)
        .map(|address| address.allow_clear(config.password_in_clear))
        .map_err(|words| format!("`shared.url` {words}"))
}

fn secret(path: &Path, key: &str) -> Result<String, String> {
    match file::read_trusted_text(path, SECRET_LIMIT) {
        Ok(Some((text, _))) => Ok(text.trim_end_matches(['\n', '\r']).to_owned()),
        Ok(None) => Err(format!("{} (`{key}`) is not there", path.display())),
        Err(error) => Err(format!("`{key}`: {error}")),
    }
}

/// Whether the new revisions of a store continue where this host's knowledge ends. Removes the known revision from
/// `rows`. If the database no longer keeps that revision, only the next revision can be compared.
fn goes_on(known: u64, entries: &[Entry], rows: &mut Vec<Row>) -> bool {
    let before = rows.iter().position(|row| row.revision > known).unwrap_or(rows.len());
    let known_rows: Vec<Row> = rows.drain(..before).collect();
    let is_same = known_rows.last().is_none_or(|row| row.revision != known || *row.after == *entries);
    let follows = rows.first().is_none_or(|row| row.revision != known + 1 || *row.before == *entries);
    is_same && follows
}

/// Returns the error for a store that is not the one that this host joined.
fn another(key: &StoreKey, words: &str) -> SharedError {
    SharedError::Refused(format!(
        "{}'s {} is not the store that this host shared: {words}. Nothing is written; `herma shared join` brings what \
         this host has into the one that is there",
        key.profile, key.target
    ))
}
