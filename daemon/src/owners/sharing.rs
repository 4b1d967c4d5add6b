//! The stores that several hosts share in a database: who writes to them, what comes from other hosts, and
//! whether the database is there. [`link`] knows that, [`writer`] gives writes their revisions, one store
//! after the other by itself, [`poll`] looks what is new, [`joining`] brings a profile there and back, [`outbox`] brings
//! messages and [`sessions`] the sessions that they are of, and [`finding`] finds messages of other hosts.

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

use brought::Brought;
pub(crate) use joining::JoinedStore;
use link::Link;
pub(crate) use link::{LinkState, Standing};
pub(crate) use outputs::FetchedOutput;
pub(crate) use sessions::ToldSession;
use writer::{Asked, WriterJob};

use crate::data::config::{Config, SharedConfig};
use crate::data::error::{Error, Outcome};
use crate::owners::joined::Joined;
use crate::owners::store::{Proposed, StoreHandle, Write, Written};
use crate::owners::stores::Stores;

/// Largest file with a password or certificates, in bytes.
const SECRET_LIMIT: u64 = 1 << 20;

/// Writes of one store that may wait.
const QUEUE: usize = 1024;

/// What this host shares, and by which way.
#[derive(Debug)]
pub(crate) struct Sharing {
    /// What is configured, or would be by default.
    config: SharedConfig,
    is_configured: bool,
    /// Revisions of which the history is kept.
    revisions: usize,
    /// Or why it can't be used; `None` where nothing is shared.
    database: Option<Result<Arc<Database>, String>>,
    stores: Arc<Stores>,
    joined: Arc<Joined>,
    /// Where texts of outputs are besides the database.
    objects: Option<Objects>,
    link: Link,
    brought: Brought,
    /// How often a profile joined.
    joins: AtomicU64,
    /// Something is to be brought soon.
    changed: Notify,
    /// When a question about a session had no answer in time.
    slow_since: Mutex<Option<Instant>>,
    writers: Mutex<HashMap<(String, Target), mpsc::Sender<WriterJob>>>,
}

