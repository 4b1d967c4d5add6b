//! The storage for the texts of outputs outside the database: an S3-compatible object store, or a folder that all hosts
//! mount. The name of an object is the space and the sha256 of its content, so it is put once and never changed.

mod bucket;
mod folder;

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use object_store::ObjectStore;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

use self::folder::{Folder, MARKER};
use crate::error::SharedError;

/// The form of the URL of an object store.
pub const FORM: &str = "a URL like \"s3://bucket/folder\" or \"file:///mnt/shared/outputs\", without a key in it";

/// The time limit for the transfer of an object.
const PATIENCE: Duration = Duration::from_secs(60);

/// How to access an S3-compatible store.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct S3 {
    /// Its URL, if it is not Amazon's.
    pub endpoint: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The id of a key.
    pub access_key: Option<String>,
    /// The key.
    pub secret_key: Option<String>,
}

/// Formats it without the key.
impl fmt::Debug for S3 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { endpoint, region, .. } = self;
        formatter.debug_struct("S3").field("endpoint", endpoint).field("region", region).finish_non_exhaustive()
    }
}

/// An object store, or a folder. Its requests run on threads of its own: a folder on a server that hangs blocks no
/// other part of the program.
pub struct Objects {
    url: Url,
    place: Place,
    runtime: Option<Runtime>,
}

/// The kind of storage.
enum Place {
    Bucket(Bucket),
    Folder(Folder),
}

/// A bucket of an S3-compatible store.
struct Bucket {
    s3: S3,
    store: OnceCell<Arc<dyn ObjectStore>>,
}

/// The maximum number of threads that may hang in a folder.
const THREADS: usize = 2;

impl fmt::Debug for Objects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Objects").field(&self.url.as_str()).finish()
    }
}

/// Parses the URL of an object store.
///
/// # Errors
/// The URL is invalid.
pub fn check(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).map_err(|_| format!("must be {FORM}"))?;
    let is_bare = parsed.password().is_none() && parsed.username().is_empty() && parsed.query().is_none();
    let is_known = match parsed.scheme() {
        "s3" => parsed.host_str().is_some_and(|host| !host.is_empty()),
        "file" => parsed.to_file_path().is_ok_and(|path| path.is_absolute() && path != Path::new("/")),
        _ => false,
    };
    if is_bare && is_known { Ok(parsed) } else { Err(format!("must be {FORM}")) }
}

