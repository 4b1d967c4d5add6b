//! Subscribers that don't read.

use std::sync::Barrier;
use std::time::{Duration, Instant};

use super::*;

/// Makes `count` writes that swap two texts in a store.
fn write_much(daemon: &Daemon, count: u64) {
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        for target in [Target::Memory, Target::User] {
            let (mut client, barrier) = (daemon.client(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                client.memory_add(add(target, "zero", Some(&"s".repeat(1000)))).unwrap();
                for _ in 1..count / 2 {
                    let session = Some("s".repeat(1000));
                    let params = UndoParams { target, session, agent: None, expected_revision: None };
                    assert!(client.memory_undo(params).unwrap().success);
                }
            });
        }
    });
}

/// Reads the notifications that were kept for a subscriber, in order and up to the newest.
fn catch_up(raw: &mut Raw, newest: u64) {
    let mut last = [0; 2];
    while last != [newest; 2] {
        let event = next_event(raw);
        let last = &mut last[usize::from(event["target"] == "user")];
        let revision = event["revision"].as_u64().unwrap();
        assert!(revision > *last, "{event} after {last}");
        *last = revision;
    }
    assert_eq!(raw.result("ping", &json!({})), json!({}));
}

#[test]
fn a_subscriber_that_does_not_read_hinders_nobody() {
    let home = Home::configured("[memory]\njournal_revisions = 10\n");
    let mut daemon = Daemon::start(&home);
    let mut deaf: Vec<Raw> = (0..20).map(|_| subscriber(&daemon)).collect();
    let mut listening = daemon.client();
    listening.subscribe(SubscribeParams { topics: vec![CHANGES.into()] }).unwrap();
    let (before, _) = daemon.memory_when_warm();
    let (count, began) = (4800, Instant::now());
    std::thread::scope(|scope| {
        let all = scope.spawn(|| {
            let mut last = [0; 2];
            while last != [count / 2; 2] {
                let Notification::MemoryChanged(event) = listening.next_notification().unwrap() else {
                    panic!("another topic")
                };
                let last = &mut last[usize::from(event.target == Target::User)];
                assert_eq!(event.revision, *last + 1, "one was missed");
                *last = event.revision;
            }
        });
        write_much(&daemon, count);
        all.join().unwrap();
    });
    daemon.assert_serves();
    let (_, most) = daemon.memory();
    // 20 × 4,800 × 1 KB would be 100 MB.
    assert!(most < before + (60 << 20), "{before} bytes before, {most} at most");
    // A subscriber that reads nothing for 30 s is disconnected, which can happen on a slow machine.
    if began.elapsed() < Duration::from_secs(20) {
        catch_up(&mut deaf[0], count / 2);
    }
    // Slow subscribers don't delay the shutdown.
    assert_eq!(daemon.raw().result("shutdown", &json!({ "drain_ms": 100 })), json!({}));
    assert!(daemon.ended().success());
}
