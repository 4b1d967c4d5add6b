//! The lock that an agent takes before it compresses a session on its own.

use std::sync::Barrier;

use herma_tests::{Daemon, Home, Raw, eventually};
use serde_json::{Value, json};

fn lock(raw: &mut Raw, session: &str, holder: &str, ttl: &Value) -> bool {
    let params = json!({ "session": session, "holder": holder, "ttl_s": ttl });
    raw.result("session.lock", &params)["ok"].as_bool().unwrap()
}

fn unlock(raw: &mut Raw, session: &str, holder: &str) -> bool {
    raw.result("session.unlock", &json!({ "session": session, "holder": holder }))["ok"].as_bool().unwrap()
}

fn holder(raw: &mut Raw, session: &str) -> Value {
    raw.result("session.lock_holder", &json!({ "session": session }))["holder"].take()
}

#[test]
fn of_eight_that_race_exactly_one_wins() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for round in 0..10 {
        let session = format!("s{round}");
        let start = Barrier::new(8);
        let winners: Vec<String> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|racer| {
                    let (mut raw, name) = (daemon.raw(), format!("agent-{racer}"));
                    let (start, session) = (&start, &session);
                    scope.spawn(move || {
                        start.wait();
                        lock(&mut raw, session, &name, &json!(null)).then_some(name)
                    })
                })
                .collect();
            racers.into_iter().filter_map(|racer| racer.join().unwrap()).collect()
        });
        assert_eq!(winners.len(), 1, "{winners:?}");
        assert_eq!(holder(&mut daemon.raw(), &session), json!(winners[0]));
    }
}

#[test]
fn only_the_holder_has_and_gives_back_the_lock() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let (mut one, mut two) = (daemon.raw(), daemon.raw());
    let always = json!(null);
    assert_eq!(holder(&mut one, "s"), json!(null));
    assert!(lock(&mut one, "s", "a", &always));
    assert!(!lock(&mut two, "s", "b", &always) && !lock(&mut one, "s", "b", &always));
    // A holder is identified by its name, on any connection.
    assert!(lock(&mut one, "s", "a", &always) && lock(&mut two, "s", "a", &always));
    assert!(lock(&mut two, "other", "b", &always));
    assert!(!unlock(&mut two, "s", "b") && !unlock(&mut two, "unknown", "b"));
    assert_eq!(holder(&mut two, "s"), "a");
    drop(one);
    assert_eq!(holder(&mut two, "s"), "a", "a lock with a time outlives its connection");
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut two = daemon.raw();
    assert_eq!(holder(&mut two, "s"), "a", "and the daemon");
    assert!(unlock(&mut two, "s", "a") && !unlock(&mut two, "s", "a"));
    assert_eq!(holder(&mut two, "s"), json!(null));
    assert!(lock(&mut two, "s", "b", &always));
}

#[test]
fn a_lock_ends_after_its_time_and_asking_again_does_not_extend_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    assert!(lock(&mut raw, "s", "a", &json!(0.2)));
    // The second request is granted, but does not extend the lock.
    assert!(lock(&mut raw, "s", "a", &json!(3600)) || holder(&mut raw, "s").is_null());
    eventually("the lock to expire", || lock(&mut raw, "s", "b", &json!(null)).then_some(()));
    assert_eq!(holder(&mut raw, "s"), "b");
    assert!(!lock(&mut raw, "s", "a", &json!(null)) && !unlock(&mut raw, "s", "a"));
    assert!(lock(&mut raw, "t", "a", &json!(0.05)));
    eventually("the holder to be nobody", || holder(&mut raw, "t").is_null().then_some(()));
    assert!(!unlock(&mut raw, "t", "a"), "who lost it has nothing to give back");
}

#[test]
fn a_lock_without_a_time_ends_with_its_connection() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let (mut one, mut two) = (daemon.raw(), daemon.raw());
    assert!(lock(&mut one, "s", "a", &json!(0)) && lock(&mut one, "t", "a", &json!(0)));
    assert!(!lock(&mut two, "s", "b", &json!(0)));
    assert_eq!(holder(&mut two, "s"), "a");
    assert!(unlock(&mut one, "t", "a"));
    assert!(lock(&mut two, "t", "a", &json!(null)));
    drop(one);
    eventually("the lock to end", || lock(&mut two, "s", "b", &json!(0)).then_some(()));
    assert_eq!(holder(&mut two, "s"), "b");
    assert_eq!(holder(&mut two, "t"), "a", "another's lock of the same name stays");
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(holder(&mut daemon.raw(), "s"), json!(null), "no connection outlives the daemon");
}

#[test]
fn an_empty_id_is_never_locked() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for ttl in [json!(null), json!(0), json!(5)] {
        assert!(!lock(&mut raw, "", "a", &ttl));
    }
    assert!(!unlock(&mut raw, "", "a"));
    assert_eq!(holder(&mut raw, ""), json!(null));
    // A lock does not open a session.
    assert!(lock(&mut raw, "s", "a", &json!(null)));
    assert_eq!(raw.result("session.list", &json!({ "raw": true })), json!({ "sessions": [] }));
}
