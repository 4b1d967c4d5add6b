//! Where the texts of outputs are besides the database: an S3-compatible object store, or a folder that all hosts
//! mount. An object is named by the space and the sha256 of its content, so that it is put once and never changed.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use tokio::time::timeout;
use url::Url;

use crate::error::SharedError;

/// What a URL of an object store looks like.
pub const FORM: &str = "a URL like \"s3://bucket/folder\" or \"file:///mnt/shared/outputs\", without a key in it";

/// How long an object may be on its way.
const PATIENCE: Duration = Duration::from_secs(60);

/// How an S3-compatible store is reached.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct S3 {
    /// Its URL, where it is not Amazon's.
    pub endpoint: Option<String>,
    /// The region.
    pub region: Option<String>,
    /// The id of a key.
    pub access_key: Option<String>,
    /// The key.
    pub secret_key: Option<String>,
}

/// Without the key.
impl fmt::Debug for S3 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { endpoint, region, .. } = self;
        formatter.debug_struct("S3").field("endpoint", endpoint).field("region", region).finish_non_exhaustive()
    }
}

/// An object store, or a folder. What is asked of it is done on threads of its own: a folder on a server that hangs
/// keeps nothing else of the program.
pub struct Objects {
    url: Url,
    s3: S3,
    store: OnceCell<Arc<dyn ObjectStore>>,
    runtime: Option<Runtime>,
}

/// Threads that may hang in a folder.
const THREADS: usize = 2;

impl fmt::Debug for Objects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Objects").field(&self.url.as_str()).finish()
    }
}

/// Reads a URL of an object store.
///
/// # Errors
/// It is none.
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
        // Nobody waits for a thread that hangs.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

impl Objects {
    /// The store at a URL. Nothing is opened before something is asked.
    ///
    /// # Errors
    /// What is wrong with it, in words that have no key in them.
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
        Ok(Self { url, s3, store: OnceCell::new(), runtime: Some(runtime) })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        self.url.as_str()
    }

    /// Puts a text there, unless it is there already.
    ///
    /// # Errors
    /// What the store says.
    pub async fn put(&self, space: &str, sha256: &[u8; 32], text: String) -> Result<(), SharedError> {
        let (place, text) = (place(space, sha256), Bytes::from(text));
        let work = move |store: Arc<dyn ObjectStore>| async move {
            let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
            match store.put_opts(&place, text.clone().into(), options).await {
                Ok(_) => Ok(()),
                Err(object_store::Error::AlreadyExists { .. }) => {
                    // A power cut may have left a part of it.
                    let there = store.head(&place).await?;
                    match there.size == text.len() as u64 {
                        true => Ok(()),
                        false => store.put(&place, text.into()).await.map(drop),
                    }
                }
                // A store that can't put if absent puts the same bytes again.
                Err(error) if is_not_known(&error) => store.put(&place, text.into()).await.map(drop),
                Err(error) => Err(error),
            }
        };
        self.done(work).await?.map_err(|error| self.refused(&error))
    }

    /// The bytes of a text of so many; `None` where there is none.
    ///
    /// # Errors
    /// What the store says; another number of bytes than was put.
    pub async fn get(&self, space: &str, sha256: &[u8; 32], bytes: u64) -> Result<Option<Vec<u8>>, SharedError> {
        let place = place(space, sha256);
        let name = place.to_string();
        let work = move |store: Arc<dyn ObjectStore>| async move {
            let found = match store.get(&place).await {
                Err(object_store::Error::NotFound { .. }) => return Ok(Some(None)),
                found => found?,
            };
            if found.meta.size != bytes {
                return Ok(None);
            }
            let mut text = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
            let mut stream = found.into_stream();
            while let Some(piece) = stream.next().await {
                text.extend_from_slice(&piece?);
                if text.len() as u64 > bytes {
                    return Ok(None);
                }
            }
            Ok(Some(Some(text)))
        };
        let other = || SharedError::Refused(format!("{} has other bytes than were put there: {name}", self.url));
        self.done(work).await?.map_err(|error| self.refused(&error))?.ok_or_else(other)
    }

    /// Removes a text; one that is gone is no error.
    ///
    /// # Errors
    /// What the store says.
    pub async fn remove(&self, space: &str, sha256: [u8; 32]) -> Result<(), SharedError> {
        let place = place(space, &sha256);
        let removed = self.done(move |store: Arc<dyn ObjectStore>| async move { store.delete(&place).await }).await?;
        match removed {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.refused(&error)),
        }
    }

    /// Does something with the store on its own threads, in time.
    async fn done<T, W, F>(&self, work: W) -> Result<T, SharedError>
    where
        T: Send + 'static,
        W: FnOnce(Arc<dyn ObjectStore>) -> F + Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let gone = || SharedError::NoObjects(format!("{}: its threads have ended", self.url));
        let late = || SharedError::NoObjects(format!("{}: no answer within {} s", self.url, PATIENCE.as_secs()));
        let runtime = self.runtime.as_ref().ok_or_else(gone)?;
        let task = async {
            let store = Arc::clone(self.store.get_or_try_init(|| self.open(runtime)).await?);
            // It ends with this, when nobody waits any more.
            let mut task = JoinSet::new();
            task.spawn_on(work(store), runtime.handle());
            task.join_next().await.and_then(Result::ok).ok_or_else(gone)
        };
        timeout(PATIENCE, task).await.unwrap_or_else(|_| Err(late()))
    }

    async fn open(&self, runtime: &Runtime) -> Result<Arc<dyn ObjectStore>, SharedError> {
        let (url, s3) = (self.url.clone(), self.s3.clone());
        let opened = runtime.spawn_blocking(move || open(&url, &s3)).await;
        let words = |words| SharedError::NoObjects(format!("{}: {words}", self.url));
        opened.map_err(|error| words(error.to_string()))?.map_err(words)
    }

    fn refused(&self, error: &object_store::Error) -> SharedError {
        let words: String = error.to_string().chars().take(WORDS).collect();
        SharedError::NoObjects(format!("{}: {words}", self.url))
    }
}

