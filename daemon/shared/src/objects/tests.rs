#![allow(clippy::disallowed_methods, reason = "a test plays somebody else")]

use sha2::{Digest, Sha256};

use super::*;

#[test]
fn a_url_has_a_place_and_no_key() {
    for url in ["s3://bucket", "s3://bucket/folder/below", "file:///mnt/shared"] {
        assert!(check(url).is_ok(), "{url}");
    }
    for url in [
        "s3://",
        "s3:///folder",
        "s3://key:secret@bucket",
        "s3://key@bucket",
        "s3://bucket?key=1",
        "file://host/x",
        "file:///",
        "https://bucket.example.org",
        "bucket",
        "",
    ] {
        let error = check(url).unwrap_err();
        assert!(error.contains("must be a URL like") && !error.contains("secret"), "{url}: {error}");
    }
}

fn sha256(text: &str) -> [u8; 32] {
    Sha256::digest(text).into()
}

#[tokio::test]
async fn what_is_put_comes_back_is_never_changed_and_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let objects = Objects::new(&format!("file://{}", folder.path().display()), S3::default()).unwrap();
    let sha256 = sha256("grüße");
    objects.put("team", &sha256, "grüße".into()).await.unwrap();
    objects.put("team", &sha256, "grüße".into()).await.unwrap();
    assert_eq!(objects.get("team", &sha256, 7).await.unwrap().as_deref(), Some("grüße".as_bytes()));
    assert_eq!(objects.get("other", &sha256, 7).await.unwrap(), None);
    assert!(matches!(objects.get("team", &sha256, 8).await, Err(SharedError::Refused(_))));
    // What a power cut left is put anew.
    let place = folder.path().join(place("team", &sha256).to_string());
    std::fs::write(&place, "gr").unwrap();
    objects.put("team", &sha256, "grüße".into()).await.unwrap();
    assert_eq!(std::fs::read_to_string(&place).unwrap(), "grüße");
    objects.remove("team", sha256).await.unwrap();
    objects.remove("team", sha256).await.unwrap();
    assert!(!place.exists());
}

#[tokio::test]
async fn a_folder_that_is_missing_is_named_and_used_once_it_is_there() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("later");
    let objects = Objects::new(&format!("file://{}", below.display()), S3::default()).unwrap();
    let error = objects.put("team", &sha256("x"), "x".into()).await.unwrap_err();
    assert!(error.to_string().contains("later can't be used"), "{error}");
    std::fs::create_dir(&below).unwrap();
    objects.put("team", &sha256("x"), "x".into()).await.unwrap();
}

#[test]
fn a_store_without_a_key_is_not_asked() {
    let error = Objects::new("s3://agents", S3::default()).unwrap_err();
    assert!(error.contains("access_key_env"), "{error}");
}