impl Drop for Objects {
    fn drop(&mut self) {
        // A thread that hangs is not waited for.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Objects {
    /// Creates the store for a URL. It is opened with the first request.
    ///
    /// # Errors
    /// The problem in words without a key.
    pub fn new(url: &str, s3: S3) -> Result<Self, String> {
        let url = check(url)?;
        if url.scheme() == "s3" && (s3.access_key.is_none() || s3.secret_key.is_none()) {
            return Err("the variables of `shared.outputs.access_key_env` and `.secret_key_env` are not set".to_owned());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(THREADS)
            .thread_name("objects")
            .enable_all()
            .build()
            .map_err(|error| format!("no thread for the object store: {error}"))?;
        let place = match url.to_file_path().ok().filter(|_| url.scheme() == "file") {
            Some(folder) => Place::Folder(Folder::at(folder)),
            None => Place::Bucket(Bucket { s3, store: OnceCell::new() }),
        };
        Ok(Self { url, place, runtime: Some(runtime) })
    }

    /// Returns its URL.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Whether the store is known to be the one with the texts of the space. A bucket always is. A folder needs a
    /// marker, because a folder that is not mounted is empty. A folder with texts of the space gets the marker now.
    ///
    /// # Errors
    /// An error of the store.
    pub(crate) async fn is_marked(&self, space: &str) -> Result<bool, SharedError> {
        match &self.place {
            Place::Bucket(_) => Ok(true),
            Place::Folder(folder) => {
                let (folder, space) = (folder.clone(), space.to_owned());
                self.in_folder(move || folder.is_marked(&space)).await
            }
        }
    }

    /// Marks a folder as the one that texts are put into.
    ///
    /// # Errors
    /// An error of the store.
    pub(crate) async fn mark(&self) -> Result<(), SharedError> {
        match &self.place {
            Place::Bucket(_) => Ok(()),
            Place::Folder(folder) => {
                let folder = folder.clone();
                self.in_folder(move || folder.mark()).await
            }
        }
    }

    /// Returns the error for a folder without a marker.
    pub(crate) fn unmarked(&self) -> SharedError {
        self.refused(&format!(
            "it is not mounted, or another folder than the one with the outputs of this space: it has no file {MARKER}. If it is \
             to be used from now on, make that file"
        ))
    }

    /// Puts a text there, unless it is there already.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn put(&self, space: &str, sha256: &[u8; 32], text: String) -> Result<(), SharedError> {
        let name = Name::of(space, sha256);
        match &self.place {
            Place::Bucket(bucket) => {
                self.in_bucket(bucket, move |store| async move { bucket::put(&*store, &name, text).await }).await
            }
            Place::Folder(folder) => {
                let folder = folder.clone();
                self.in_folder(move || folder.put(&name, text.as_bytes())).await
            }
        }
    }

    /// Returns a text of `bytes` bytes; `None` if it is not there.
    ///
    /// # Errors
    /// An error of the store, or an object of another length.
    pub async fn get(&self, space: &str, sha256: &[u8; 32], bytes: u64) -> Result<Option<Vec<u8>>, SharedError> {
        let name = Name::of(space, sha256);
        let shown = name.to_string();
        let found = match &self.place {
            Place::Bucket(bucket) => {
                self.in_bucket(bucket, move |store| async move { bucket::get(&*store, &name, bytes).await }).await?
            }
            Place::Folder(folder) => {
                let folder = folder.clone();
                self.in_folder(move || folder.get(&name, bytes)).await?
            }
        };
        match found {
            Found::Text(text) => Ok(Some(text)),
            Found::Nothing => Ok(None),
            Found::Other => {
                Err(SharedError::Refused(format!("{} has other bytes than were put there: {shown}", self.url)))
            }
        }
    }

    /// Removes a text. A text that is gone is no error.
    ///
    /// # Errors
    /// An error of the store.
    pub async fn remove(&self, space: &str, sha256: [u8; 32]) -> Result<(), SharedError> {
        let name = Name::of(space, &sha256);
        match &self.place {
            Place::Bucket(bucket) => {
                self.in_bucket(bucket, move |store| async move { bucket::remove(&*store, &name).await }).await
            }
            Place::Folder(folder) => {
                let folder = folder.clone();
                self.in_folder(move || folder.remove(&name)).await
            }
        }
    }

    /// Runs `work` with a folder on the store's own threads, within the time limit.
    async fn in_folder<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, String> + Send + 'static,
    ) -> Result<T, SharedError> {
        let task = async {
            let runtime = self.runtime.as_ref().ok_or_else(|| self.no_threads())?;
            let done = runtime.spawn_blocking(work).await.map_err(|_| self.no_threads())?;
            done.map_err(|words| self.refused(&words))
        };
        timeout(PATIENCE, task).await.unwrap_or_else(|_| Err(self.late()))
    }

    /// Runs `work` with a bucket in the same way.
    async fn in_bucket<T, F>(
        &self,
        bucket: &Bucket,
        work: impl FnOnce(Arc<dyn ObjectStore>) -> F,
    ) -> Result<T, SharedError>
    where
        T: Send + 'static,
        F: Future<Output = object_store::Result<T>> + Send + 'static,
    {
        let task = async {
            let runtime = self.runtime.as_ref().ok_or_else(|| self.no_threads())?;
            let opened = bucket.store.get_or_try_init(async || bucket::open(&self.url, &bucket.s3)).await;
            let store = Arc::clone(opened.map_err(|words| self.refused(&words))?);
            // Dropping the set ends the task when no caller waits any more.
            let mut task = JoinSet::new();
            task.spawn_on(work(store), runtime.handle());
            let done = task.join_next().await.and_then(Result::ok).ok_or_else(|| self.no_threads())?;
            done.map_err(|error| self.refused(&error.to_string()))
        };
        timeout(PATIENCE, task).await.unwrap_or_else(|_| Err(self.late()))
    }

    fn no_threads(&self) -> SharedError {
        self.refused("its threads have ended")
    }

    fn late(&self) -> SharedError {
        self.refused(&format!("no answer within {} s", PATIENCE.as_secs()))
    }

    fn refused(&self, words: &str) -> SharedError {
        let words: String = words.chars().take(WORDS).collect();
        SharedError::NoObjects(format!("{}: {words}", self.url))
    }
}

/// The maximum number of chars of a store's message that are reported.
const WORDS: usize = 300;

/// The name of an object: the space, two digits, and the sha256.
struct Name {
    space: String,
    digits: String,
}

impl Name {
    fn of(space: &str, sha256: &[u8; 32]) -> Self {
        Self { space: space.to_owned(), digits: sha256.iter().map(|byte| format!("{byte:02x}")).collect() }
    }

    /// Returns its first two digits, which name the subfolder of the object.
    fn first(&self) -> &str {
        self.digits.get(..2).unwrap_or_default()
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.space, self.first(), self.digits)
    }
}

/// The result of looking up a name.
enum Found {
    Text(Vec<u8>),
    Nothing,
    /// An object of another length.
    Other,
}

#[cfg(test)]
mod tests;