impl Sharing {
    /// What is configured. Nothing is connected before something is asked.
    pub(crate) fn new(config: &Config, stores: Arc<Stores>, joined: Arc<Joined>) -> Arc<Self> {
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
            brought: Brought::default(),
            joins: AtomicU64::default(),
            changed: Notify::new(),
            slow_since: Mutex::default(),
            writers: Mutex::default(),
        })
    }

    /// What is configured, or would be by default.
    pub(crate) const fn config(&self) -> &SharedConfig {
        &self.config
    }

    /// Whether there is a database for it.
    pub(crate) const fn is_configured(&self) -> bool {
        self.is_configured
    }

    /// Whether the configuration shares a profile.
    pub(crate) fn shares(&self, profile: &str) -> bool {
        self.is_configured && self.config.shares(profile)
    }

    /// Whether a profile's stores are to be written through the database, or were, and nobody decided otherwise.
    pub(crate) fn covers(&self, profile: &str) -> bool {
        self.shares(profile) || self.joined.has(profile) || self.joined.unknown.is_some()
    }

    /// What is wrong with rows of the database that were left out.
    pub(crate) fn left_out(&self) -> Vec<String> {
        self.database().map(|database| database.left_out()).unwrap_or_default()
    }

    /// Whether a profile was brought to the database.
    pub(crate) fn has_joined(&self, profile: &str) -> bool {
        self.joined.has(profile)
    }

    /// The database, if there is one that can be used.
    pub(crate) fn database(&self) -> Outcome<&Arc<Database>> {
        match &self.database {
            Some(Ok(database)) => Ok(database),
            Some(Err(words)) => Err(Error::Unavailable(format!("the shared database can't be used: {words}"))),
            None => Err(Error::Unavailable(
                "nothing is shared here: the daemon has read no [shared] in its configuration (see docs/sharing.md); it reads it when it starts".to_owned(),
            )),
        }
    }

    /// How the database is.
    pub(crate) fn link(&self) -> LinkState {
        self.link.state()
    }

    /// Why a store can't be written whatever becomes of the database.
    pub(crate) fn trouble(&self, profile: &str, target: Target) -> Option<SharedError> {
        self.link.own_trouble(profile, target.name())
    }

    /// How a store is in the database, as it was seen last.
    pub(crate) fn standing(&self, profile: &str, target: Target) -> Option<Standing> {
        self.link.standing(profile, target.name())
    }

    /// Seconds since a store was known to be as the database has it; `None` where it never was since the start.
    pub(crate) fn stale_s(&self, profile: &str, target: Target) -> Option<f64> {
        self.link.stale_s(profile, target.name())
    }

    /// Why messages can't be brought to the database.
    pub(crate) fn outbox_trouble(&self) -> Option<SharedError> {
        self.brought.trouble()
    }

    /// Why sessions can't be told to other hosts.
    pub(crate) fn sessions_trouble(&self) -> Option<SharedError> {
        self.brought.sessions_trouble()
    }

    /// Why outputs can't be brought where other hosts find them.
    pub(crate) fn outputs_trouble(&self) -> Option<SharedError> {
        self.brought.outputs_trouble()
    }

    /// Where texts of outputs go besides the database.
    pub(crate) fn outputs_url(&self) -> Option<&str> {
        self.objects.as_ref().map(Objects::url)
    }

    /// How often the database came, and a profile joined: what was seen there before may be no more.
    fn returned(&self) -> (u64, u64) {
        (*self.link.returns().borrow(), self.joins.load(Ordering::Acquire))
    }

    /// Tells when the database is there again: how often it came.
    pub(crate) fn returns(&self) -> tokio::sync::watch::Receiver<u64> {
        self.link.returns()
    }

    /// The profiles that were brought to the database.
    pub(crate) fn joined_profiles(&self) -> Vec<String> {
        self.joined.profiles()
    }

    /// Whether a profile was brought to the database, or nobody knows.
    pub(crate) fn may_share(&self, profile: &str) -> bool {
        self.joined.has(profile) || self.joined.unknown.is_some()
    }

    /// Whether a write of this name was done.
    pub(crate) async fn was_written(&self, profile: &str, target: Target, id: &str) -> Outcome<bool> {
        self.check_ready(profile, target)?;
        self.database()?.was_written(id).await.map_err(Error::Shared)
    }

    /// Takes what is new in a store, and waits for that.
    pub(crate) async fn catch_up(&self, profile: &str, target: Target) -> Outcome<()> {
        self.check_ready(profile, target)?;
        let store = self.stores.get(profile, target)?;
        let rows = self.pull(self.database()?, &store, &key(profile, target)).await?;
        store.adopt(rows).await
    }

    /// What is new in a store. One whose history does not go on where this host's ends is another one.
    async fn pull(&self, database: &Database, store: &StoreHandle, key: &StoreKey) -> Outcome<Vec<Row>> {
        if let Some(error) = self.link.trouble(&key.profile, key.target).filter(|error| !error.is_passing()) {
            return Err(Error::Shared(error));
        }
        let here = Author { host: Some(self.config.host.clone()), ..Author::default() };
        let Proposed { known, entries, .. } = store.propose(Vec::new(), Vec::new(), here).await?;
        let rows = database.since(key, known.saturating_sub(1), self.revisions).await;
        let mut rows = self.heard(rows).map_err(Error::Shared)?;
        if goes_on(known, &entries, &mut rows) { Ok(rows) } else { Err(Error::Shared(self.is_another(key))) }
    }

    /// Notes whether the database answered. Where it went away the connections to it are as good as gone.
    fn heard<T>(&self, said: Result<T, SharedError>) -> Result<T, SharedError> {
        match &said {
            Ok(_) => self.link.answered(),
            // It answered, and another store may be free.
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

    /// Has a write get a revision. `id` names it where it may have been done before.
    pub(crate) async fn write(
        self: &Arc<Self>,
        profile: &str,
        target: Target,
        write: Write,
        id: Option<String>,
    ) -> Outcome<Written> {
        self.check_ready(profile, target)?;
        let (answer, answered) = oneshot::channel();
        let asked = Box::new(Asked::new(write, id, &self.config, answer));
        let sent = self.writer(profile, target)?.try_send(WriterJob::Write(asked));
        sent.map_err(|_| Error::overloaded("the shared store"))?;
        answered.await.map_err(|_| Error::internal("the shared store"))?
    }

    /// Why a store can't be written now, as far as that is known without asking.
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

    /// Has a store looked at soon; with a revision only if that is newer than what is known.
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

/// Does something with the database for somebody who does not wait longer than this.
async fn within<T>(limit: Duration, work: impl Future<Output = Result<T, SharedError>>) -> Result<T, SharedError> {
    timeout(limit, work).await.unwrap_or_else(|_| Err(late(limit)))
}

fn late(limit: Duration) -> SharedError {
    SharedError::Unreachable(format!("no answer within {} s", limit.as_secs_f64()))
}

/// A store as the database names it.
fn key(profile: &str, target: Target) -> StoreKey {
    StoreKey { profile: profile.to_owned(), target: target.name() }
}

/// The object store that is configured. One that can't be used is as good as none, and that is said.
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

/// The database that is configured; or why it can't be used.
pub(crate) fn database(config: &SharedConfig) -> Result<Arc<Database>, String> {
    let address = address(config, &config.url, None)?;
    let space = Space { name: config.space.clone(), host: config.host.clone() };
    Ok(Database::new(address, space, config.timeout))
}

/// An address with what the configuration says of passwords and certificates.
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

/// Whether what is new in a store goes on where this host's knowledge of it ends. Takes the revision away that is
/// known; where that is not kept there any more nobody can say.
fn goes_on(known: u64, entries: &[Entry], rows: &mut Vec<Row>) -> bool {
    let before = rows.iter().position(|row| row.revision > known).unwrap_or(rows.len());
    let known_rows: Vec<Row> = rows.drain(..before).collect();
    let is_same = known_rows.last().is_none_or(|row| row.revision != known || *row.after == *entries);
    let follows = rows.first().is_none_or(|row| row.revision != known + 1 || *row.before == *entries);
    is_same && follows
}

/// What is said of a store that is not the one that this host joined.
fn another(key: &StoreKey, words: &str) -> SharedError {
    SharedError::Refused(format!(
        "{}'s {} is not the store that this host shared: {words}. Nothing is written; `herma shared join` brings what \
         this host has into the one that is there",
        key.profile, key.target
    ))
}