/// Chars of what a store says that are told.
const WORDS: usize = 300;

/// Whether a store does not know what it was asked for.
fn is_not_known(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotImplemented { .. }) || error.to_string().contains("501")
}

fn open(url: &Url, s3: &S3) -> Result<Arc<dyn ObjectStore>, String> {
    if url.scheme() == "file" {
        let folder = url.to_file_path().map_err(|()| format!("must be {FORM}"))?;
        let store = LocalFileSystem::new_with_prefix(&folder)
            .map_err(|error| format!("the folder {} can't be used: {error}", folder.display()))?;
        return Ok(Arc::new(store.with_fsync(true)));
    }
    let store = amazon(url, s3).map_err(|error| error.to_string())?;
    Ok(match url.path().trim_matches('/') {
        "" => Arc::new(store),
        folder => Arc::new(PrefixStore::new(store, folder)),
    })
}

fn amazon(url: &Url, s3: &S3) -> object_store::Result<object_store::aws::AmazonS3> {
    // The crate asks for one of the process; who comes second changes nothing.
    drop(rustls::crypto::ring::default_provider().install_default());
    let is_plain = s3.endpoint.as_ref().is_some_and(|endpoint| endpoint.starts_with("http://"));
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(url.host_str().unwrap_or_default())
        .with_client_options(ClientOptions::new().with_allow_http(is_plain).with_timeout(PATIENCE))
        .with_retry(RetryConfig { max_retries: 2, retry_timeout: PATIENCE, ..RetryConfig::default() });
    let said = [
        (AmazonS3ConfigKey::Endpoint, &s3.endpoint),
        (AmazonS3ConfigKey::Region, &s3.region),
        (AmazonS3ConfigKey::AccessKeyId, &s3.access_key),
        (AmazonS3ConfigKey::SecretAccessKey, &s3.secret_key),
    ];
    for (key, value) in said {
        if let Some(value) = value {
            builder = builder.with_config(key, value);
        }
    }
    builder.build()
}

fn place(space: &str, sha256: &[u8; 32]) -> ObjectPath {
    let digits: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    ObjectPath::from_iter([space, digits.get(..2).unwrap_or_default(), &digits])
}

#[cfg(test)]
mod tests;
