use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::Archive;
use crate::testing::archive;

#[test]
fn one_holder_at_a_time() {
    let (_folder, mut archive) = archive();
    assert!(archive.lock("s", "a", Some(300.0), 0.0).unwrap());
    assert!(!archive.lock("s", "b", Some(300.0), 10.0).unwrap());
    assert!(archive.lock("t", "b", Some(300.0), 10.0).unwrap());
    assert!(archive.lock("s", "a", Some(300.0), 200.0).unwrap());
    assert_eq!(archive.reader().lock_holder("s", 299.0).unwrap().as_deref(), Some("a"));
    assert_eq!(archive.reader().lock_holder("s", 300.0).unwrap(), None);
    assert!(archive.lock("s", "b", Some(300.0), 300.0).unwrap());
    assert!(!archive.unlock("s", "a", 301.0).unwrap());
    assert_eq!(archive.reader().lock_holder("s", 301.0).unwrap().as_deref(), Some("b"));
    assert!(archive.unlock("s", "b", 301.0).unwrap());
    assert!(!archive.unlock("s", "b", 301.0).unwrap());
    assert_eq!(archive.reader().lock_holder("s", 301.0).unwrap(), None);
}

#[test]
fn nobody_and_nothing_get_no_lock() {
    let (_folder, mut archive) = archive();
    for (session, holder) in [("", "a"), ("s", ""), ("", "")] {
        assert!(!archive.lock(session, holder, None, 0.0).unwrap());
        assert!(!archive.unlock(session, holder, 0.0).unwrap());
        assert_eq!(archive.reader().lock_holder(session, 0.0).unwrap(), None);
    }
}

#[test]
fn what_is_over_or_bound_otherwise_can_not_be_given_back() {
    let (_folder, mut archive) = archive();
    assert!(archive.lock("s", "a", Some(5.0), 0.0).unwrap());
    assert!(!archive.unlock("s", "a", 5.0).unwrap());
    archive.unlock_unbound("s", "a").unwrap();
    assert_eq!(archive.reader().lock_holder("s", 4.0).unwrap().as_deref(), Some("a"));
    assert!(archive.lock("t", "a", None, 0.0).unwrap());
    archive.unlock_unbound("t", "b").unwrap();
    assert_eq!(archive.reader().lock_holder("t", 1.0).unwrap().as_deref(), Some("a"));
    archive.unlock_unbound("t", "a").unwrap();
    assert_eq!(archive.reader().lock_holder("t", 1.0).unwrap(), None);
}

#[test]
fn locks_without_a_time_end_with_the_daemon() {
    let (_folder, mut archive) = archive();
    assert!(archive.lock("s", "a", None, 0.0).unwrap());
    assert!(archive.lock("t", "a", Some(f64::INFINITY), 0.0).unwrap());
    assert!(!archive.lock("s", "b", None, 1e12).unwrap());
    assert_eq!(archive.drop_unbound_locks().unwrap(), 1);
    assert_eq!(archive.reader().lock_holder("s", 1.0).unwrap(), None);
    assert_eq!(archive.reader().lock_holder("t", 1e12).unwrap().as_deref(), Some("a"));
    assert!(archive.lock("odd", "a", Some(f64::NAN), 0.0).unwrap());
    assert_eq!(archive.reader().lock_holder("odd", 0.0).unwrap(), None);
}

#[test]
fn of_eight_who_race_one_wins() {
    let (folder, archive) = archive();
    drop(archive);
    let path = folder.path().join("archive.db");
    let winners = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (path, winners) = (path.clone(), Arc::clone(&winners));
            scope.spawn(move || {
                let mut archive = Archive::open(&path).unwrap();
                if archive.lock("s", &number.to_string(), Some(300.0), 0.0).unwrap() {
                    winners.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
    });
    assert_eq!(winners.load(Ordering::SeqCst), 1);
}
