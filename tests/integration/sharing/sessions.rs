//! Sessions that move from host to host.

use herma_protocol::Json;
use herma_tests::{Postgres, eventually};
use serde_json::{Value, json};

use super::{Host, server};
use crate::compression::conversation;

/// The compressor that keeps every part.
const LOSSLESS: &str = "lossless";

impl Host {
    fn opens(&self, session: &str) -> Value {
        self.ask("session.open", &json!({ "session": session }))
    }

    /// Waits until no other host has a session, and opens it.
    pub(super) fn takes(&self, session: &str) -> Value {
        eventually(&format!("{session} comes"), || {
            let reply = self.raw().call("session.open", &json!({ "session": session }));
            match reply.get("error") {
                None => Some(reply["result"].clone()),
                Some(error) => {
                    assert_eq!(error["data"]["kind"], "conflict", "{reply}");
                    None
                }
            }
        })
    }

    fn says(&self, session: &str, generation: u64, position: u64, messages: &[Json]) -> u64 {
        let append = json!({
            "session": session, "generation": generation, "position": position, "messages": messages,
        });
        self.ask("session.append", &append)["position"].as_u64().unwrap()
    }

    fn closes(&self, session: &str) {
        self.ask("session.close", &json!({ "session": session }));
    }

    fn compresses(&self, session: &str) -> Value {
        let params = json!({ "session": session, "force": true, "reply": "messages" });
        self.ask("context.compress", &params)
    }

    /// Waits until this host has uploaded all its sessions and messages. A busy machine may answer too late at first, and
    /// the host says so until it has tried again.
    fn has_told(&self) {
        eventually("all is told", || {
            let status = self.ask("shared.status", &json!({}));
            let is_told = status["sessions"]["waiting"] == 0 && status["messages"]["waiting"] == 0;
            (is_told && status["sessions"].get("error").is_none()).then_some(())
        });
    }

    /// Returns all messages that a compression removed from the list of a session.
    fn gone(&self, handle: &str) -> Vec<Value> {
        let (mut all, mut next) = (Vec::new(), Some(handle.to_owned()));
        while let Some(handle) = next {
            let page = self.ask("recall.expand", &json!({ "handle": handle }));
            all.extend(page["items"].as_array().unwrap().iter().map(|item| item["message"].clone()));
            next = page["next"].as_str().map(str::to_owned);
        }
        all
    }
}

/// Expires all leases, as after a minute without renewal.
fn let_leases_run_out(server: &Postgres) {
    server.sql("herma", "UPDATE herma.session SET lease = now() - interval '1 second'");
}

fn user(text: &str) -> Json {
    Json::parse(json!({ "role": "user", "content": text }).to_string()).unwrap()
}

#[test]
fn a_session_moves_twice_is_compressed_on_each_host_and_is_whole() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    other.holds(&["likes tea"]);
    let opened = one.opens("s");
    assert_eq!(opened.get("moved_from"), None);
    one.ask("context.configure", &json!({ "session": "s", "engine": LOSSLESS, "context_length": 200_000 }));
    let list = conversation(300);
    let at = one.says("s", 0, 0, &list);
    one.ask("constraint.add", &json!({ "session": "s", "text": "never push to main" }));
    let first = one.compresses("s");
    assert_eq!(first["report"]["generation"], 1, "{at} {first}");
    // Writes by other hosts do not change a frozen snapshot.
    other.add("likes coffee");
    one.holds(&["likes tea", "likes coffee"]);
    one.closes("s");
    let came = other.takes("s");
    assert_eq!((&came["moved_from"], &came["generation"], &came["resumed"]), (&json!("a"), &json!(1), &json!(true)));
    assert_eq!(came["snapshot"], opened["snapshot"]);
    let rules = other.ask("constraint.list", &json!({ "session": "s" }));
    assert!(rules.to_string().contains("never push to main"), "{rules}");
    assert_eq!(
        other.gone(first["report"]["archived"]["handle"].as_str().unwrap()),
        one.gone(first["report"]["archived"]["handle"].as_str().unwrap())
    );
    // The session continues on the other host, and then moves back.
    let next = first["messages"].as_array().unwrap().len() as u64;
    let more: Vec<Json> = conversation(600).split_off(300);
    other.says("s", 1, next, &more);
    let second = other.compresses("s");
    assert_eq!(second["report"]["generation"], 2);
    let length = second["messages"].as_array().unwrap().len() as u64;
    other.says("s", 2, length, &[user("the heron nests at kilometre 4711")]);
    other.closes("s");
    let back = one.takes("s");
    assert_eq!((&back["moved_from"], &back["generation"]), (&json!("b"), &json!(2)));
    assert_eq!(
        one.gone(second["report"]["archived"]["handle"].as_str().unwrap()),
        other.gone(second["report"]["archived"]["handle"].as_str().unwrap())
    );
    // Each host finds every message once, including one from after the return.
    one.says("s", 2, length + 1, &[user("the stork flew by at kilometre 5000")]);
    one.has_told();
    for (host, number) in [(&one, "4711"), (&other, "4711"), (&one, "5000"), (&other, "5000")] {
        let query = format!("kilometre {number}");
        let found = host.ask("recall.search", &json!({ "query": query, "scope": "everywhere" }));
        let hits = found["hits"].as_array().unwrap();
        let of_it = hits.iter().filter(|hit| hit["snippet"].as_str().unwrap().contains(number)).count();
        assert_eq!(of_it, 1, "{found}");
    }
    // A part that one host removed can be opened on the other, and both compressions can be undone there.
    let last: Vec<Json> = conversation(900).split_off(600);
    one.says("s", 2, length + 2, &last);
    let third = one.compresses("s");
    assert_eq!(third["report"]["generation"], 3, "{third}");
    let described = one.ask("recall.describe", &json!({ "session": "s" }));
    let node = described["map"][0]["id"].as_str().unwrap().to_owned();
    assert!(
        !one.ask("context.open", &json!({ "session": "s", "node": node }))["messages"].as_array().unwrap().is_empty()
    );
    one.ask("context.fold", &json!({ "session": "s", "node": node }));
    let undone = one.ask("context.undo", &json!({ "session": "s", "generation": 0 }));
    let texts: Vec<&Value> = undone["messages"].as_array().unwrap().iter().collect();
    assert_eq!(texts.len(), list.len() + more.len() + 2 + last.len(), "all that was said on both");
}

