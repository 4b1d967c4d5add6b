//! Subscribers get a notification of every change, by any program, without polling.

use herma_client::{Client, ClientError, Codec};
use herma_protocol::ErrorKind;
use herma_protocol::daemon::SubscribeParams;
use herma_protocol::memory::{AddParams, RestoreParams, Target, UndoParams};
use herma_protocol::notification::{Cause, MemoryChanged, Notification};
use herma_protocol::session::OpenParams;
use herma_tests::{Daemon, Home, Raw, eventually, kind};
use serde_json::{Value, json};

mod slow;

const CHANGES: &str = "memory.changed";

fn add(target: Target, content: &str, session: Option<&str>) -> AddParams {
    let session = session.map(str::to_owned);
    AddParams { target, content: content.into(), session, agent: None, expected_revision: None }
}

fn subscriber(daemon: &Daemon) -> Raw {
    let mut raw = daemon.raw();
    let topics = json!({ "topics": [CHANGES] });
    assert_eq!(raw.result("subscribe", &topics), topics);
    raw
}

/// Returns the params of the next notification.
fn next_event(raw: &mut Raw) -> Value {
    let mut line = raw.read();
    assert_eq!(
        (&line["jsonrpc"], &line["method"], &line["id"]),
        (&json!("2.0"), &json!(CHANGES), &json!(null)),
        "{line}"
    );
    line["params"].take()
}

fn changed(profile: &str, target: Target, revision: u64, cause: Cause, session: Option<&str>) -> MemoryChanged {
    MemoryChanged { profile: profile.into(), target, revision, cause, session: session.map(str::to_owned), agent: None }
}

/// Makes writes, an edit by hand, an undo and a restore. Returns the expected notifications.
fn make_changes(home: &Home, daemon: &Daemon) -> Vec<MemoryChanged> {
    let mut client = daemon.client();
    client.memory_add(add(Target::Memory, "one", Some("s1"))).unwrap();
    client.memory_add(add(Target::User, "two", None)).unwrap();
    // A write without effect and a refused write cause no notification.
    client.memory_add(add(Target::User, "two", Some("s1"))).unwrap();
    client.memory_add(add(Target::User, "", Some("s1"))).unwrap();
    let (target, session) = (Target::Memory, Some("s2".to_owned()));
    client.memory_undo(UndoParams { target, session: session.clone(), agent: None, expected_revision: None }).unwrap();
    let restore = RestoreParams { target, revision: 1, session, agent: None, expected_revision: None };
    client.memory_restore(restore).unwrap();
    let mut at_work = daemon.client().with_profile(Some("work".into()));
    at_work.session_open(OpenParams { session: "w".into(), ..OpenParams::default() }).unwrap();
    at_work.memory_add(add(Target::User, "at work", Some("w"))).unwrap();
    home.write_store(Target::User, b"by hand");
    vec![
        changed("default", Target::Memory, 1, Cause::Write, Some("s1")),
        changed("default", Target::User, 1, Cause::Write, None),
        changed("default", Target::Memory, 2, Cause::Undo, Some("s2")),
        changed("default", Target::Memory, 3, Cause::Restore, Some("s2")),
        changed("work", Target::User, 1, Cause::Write, Some("w")),
        changed("default", Target::User, 2, Cause::External, None),
    ]
}

#[test]
fn a_client_hears_of_every_change_in_both_codecs() {
    for codec in [Codec::Json, Codec::Bincode] {
        let home = Home::new();
        let daemon = Daemon::start(&home);
        let mut client = daemon.client_with(codec);
        let topics = vec![CHANGES.to_owned()];
        assert_eq!(client.subscribe(SubscribeParams { topics: topics.clone() }).unwrap().topics, topics);
        for expected in make_changes(&home, &daemon) {
            let Notification::MemoryChanged(told) = client.next_notification().unwrap() else {
                panic!("another topic")
            };
            assert_eq!(told, expected, "{codec:?}");
        }
        // The client can still send requests.
        assert!(client.memory_add(add(Target::Memory, "mine", None)).unwrap().success);
        let Notification::MemoryChanged(told) = client.next_notification().unwrap() else { panic!("another topic") };
        assert_eq!(told, changed("default", Target::Memory, 4, Cause::Write, None));
    }
}

#[test]
fn notifications_are_lines_without_an_id() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    for expected in make_changes(&home, &daemon) {
        assert_eq!(next_event(&mut raw), serde_json::to_value(&expected).unwrap());
    }
    assert_eq!(raw.result("ping", &json!({})), json!({}));
}

