//! Tests of the client library where no daemon runs.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "tests put files there as other programs do")]

use std::fs;

use herma_client::{Client, ClientError, Codec, Place, connect};
use tempfile::TempDir;

/// Returns a home for one test. Dropping the first value removes it.
fn home() -> (TempDir, Place) {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("herma")).unwrap();
    let place = Place { home: folder.path().to_owned(), socket: folder.path().join("herma/hermad.sock") };
    (folder, place)
}

#[test]
fn a_client_and_its_errors_can_be_sent_to_other_threads() {
    fn can_be_sent<T: Send + 'static>() {}
    fn is_an_error<T: std::error::Error + Send + Sync + 'static>() {}
    can_be_sent::<Client>();
    is_an_error::<ClientError>();
}

#[test]
fn a_place_has_one_name_however_it_is_written() {
    let place = Place::find(Some("/srv/./agents/".into()), Some("/run/./herma.sock".into())).unwrap();
    assert_eq!((place.home.to_str(), place.socket.to_str()), (Some("/srv/agents"), Some("/run/herma.sock")));
}

#[test]
fn a_socket_that_a_daemon_wrote_into_its_lock_is_another_place_of_the_home() {
    let (_folder, place) = home();
    assert_eq!(place.as_locked(), None);
    let lock = place.home.join("herma/hermad.lock");
    fs::write(&lock, "pid 1 on /run/other.sock\n").unwrap();
    assert_eq!(place.as_locked(), Some(Place { home: place.home.clone(), socket: "/run/other.sock".into() }));
    fs::write(&lock, format!("pid 1 on {}\n", place.socket.display())).unwrap();
    assert_eq!(place.as_locked(), None);
}

#[test]
fn where_nobody_listens_the_error_names_the_socket() {
    let (_folder, place) = home();
    for codec in [Codec::Bincode, Codec::Json] {
        let error = connect(&place, codec).unwrap_err();
        assert!(matches!(error, ClientError::Unreachable { .. }), "{error:?}");
        assert!(error.to_string().contains(place.socket.to_str().unwrap()), "{error}");
    }
}