#[test]
fn who_has_a_session_keeps_it_until_nobody_hears_of_it() {
    let Some(server) = server() else { return };
    let (mut one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.opens("s");
    one.says("s", 0, 0, &[user("one"), user("two")]);
    one.has_told();
    let refused = other.raw().call("session.open", &json!({ "session": "s" }));
    let words = refused["error"]["message"].as_str().unwrap();
    assert!(words.contains("in use on host \"a\""), "{refused}");
    one.kill();
    let_leases_run_out(&server);
    assert_eq!(other.opens("s")["moved_from"], "a");
    other.says("s", 0, 2, &[user("three")]);
    // After a restart, the host must not write the transcript that another host has.
    one.restart();
    one.is("up");
    let append =
        json!({ "session": "s", "generation": 0, "position": 2, "messages": [{ "role": "user", "content": "x" }] });
    let reply = one.raw().call("session.append", &append);
    assert_eq!(reply["error"]["data"]["kind"], "conflict", "{reply}");
    assert!(reply["error"]["message"].as_str().unwrap().contains("goes on on host \"b\""), "{reply}");
    assert_eq!(one.refused("session.open", &json!({ "session": "s" })), "conflict");
    other.closes("s");
    assert_eq!(one.takes("s")["moved_from"], "b");
    assert_eq!(one.says("s", 0, 3, &[user("four")]), 4);
}

#[test]
fn what_was_said_on_a_host_that_was_cut_off_is_a_session_of_its_own() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.opens("s");
    one.says("s", 0, 0, &[user("one"), user("two")]);
    one.has_told();
    one.line.cut();
    one.is("down");
    // The agents of this host continue.
    assert_eq!(one.says("s", 0, 2, &[user("the stork is late")]), 3);
    let_leases_run_out(&server);
    assert_eq!(other.opens("s")["moved_from"], "a");
    assert_eq!(other.says("s", 0, 2, &[user("the heron is early")]), 3);
    one.line.mend();
    one.is("up");
    let fork = eventually("what was said is kept apart", || {
        let list = one.ask("session.list", &json!({ "raw": true }));
        let sessions = list["sessions"].as_array().unwrap();
        sessions.iter().find(|session| session["session"] == "s-on-a-2").cloned()
    });
    assert_eq!(fork["parent"], "s", "{fork}");
    assert_eq!(
        one.refused(
            "session.append",
            &json!({
                "session": "s", "generation": 0, "position": 3, "messages": [{ "role": "user", "content": "x" }],
            })
        ),
        "conflict"
    );
    assert_eq!(one.opens("s-on-a-2")["resumed"], true);
    assert_eq!(one.says("s-on-a-2", 0, 3, &[user("apart")]), 4);
    other.closes("s");
    assert_eq!(one.takes("s")["moved_from"], "b");
    assert_eq!(one.says("s", 0, 3, &[user("together")]), 4);
    // Both are found on all hosts, each in its own session.
    one.has_told();
    for (query, session) in [("stork", "s-on-a-2"), ("heron", "s")] {
        for host in [&one, &other] {
            let found = eventually(&format!("{query} is found"), || {
                let found = host.ask("recall.search", &json!({ "query": query, "scope": "everywhere" }));
                (found["hits"].as_array().unwrap().len() == 1).then_some(found)
            });
            assert_eq!(found["hits"][0]["session"], session, "{found}");
        }
    }
}