#[test]
fn what_sessions_do_is_published_in_its_order_and_only_to_subscribers() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let topics = ["session.changed", "messages.appended", "output.spilled", "memory.refused", "window.changed"];
    raw.result("subscribe", &json!({ "topics": topics }));
    let mut of_stores = subscriber(&daemon);
    let mut next = |method: &str| {
        let mut line = raw.read();
        assert_eq!(line["method"], method, "{line}");
        line["params"].take()
    };
    let mut agent = daemon.raw();
    let open = json!({ "session": "s", "agent": "codex", "title": "Fix the build", "cwd": "/srv/app" });
    agent.result("session.open", &open);
    let opened = json!({
        "session": "s", "profile": "default", "change": "opened",
        "agent": "codex", "title": "Fix the build", "cwd": "/srv/app",
    });
    assert_eq!(next("session.changed"), opened);
    agent.result("session.open", &json!({ "session": "s" }));
    assert_eq!(next("session.changed")["change"], "resumed");
    let message = json!({ "role": "user", "content": "hello" });
    let append = json!({ "session": "s", "generation": 0, "position": 0, "messages": [message, message] });
    for _ in 0..2 {
        agent.result("session.append", &append);
        assert_eq!(next("messages.appended"), json!({ "session": "s", "generation": 0, "position": 2 }));
    }
    // A session that an append opens is one, too.
    agent.result("session.append", &json!({ "session": "t", "generation": 0, "position": 0, "messages": [message] }));
    assert_eq!(next("session.changed")["session"], "t");
    assert_eq!(next("messages.appended")["position"], 1);
    let content = "x".repeat(200_000);
    let admit = json!({ "session": "s", "tool": "terminal", "id": "call_1", "content": content });
    let admitted = agent.result("output.admit", &admit);
    let spilled = next("output.spilled");
    assert_eq!((&spilled["tool"], &spilled["chars"]), (&json!("terminal"), &json!(200_000)), "{spilled}");
    assert!(admitted.to_string().contains(spilled["handle"].as_str().unwrap()), "{admitted}");
    let results =
        json!([{ "tool": "a", "content": content }, { "id": "b", "tool": "read", "content": "y".repeat(150_000) }]);
    agent.result("output.settle_turn", &json!({ "session": "s", "results": results }));
    assert_eq!(next("output.spilled")["id"], "budget_0");
    agent.result("memory.add", &json!({ "target": "user", "content": " ", "session": "s", "agent": "codex" }));
    let refused = next("memory.refused");
    assert!(refused["error"].as_str().unwrap().contains("content is empty"), "{refused}");
    assert_eq!((&refused["target"], &refused["agent"]), (&json!("user"), &json!("codex")));
    agent.result("memory.tool", &json!({ "arguments": { "action": "sing" }, "session": "s" }));
    assert_eq!(next("memory.refused")["target"], json!(null));
    let change = json!({ "time": 1.5, "kind": "context", "added": 300, "removed": 0 });
    agent.result("ledger.record", &json!({ "session": "s", "changes": [] }));
    agent.result("ledger.record", &json!({ "session": "s", "changes": [change] }));
    assert_eq!(next("window.changed"), json!({ "session": "s", "changes": [change] }));
    agent.result("session.update", &json!({ "session": "s", "title": "Later" }));
    assert_eq!(next("session.changed")["title"], "Later");
    agent.result("session.close", &json!({ "session": "s" }));
    assert_eq!(next("session.changed")["change"], "closed");
    agent.result("memory.add", &json!({ "target": "user", "content": "Likes tea.", "agent": "codex" }));
    assert_eq!(next_event(&mut of_stores)["agent"], "codex", "the first that this subscriber hears");
}

#[test]
fn an_edit_by_another_program_is_told_without_any_request() {
    let home = Home::new();
    home.write_store(Target::Memory, b"before");
    let daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    // Opening a store is not a change.
    assert_eq!(daemon.raw().result("memory.list", &json!({}))["memory"]["revision"], 1);
    let folder = home.path().join("memories");
    for (round, revision) in (2..12).enumerate() {
        if round % 2 == 0 {
            home.write_store(Target::Memory, format!("in place {round}").as_bytes());
        } else {
            std::fs::write(folder.join(".new"), format!("put in its place {round}")).unwrap();
            std::fs::rename(folder.join(".new"), home.store(Target::Memory)).unwrap();
        }
        let told = next_event(&mut raw);
        let expected = changed("default", Target::Memory, revision, Cause::External, None);
        assert_eq!(told, serde_json::to_value(&expected).unwrap());
    }
    std::fs::remove_file(home.store(Target::Memory)).unwrap();
    assert_eq!(next_event(&mut raw)["revision"], 12);
    home.write_store(Target::User, b"the first");
    let told = next_event(&mut raw);
    assert_eq!((&told["target"], &told["revision"]), (&json!("user"), &json!(1)), "{told}");
}

#[test]
fn a_staged_write_is_told_when_it_is_approved() {
    let home = Home::configured("[memory]\napproval = true\n");
    let daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    let params = json!({ "target": "user", "content": "one", "session": "s1" });
    daemon.raw().result("memory.add", &params);
    daemon.raw().result("memory.approve", &json!({ "all": true }));
    let expected = changed("default", Target::User, 1, Cause::Write, Some("s1"));
    assert_eq!(next_event(&mut raw), serde_json::to_value(&expected).unwrap());
}

