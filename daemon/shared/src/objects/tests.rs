#![allow(clippy::disallowed_methods, reason = "a test plays somebody else")]

use std::os::unix::fs::PermissionsExt;

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
    assert!(!objects.is_marked("team").await.unwrap());
    objects.mark().await.unwrap();
    objects.put("team", &sha256, "grüße".into()).await.unwrap();
    objects.put("team", &sha256, "grüße".into()).await.unwrap();
    assert_eq!(objects.get("team", &sha256, 7).await.unwrap().as_deref(), Some("grüße".as_bytes()));
    assert_eq!(objects.get("other", &sha256, 7).await.unwrap(), None);
    assert!(matches!(objects.get("team", &sha256, 8).await, Err(SharedError::Refused(_))));
    // An incomplete file after a power cut is put again.
    let place = folder.path().join(Name::of("team", &sha256).to_string());
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let above = place.parent().unwrap();
    assert_eq!([mode(&place), mode(above), mode(above.parent().unwrap())], [0o600, 0o700, 0o700]);
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
    objects.mark().await.unwrap();
    objects.put("team", &sha256("x"), "x".into()).await.unwrap();
}

#[tokio::test]
async fn what_is_not_mounted_is_neither_filled_nor_missed() {
    let folder = tempfile::tempdir().unwrap();
    let (mount, away) = (folder.path().join("mount"), folder.path().join("away"));
    std::fs::create_dir(&mount).unwrap();
    let objects = Objects::new(&format!("file://{}", mount.display()), S3::default()).unwrap();
    objects.mark().await.unwrap();
    let (one, other) = (sha256("one"), sha256("other"));
    objects.put("team", &one, "one".into()).await.unwrap();
    for leaves_a_folder in [false, true] {
        std::fs::rename(&mount, &away).unwrap();
        if leaves_a_folder {
            std::fs::create_dir(&mount).unwrap();
            assert!(!objects.is_marked("team").await.unwrap());
        }
        let refused = [
            objects.put("team", &other, "other".into()).await.unwrap_err(),
            objects.get("team", &one, 3).await.unwrap_err(),
            objects.remove("team", one).await.unwrap_err(),
        ];
        assert!(refused.iter().all(|error| matches!(error, SharedError::NoObjects(_))), "{refused:?}");
        assert!(!leaves_a_folder || std::fs::read_dir(&mount).unwrap().next().is_none());
        drop(std::fs::remove_dir(&mount));
        std::fs::rename(&away, &mount).unwrap();
    }
    assert_eq!(objects.get("team", &one, 3).await.unwrap().as_deref(), Some(&b"one"[..]));
    // A folder of an earlier version, with texts of the space and no marker.
    std::fs::remove_file(mount.join(MARKER)).unwrap();
    assert!(objects.is_marked("team").await.unwrap() && mount.join(MARKER).exists());
    assert!(objects.is_marked("..").await.unwrap());
    objects.put("..", &other, "other".into()).await.unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_store_without_a_key_is_not_asked() {
    let error = Objects::new("s3://agents", S3::default()).unwrap_err();
    assert!(error.contains("access_key_env"), "{error}");
}