#[test]
fn a_takeover_whose_answer_was_lost_holds_nothing_up() {
    let Some(server) = server() else { return };
    for is_open in [true, false] {
        let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
        let session = format!("s-{is_open}");
        one.opens(&session);
        one.says(&session, 0, 0, &[user("the heron nests")]);
        one.has_told();
        if !is_open {
            one.closes(&session);
        }
        // Another host took it and this one took it back, in two terms of which this one knows nothing.
        server.sql("herma", &format!("UPDATE herma.session SET term = term + 2 WHERE session = '{session}'"));
        one.says(&session, 0, 1, &[user("the walrus sings")]);
        one.has_told();
        // What was said in the old term is in a session of its own. A closed session is asked for before it goes on, and
        // goes on in the new term.
        let (home, next) = if is_open { (format!("{session}-on-a-3"), 1) } else { (session.clone(), 2) };
        let found = eventually("what was said", || {
            let found = one.ask("recall.search", &json!({ "query": "walrus", "around": 0 }));
            (found["hits"][0]["session"] == json!(home)).then_some(found)
        });
        assert_eq!(found["hits"].as_array().unwrap().len(), 1, "{found}");
        assert_eq!(one.opens(&session)["resumed"], true);
        one.says(&session, 0, next, &[user("the stork flies")]);
        one.has_told();
        one.closes(&session);
        assert_eq!(other.takes(&session)["moved_from"], "a");
        let found = other.ask("recall.search", &json!({ "query": "stork heron" }));
        assert_eq!(found["hits"][0]["session"], json!(session), "{found}");
    }
}

#[test]
fn what_is_bound_or_masked_does_not_go_and_a_removed_one_goes_from_all() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    let masked = Host::joined(&server, "m", "redact = true\n");
    let alone = Host::joined(&server, "n", "sessions = false\n");
    one.ask("session.open", &json!({ "session": "bound", "host_bound": true }));
    for (host, session) in [(&one, "bound"), (&masked, "masked"), (&alone, "alone")] {
        host.opens(session);
        host.says(session, 0, 0, &[user("one")]);
        host.closes(session);
    }
    one.opens("s");
    one.says("s", 0, 0, &[user("two")]);
    one.closes("s");
    one.has_told();
    assert_eq!(masked.ask("shared.status", &json!({})).get("sessions"), None);
    for session in ["bound", "masked", "alone"] {
        let opened = other.opens(session);
        assert_eq!((&opened["resumed"], opened.get("moved_from")), (&json!(false), None), "{session}");
    }
    assert_eq!(other.takes("s")["moved_from"], "a");
    other.says("s", 0, 1, &[user("three")]);
    other.has_told();
    // The host that no longer has the session may remove its copy. The other host still has everything.
    one.ask("session.remove", &json!({ "session": "s" }));
    other.closes("s");
    other.has_told();
    assert_eq!(one.takes("s")["moved_from"], "b");
    assert_eq!(one.says("s", 0, 2, &[user("four")]), 3);
    one.has_told();
    one.ask("session.remove", &json!({ "session": "s" }));
    eventually("nothing of it is left", || {
        let rows = server.sql("herma", "SELECT count(*) FROM herma.message WHERE session = 's'");
        let sessions = server.sql("herma", "SELECT count(*) FROM herma.session WHERE session = 's'");
        ((rows.as_str(), sessions.as_str()) == ("0", "0")).then_some(())
    });
}

#[test]
fn without_the_database_sessions_are_the_host_s_own() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.opens("s");
    one.says("s", 0, 0, &[user("one")]);
    one.closes("s");
    one.has_told();
    other.line.cut();
    other.is("down");
    // This host can't reach the database, so it starts its own session, which stays a separate one.
    assert_eq!(other.opens("s")["resumed"], false);
    other.says("s", 0, 0, &[user("another")]);
    other.line.mend();
    other.is("up");
    other.has_told();
    assert_eq!(server.sql("herma", "SELECT count(*) FROM herma.session WHERE session = 's'"), "2");
    other.closes("s");
    assert_eq!(other.opens("s").get("moved_from"), None);
    assert_eq!(one.opens("s").get("moved_from"), None);
}