#[test]
fn an_unknown_topic_is_refused_with_the_nearest_one() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    for (topics, words) in [
        (json!(["memory.change"]), "did you mean \"memory.changed\""),
        (json!([CHANGES, "compresion.done"]), "did you mean \"compression.done\""),
        (json!(["*"]), "memory.changed"),
        (json!([7]), "topics"),
        (json!(CHANGES), "topics"),
        (json!(null), "topics"),
    ] {
        let reply = raw.call("subscribe", &json!({ "topics": topics }));
        assert_eq!(kind(&reply), "invalid_params", "{topics}: {reply}");
        assert!(reply["error"]["message"].as_str().unwrap().contains(words), "{topics}: {reply}");
    }
    for codec in [Codec::Json, Codec::Bincode] {
        let mut client = daemon.client_with(codec);
        let refused = client.subscribe(SubscribeParams { topics: vec!["memory".into()] });
        assert!(
            matches!(&refused, Err(ClientError::Rpc(error)) if error.kind == ErrorKind::InvalidParams),
            "{refused:?}"
        );
    }
    // Earlier subscriptions stay.
    daemon.raw().result("memory.add", &json!({ "target": "user", "content": "one" }));
    assert_eq!(next_event(&mut raw)["revision"], 1);
}

#[test]
fn another_list_takes_the_place_of_the_first_and_an_empty_one_ends_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    let mut writer = daemon.raw();
    for (number, topics) in [json!([]), json!(["compression.done", "output.expired"])].into_iter().enumerate() {
        assert_eq!(raw.result("subscribe", &json!({ "topics": topics })), json!({ "topics": topics }));
        writer.result("memory.add", &json!({ "target": "user", "content": number.to_string() }));
        // `call` fails if a notification arrives before the answer.
        assert_eq!(raw.result("memory.list", &json!({}))["user"]["revision"], number + 1);
        let revision = raw.result("memory.add", &json!({ "target": "memory", "content": number.to_string() }));
        assert_eq!(revision["revision"], number + 1);
    }
    assert_eq!(raw.result("subscribe", &json!({ "topics": [CHANGES] })), json!({ "topics": [CHANGES] }));
    writer.result("memory.add", &json!({ "target": "user", "content": "three" }));
    assert_eq!(next_event(&mut raw)["revision"], 3);
}

#[test]
fn a_subscriber_that_said_all_it_has_to_say_is_still_told() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    raw.finish();
    for revision in 1..=50 {
        daemon.raw().result("memory.add", &json!({ "target": "user", "content": revision.to_string() }));
        assert_eq!(next_event(&mut raw)["revision"], revision);
    }
    let before = daemon.raw().result("status", &json!({}))["connections"].as_u64().unwrap();
    drop(raw);
    eventually("the connection to end although nothing is sent", || {
        let now = daemon.raw().result("status", &json!({}))["connections"].as_u64().unwrap();
        (now < before).then_some(())
    });
}

#[test]
fn subscriptions_end_with_the_daemon() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    let mut half_closed = subscriber(&daemon);
    half_closed.finish();
    let mut client: Client = daemon.client();
    client.subscribe(SubscribeParams { topics: vec![CHANGES.into()] }).unwrap();
    daemon.raw().result("memory.add", &json!({ "target": "user", "content": "one" }));
    for raw in [&mut raw, &mut half_closed] {
        assert_eq!(next_event(raw)["revision"], 1);
    }
    assert!(matches!(client.next_notification(), Ok(Notification::MemoryChanged(_))));
    daemon.terminate();
    assert!(daemon.ended().success());
    assert_eq!((raw.rest(), half_closed.rest()), (vec![], vec![]));
    assert!(matches!(client.next_notification(), Err(ClientError::Lost(_))));
}

#[test]
fn an_edit_of_a_profile_that_nobody_used_since_the_start_is_told_too() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    daemon.raw().result("profile.create", &json!({ "name": "work" }));
    let store = home.path().join("profiles/work/memories/USER.md");
    daemon.raw().result("memory.add", &json!({ "target": "user", "content": "one", "profile": "work" }));
    daemon.kill();
    let daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    std::fs::write(store, "by hand").unwrap();
    let expected = changed("work", Target::User, 2, Cause::External, None);
    assert_eq!(next_event(&mut raw), serde_json::to_value(&expected).unwrap());
}

#[test]
fn a_store_that_is_mended_is_told_although_a_write_to_it_failed_before() {
    let home = Home::new();
    home.write_store(Target::User, b"\xff\xfe");
    let daemon = Daemon::start(&home);
    let mut raw = subscriber(&daemon);
    let refused = daemon.raw().call("memory.add", &json!({ "target": "user", "content": "one" }));
    assert_eq!(kind(&refused), "unreadable", "{refused}");
    // The store's thread runs one job after the other. So it has now finished the work that the failed write left.
    let seen = daemon.raw().call("memory.list", &json!({ "target": "user" }));
    assert_eq!(kind(&seen), "unreadable", "{seen}");
    home.write_store(Target::User, b"by hand");
    assert_eq!(
        (&next_event(&mut raw)["cause"], home.entries(Target::User)),
        (&json!("external"), vec!["by hand".to_owned()])
    );
}
