//! A bucket of an S3-compatible object store.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::StreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as ObjectPath;
use object_store::prefix::PrefixStore;
use object_store::{ClientOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, RetryConfig};
use url::Url;

use super::{Found, Name, PATIENCE, S3};

pub(super) async fn put(store: &dyn ObjectStore, name: &Name, text: String) -> object_store::Result<()> {
    let (place, text) = (place(name), Bytes::from(text));
    let options = PutOptions { mode: PutMode::Create, ..PutOptions::default() };
    match store.put_opts(&place, text.clone().into(), options).await {
        Ok(_) => Ok(()),
        Err(object_store::Error::AlreadyExists { .. }) => {
            // Another host may have put a part of it.
            let there = store.head(&place).await?;
            if there.size == text.len() as u64 { Ok(()) } else { store.put(&place, text.into()).await.map(drop) }
        }
        // A store without conditional puts gets the same bytes again.
        Err(error) if is_not_known(&error) => store.put(&place, text.into()).await.map(drop),
        Err(error) => Err(error),
    }
}

pub(super) async fn get(store: &dyn ObjectStore, name: &Name, bytes: u64) -> object_store::Result<Found> {
    let found = match store.get(&place(name)).await {
        Err(object_store::Error::NotFound { .. }) => return Ok(Found::Nothing),
        found => found?,
    };
    if found.meta.size != bytes {
        return Ok(Found::Other);
    }
    let mut text = Vec::with_capacity(usize::try_from(bytes).unwrap_or_default());
    let mut stream = found.into_stream();
    while let Some(piece) = stream.next().await {
        text.extend_from_slice(&piece?);
        if text.len() as u64 > bytes {
            return Ok(Found::Other);
        }
    }
    Ok(Found::Text(text))
}

pub(super) async fn remove(store: &dyn ObjectStore, name: &Name) -> object_store::Result<()> {
    match store.delete(&place(name)).await {
        Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Whether a store does not support the request.
fn is_not_known(error: &object_store::Error) -> bool {
    matches!(error, object_store::Error::NotImplemented { .. }) || error.to_string().contains("501")
}

fn place(name: &Name) -> ObjectPath {
    ObjectPath::from_iter([&*name.space, name.first(), &name.digits])
}

pub(super) fn open(url: &Url, s3: &S3) -> Result<Arc<dyn ObjectStore>, String> {
    let store = amazon(url, s3).map_err(|error| error.to_string())?;
    Ok(match url.path().trim_matches('/') {
        "" => Arc::new(store),
        folder => Arc::new(PrefixStore::new(store, folder)),
    })
}

fn amazon(url: &Url, s3: &S3) -> object_store::Result<object_store::aws::AmazonS3> {
    // The crate needs a default provider of the process. Installing a second one changes nothing.
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