#[test]
fn a_daemon_that_stops_lets_go_and_two_that_open_at_once_get_one_session() {
    let Some(server) = server() else { return };
    let (mut one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.opens("s");
    one.says("s", 0, 0, &[user("one")]);
    one.has_told();
    one.says("s", 0, 1, &[user("said last")]);
    let mut daemon = one.daemon.take().unwrap();
    daemon.terminate();
    assert!(daemon.ended().success());
    let opened: Vec<Value> = std::thread::scope(|scope| {
        let each: Vec<_> = (0..6).map(|_| scope.spawn(|| other.opens("s"))).collect();
        each.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert!(opened.iter().all(|opened| opened["resumed"] == true), "{opened:?}");
    assert_eq!(opened.iter().filter(|opened| opened["moved_from"] == "a").count(), 1, "{opened:?}");
    assert_eq!(other.says("s", 0, 2, &[user("two")]), 3);
}

#[test]
fn what_can_t_be_taken_stays_with_its_host() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.opens("s");
    one.says("s", 0, 0, &[user("one"), user("two")]);
    one.closes("s");
    one.has_told();
    let whole = server.sql("herma", "SELECT body FROM herma.session_part WHERE name = 'head'");
    for (breaks, mends) in [
        ("UPDATE herma.session SET version = 999", "UPDATE herma.session SET version = 18"),
        (
            "UPDATE herma.message SET body = '{}' WHERE number = 1",
            "UPDATE herma.message SET body = '{\"role\":\"user\",\"content\":\"one\"}' WHERE number = 1",
        ),
        (
            "UPDATE herma.session_part SET sha256 = 'x' WHERE name = 'head'",
            "UPDATE herma.session_part SET sha256 = sha256(body::bytea) WHERE name = 'head'",
        ),
        ("ALTER TABLE herma.message RENAME TO aside", "ALTER TABLE herma.aside RENAME TO message"),
    ] {
        server.sql("herma", breaks);
        let reply = other.raw().call("session.open", &json!({ "session": "s" }));
        assert!(reply.get("error").is_some(), "{breaks}: {reply}");
        server.sql("herma", mends);
        let holder = server.sql("herma", "SELECT host || term FROM herma.session");
        assert_eq!(holder, "a1", "{breaks}: {reply}");
    }
    assert!(whole.contains("\"count\":2"));
    // The host that has the session continues it.
    assert_eq!(one.opens("s").get("moved_from"), None);
    assert_eq!(one.says("s", 0, 2, &[user("three")]), 3);
    one.closes("s");
    one.has_told();
    assert_eq!(other.takes("s")["moved_from"], "a");
    assert_eq!(other.says("s", 0, 3, &[user("four")]), 4);
}

#[test]
fn one_that_was_removed_and_begun_again_is_another_one() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    for text in ["the first heron", "the second heron"] {
        one.opens("main");
        one.says("main", 0, 0, &[user(text)]);
        one.has_told();
        if text.contains("first") {
            one.line.cut();
            one.is("down");
            one.ask("session.remove", &json!({ "session": "main" }));
            one.line.mend();
        }
    }
    one.is("up");
    one.has_told();
    one.closes("main");
    assert_eq!(other.takes("main")["moved_from"], "a");
    assert_eq!(other.says("main", 0, 1, &[user("and on")]), 2);
    eventually("what was removed is gone", || {
        let count = server.sql("herma", "SELECT count(*) FROM herma.message WHERE body LIKE '%first heron%'");
        (count == "0").then_some(())
    });
}

#[test]
fn what_goes_nowhere_any_more_is_not_there_for_others() {
    let Some(server) = server() else { return };
    let (mut one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.opens("s");
    one.says("s", 0, 0, &[user("one")]);
    one.has_told();
    one.kill();
    let config = one.home.path().join("herma/config.toml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(&config, format!("{text}sessions = false\n")).unwrap();
    one.restart();
    eventually("it is not told any more", || {
        (server.sql("herma", "SELECT count(*) FROM herma.session") == "0").then_some(())
    });
    assert_eq!(other.opens("s")["resumed"], false);
    assert_eq!(one.opens("s")["resumed"], true);
}

#[test]
fn a_closed_session_goes_to_the_next_host_long_before_its_lease_ends() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    for at in 0..8 {
        let session = format!("s{at}");
        one.opens(&session);
        one.says(&session, 0, 0, &[user("one"), user("two")]);
        one.closes(&session);
        // `session.close` waits half a second for the upload, which may take longer on a busy machine. The lease is 60
        // s.
        assert_eq!(other.takes(&session)["moved_from"], "a", "{session}");
        assert_eq!(other.says(&session, 0, 2, &[user("three")]), 3);
        other.closes(&session);
        assert_eq!(one.takes(&session)["moved_from"], "b", "{session}");
        assert_eq!(one.says(&session, 0, 3, &[user("four")]), 4);
    }
}
