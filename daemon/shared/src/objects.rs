//! Where the texts of outputs are besides the database: an S3-compatible object store, or a folder that all hosts
//! mount. An object is named by the space and the sha256 of its content, so that it is put once and never changed.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::local::LocalFileSystem;
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig};
use sha2::{Digest, Sha256};
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

/// An object store, or a folder.
#[derive(Clone)]
pub struct Objects {
    store: Arc<dyn ObjectStore>,
    url: String,
}

impl fmt::Debug for Objects {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Objects").field(&self.url).finish()
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

impl Objects {
    /// The store at a URL. Nothing is connected before something is asked.
    ///
    /// # Errors
    /// What is wrong with it, in words that have no key in them.
    pub fn new(url: &str, s3: &S3) -> Result<Self, String> {
        let parsed = check(url)?;
        let store: Arc<dyn ObjectStore> = match parsed.scheme() {
            "file" => {
                let folder = parsed.to_file_path().map_err(|()| format!("must be {FORM}"))?;
                let store = LocalFileSystem::new_with_prefix(&folder)
                    .map_err(|error| format!("the folder {} can't be used: {error}", folder.display()))?;
                Arc::new(store.with_automatic_cleanup(false))
            }
            _ => {
                let store = amazon(&parsed, s3).map_err(|error| error.to_string())?;
                match parsed.path().trim_matches('/') {
                    "" => Arc::new(store),
                    folder => Arc::new(PrefixStore::new(store, folder)),
                }
            }
        };
        Ok(Self { store, url: url.to_owned() })
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Puts a text there, unless it is there already.
    ///
    /// # Errors
    /// What the store says.
    pub async fn put(&self, space: &str, sha256: &[u8; 32], text: &str) -> Result<(), SharedError> {
        let place = place(space, sha256);
        let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
        let put = self.store.put_opts(&place, text.as_bytes().to_vec().into(), options);
        match self.in_time(put).await? {
            Ok(_) | Err(object_store::Error::AlreadyExists { .. }) => Ok(()),
            // A store that can't put if absent puts the same bytes again.
            Err(object_store::Error::NotImplemented { .. }) => {
                let put = self.store.put(&place, text.as_bytes().to_vec().into());
                self.in_time(put).await?.map(drop).map_err(|error| self.refused(&error))
            }
            Err(error) => Err(self.refused(&error)),
        }
    }

    /// The bytes of a text of so many; `None` where there is none.
    ///
    /// # Errors
    /// What the store says; other bytes than those that were put.
    pub async fn get(&self, space: &str, sha256: &[u8; 32], bytes: u64) -> Result<Option<Vec<u8>>, SharedError> {
        let place = place(space, sha256);
        let other = || SharedError::Refused(format!("{} has other bytes than were put there: {place}", self.url));
        let work = async {
            let found = match self.store.get(&place).await {
                Ok(found) => found,
                Err(object_store::Error::NotFound { .. }) => return Ok(None),
                Err(error) => return Err(self.refused(&error)),
            };
            if found.meta.size != bytes {
                return Err(other());
            }
            let mut text = Vec::with_capacity(usize::try_from(bytes).map_err(|_| other())?);
            let mut stream = found.into_stream();
            while let Some(piece) = stream.next().await {
                text.extend_from_slice(&piece.map_err(|error| self.refused(&error))?);
            }
            Ok(Some(text))
        };
        let text = self.in_time(work).await??;
        match text {
            Some(text) if <[u8; 32]>::from(Sha256::digest(&text)) != *sha256 => Err(other()),
            text => Ok(text),
        }
    }

    /// Removes a text; one that is gone is no error.
    ///
    /// # Errors
    /// What the store says.
    pub async fn remove(&self, space: &str, sha256: &[u8; 32]) -> Result<(), SharedError> {
        match self.in_time(self.store.delete(&place(space, sha256))).await? {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.refused(&error)),
        }
    }

    async fn in_time<T>(&self, work: impl Future<Output = T>) -> Result<T, SharedError> {
        let late = || SharedError::NoObjects(format!("{}: no answer within {} s", self.url, PATIENCE.as_secs()));
        timeout(PATIENCE, work).await.map_err(|_| late())
    }

    fn refused(&self, error: &object_store::Error) -> SharedError {
        SharedError::NoObjects(format!("{}: {error}", self.url))
    }
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
