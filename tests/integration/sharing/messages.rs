//! Messages from any host are found on every host.

use herma_tests::{Postgres, eventually};
use serde_json::{Value, json};

use super::{Host, server};

impl Host {
    fn said(&self, session: &str, position: u64, texts: &[&str]) {
        let said = |text: &&str| json!({ "role": "user", "content": text });
        let messages: Vec<Value> = texts.iter().map(said).collect();
        self.ask("session.open", &json!({ "session": session, "agent": "ada" }));
        let append = json!({ "session": session, "generation": 0, "position": position, "messages": messages });
        self.ask("session.append", &append);
    }

    fn search(&self, params: &Value) -> Value {
        let mut all = json!({ "scope": "everywhere", "around": 0 });
        all.as_object_mut().unwrap().extend(params.as_object().unwrap().clone());
        self.ask("recall.search", &all)
    }

    /// Returns the texts of the hits.
    fn found(&self, query: &str) -> Vec<String> {
        let found = self.search(&json!({ "query": query }));
        assert_eq!(found["notice"], Value::Null, "{found}");
        found["hits"].as_array().unwrap().iter().map(|hit| hit["snippet"].as_str().unwrap().to_owned()).collect()
    }

    fn finds(&self, query: &str, count: usize) -> Vec<String> {
        eventually(&format!("{query:?} is found {count} times"), || {
            let found = self.found(query);
            (found.len() == count).then_some(found)
        })
    }

    fn stop(&mut self) {
        let mut daemon = self.daemon.take().unwrap();
        daemon.terminate();
        assert!(daemon.ended().success());
    }

    /// Waits until all messages are uploaded.
    fn has_brought(&self) {
        eventually("all is brought", || {
            let messages = self.ask("shared.status", &json!({}))["messages"].clone();
            assert_eq!(messages.get("error"), None, "{messages}");
            (messages["waiting"] == 0).then_some(())
        });
    }
}

fn rows(server: &Postgres) -> u64 {
    server.sql("herma", "SELECT count(*) FROM herma.message").parse().unwrap()
}

#[test]
fn what_was_said_on_one_host_is_found_on_another_and_read_with_what_stands_around_it() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.said("s", 0, &["good morning", "the heron nests at kilometre 4711", "see you", "数据库连接失败"]);
    other.said("t", 0, &["a heron was here"]);
    other.finds("heron", 2);
    one.finds("heron", 2);
    let hit = other.search(&json!({ "query": "where does the heron nest", "around": 1 }))["hits"][0].clone();
    assert_eq!(
        (&hit["host"], &hit["session"], &hit["agent"], &hit["role"], &hit["kind"]),
        (&json!("a"), &json!("s"), &json!("ada"), &json!("user"), &json!("message")),
        "{hit}"
    );
    let expanded = other.ask("recall.expand", &json!({ "handle": hit["handle"], "before": 1, "after": 1 }));
    for (side, at) in [("before", 0), ("after", 2)] {
        let item = &expanded["items"][at];
        let near = json!([{ "handle": item["handle"], "role": "user", "snippet": item["text"] }]);
        assert_eq!(hit[side], near);
    }
    // The message next to a hit is in its place, so it is found only without places.
    for (around, count) in [(0, 2), (1, 1)] {
        let found = other.search(&json!({ "query": "good morning kilometre", "around": around }));
        assert_eq!(found["hits"].as_array().unwrap().len(), count, "{found}");
    }
    let texts: Vec<&Value> = expanded["items"].as_array().unwrap().iter().map(|item| &item["text"]).collect();
    assert_eq!(texts, ["good morning", "the heron nests at kilometre 4711", "see you"]);
    let rest = other.ask("recall.expand", &json!({ "handle": expanded["next"], "before": 1, "after": 1 }));
    assert_eq!((&rest["items"][0]["text"], &rest["next"]), (&json!("数据库连接失败"), &Value::Null), "{rest}");
    assert_eq!(expanded["items"][1]["handle"], hit["handle"]);
    assert_eq!(
        expanded["items"][1]["message"],
        json!({ "role": "user", "content": "the heron nests at kilometre 4711" })
    );
    for (query, count) in
        [("数据库", 1), ("据", 1), ("\"heron nests\"", 1), ("\"nests heron\"", 0), ("kilom", 1), ("herons", 2)]
    {
        assert_eq!(other.found(query).len(), count, "{query}");
    }
    let here = other.ask("recall.search", &json!({ "query": "heron" }));
    assert_eq!(here["hits"].as_array().unwrap().len(), 1);
    assert_eq!(here["hits"][0].get("host"), None);
    for (params, count) in [
        (json!({ "query": "heron", "session": "s" }), 1),
        (json!({ "query": "heron", "kinds": ["memory"] }), 0),
        (json!({ "query": "heron", "until": 1.0 }), 0),
        (json!({ "query": "heron", "profile": "work" }), 0),
        (json!({ "query": "heron", "limit": 1 }), 1),
    ] {
        assert_eq!(other.search(&params)["hits"].as_array().unwrap().len(), count, "{params}");
    }
    let missing = json!({ "handle": "msg_00000001-1@a" });
    assert_eq!(other.refused("recall.expand", &missing), "not_found");
}

#[test]
fn a_session_of_another_host_is_read_to_its_end() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    // Two messages in a row are together too long for one answer.
    let long = |words: &str| format!("{words} {}", "long ".repeat(300_000));
    let texts: Vec<String> =
        (0..9).map(|at| if at == 4 || at == 5 { long(&format!("heron{at}")) } else { format!("heron{at}") }).collect();
    for (at, text) in texts.iter().enumerate() {
        one.said("s", at as u64, &[text]);
    }
    other.finds("heron8", 1);
    let first = other.search(&json!({ "query": "heron1" }))["hits"][0]["handle"].clone();
    for (before, after) in [(0, 0), (0, 2), (1, 3), (100, 100)] {
        let (mut words, mut next) = (Vec::new(), first.clone());
        while next.is_string() {
            let mut page = other.ask("recall.expand", &json!({ "handle": next, "before": before, "after": after }));
            let word = |item: &Value| item["text"].as_str().unwrap().split(' ').next().unwrap().to_owned();
            words.extend(page["items"].as_array().unwrap().iter().map(word));
            next = page["next"].take();
        }
        let from = 1_usize.saturating_sub(before);
        assert_eq!(words, (from..9).map(|at| format!("heron{at}")).collect::<Vec<_>>(), "{before} {after}");
    }
}

#[test]
fn a_host_that_can_t_ask_the_others_says_so() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.said("s", 0, &["the heron nests"]);
    other.finds("heron", 1);
    other.line.cut();
    other.said("t", 0, &["a heron was here"]);
    let found = other.search(&json!({ "query": "heron" }));
    assert_eq!(found["hits"].as_array().unwrap().len(), 1);
    assert!(found["notice"].as_str().unwrap().contains("other hosts could not be asked"), "{found}");
    other.is("down");
    let status = other.ask("shared.status", &json!({}));
    assert_eq!(status["messages"]["waiting"], 1, "{status}");
    other.line.mend();
    other.is("up");
    one.finds("heron", 2);
    let alone = Host::new(&server, "c", "");
    assert_eq!(alone.found("heron"), Vec::<String>::new());
}

#[test]
fn everything_comes_once_whatever_is_killed() {
    let Some(server) = server() else { return };
    let mut one = Host::joined(&server, "a", "");
    let texts: Vec<String> = (0..40).map(|at| format!("bird{at} of the marsh")).collect();
    for (at, text) in texts.iter().enumerate() {
        one.said("s", at as u64, &[text]);
        if at % 10 == 5 {
            one.kill();
            one.restart();
        }
        if at == 20 {
            server.crash();
            server.go_on();
        }
    }
    one.is("up");
    one.has_brought();
    assert_eq!(rows(&server), 40);
    let other = Host::joined(&server, "b", "");
    for at in [0, 5, 6, 15, 20, 21, 39] {
        assert_eq!(other.found(&format!("\"bird{at} of\"")).len(), 1, "{at}");
    }
}

#[test]
fn a_session_that_is_removed_goes_from_all_hosts_and_one_of_its_name_stays() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.said("s", 0, &["the heron nests", "and sleeps"]);
    // A separate session of the same name, because this host did not open the other one.
    let theirs = json!([{ "role": "user", "content": "their heron" }]);
    other.ask("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": theirs }));
    other.finds("heron", 2);
    one.line.cut();
    one.ask("session.remove", &json!({ "session": "s" }));
    one.said("s", 0, &["a new heron"]);
    one.line.mend();
    eventually("the removed one is gone", || {
        let mut found = other.found("heron");
        found.sort();
        (found == ["a new heron", "their heron"]).then_some(())
    });
    assert_eq!(rows(&server), 2);
}

#[test]
fn what_is_told_to_stay_or_to_lose_its_secrets_does() {
    let Some(server) = server() else { return };
    let secret = "the heron has the key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789";
    let silent = Host::joined(&server, "silent", "messages = false\n");
    silent.said("s", 0, &[secret]);
    let masked = Host::joined(&server, "masked", "redact = true\n");
    masked.said("s", 0, &[secret]);
    let found = silent.finds("heron", 2);
    assert!(found.iter().any(|text| text.contains("sk-proj-abcdef")), "{found:?}");
    masked.has_brought();
    assert_eq!(silent.ask("shared.status", &json!({})).get("messages"), None);
    let bodies = server.sql("herma", "SELECT body FROM herma.message");
    assert!(bodies.contains("the heron has the key") && !bodies.contains("klmnopqrstuv"), "{bodies}");
    assert_eq!(rows(&server), 1);
    assert_eq!(masked.found("klmnopqrstuvwxyz"), Vec::<String>::new());
}

#[test]
fn what_was_said_before_a_profile_joined_is_brought_too() {
    let Some(server) = server() else { return };
    let one = Host::new(&server, "a", "profiles = [\"default\", \"work\"]\n");
    one.said("s", 0, &["the heron nests"]);
    one.ask("session.open", &json!({ "session": "w", "profile": "work" }));
    let message = json!([{ "role": "user", "content": "a heron at work" }]);
    let append = json!({ "session": "w", "generation": 0, "position": 0, "messages": message, "profile": "work" });
    one.ask("session.append", &append);
    one.ask("shared.join", &json!({}));
    one.has_brought();
    assert_eq!(rows(&server), 1);
    one.ask("shared.join", &json!({ "profile": "work" }));
    let other = Host::joined(&server, "b", "");
    eventually("both profiles are there", || (rows(&server) == 2).then_some(()));
    // A host sees only the profiles that it shares.
    assert_eq!(other.found("heron"), ["the heron nests"]);
}

#[test]
fn an_archive_that_was_put_back_from_a_backup_is_brought_as_another_one() {
    let Some(server) = server() else { return };
    let (mut one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.said("s", 0, &["first heron"]);
    one.has_brought();
    let archive = one.home.path().join("herma/archive.db");
    one.stop();
    let backup = std::fs::read(&archive).unwrap();
    one.restart();
    one.said("s", 1, &["second heron", "third heron"]);
    one.has_brought();
    one.stop();
    std::fs::write(&archive, backup).unwrap();
    one.restart();
    one.said("s", 1, &["another heron"]);
    one.has_brought();
    let mut found = other.finds("heron", 4);
    found.sort();
    assert_eq!(found, ["another heron", "first heron", "second heron", "third heron"]);
    // A message that this host lost is found in the database.
    assert_eq!(one.found("\"third heron\""), ["third heron"]);
}

#[test]
fn a_database_that_lost_messages_gets_them_again() {
    let Some(server) = server() else { return };
    let mut one = Host::joined(&server, "a", "");
    let other = Host::joined(&server, "b", "");
    one.said("s", 0, &["first heron", "second heron"]);
    one.has_brought();
    // The database was restored from a backup, or recreated.
    server.sql("herma", "DELETE FROM herma.message WHERE number > 1; UPDATE herma.shipped SET through = 1");
    one.line.cut();
    one.is("down");
    one.line.mend();
    other.finds("heron", 2);
    server.sql("herma", "DELETE FROM herma.message; DELETE FROM herma.shipped");
    one.restart();
    other.finds("heron", 2);
    // A host that leaves and joins again uploads the messages from in between.
    one.ask("shared.leave", &json!({}));
    one.said("s", 2, &["third heron"]);
    one.ask("shared.join", &json!({}));
    other.finds("heron", 3);
}

#[test]
fn a_message_that_the_database_can_t_keep_as_it_is_holds_up_no_other() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.ask("session.open", &json!({ "session": "s" }));
    let messages = json!([
        { "role": "us\u{0}er", "content": "a heron with a \u{0}" },
        { "role": "user", "content": "a heron behind it" },
    ]);
    one.ask("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": messages }));
    other.finds("heron", 2);
}

#[test]
fn tables_from_before_the_first_release_are_refused() {
    let Some(server) = server() else { return };
    let url = format!("postgres://owner@127.0.0.1:{}/herma", server.port);
    server.sql("herma", "UPDATE herma.version SET version = 3");
    let one = Host::new(&server, "a", "");
    for (method, params) in [("shared.join", json!({})), ("shared.init", json!({ "url": url }))] {
        let error = one.raw().call(method, &params);
        assert!(error["error"]["message"].as_str().unwrap().contains("version 3, which was never released"), "{error}");
    }
    server.sql("herma", "UPDATE herma.version SET version = 4");
    one.ask("shared.join", &json!({}));
}

#[test]
fn a_role_finds_the_messages_of_its_own_spaces_only() {
    let Some(server) = server() else { return };
    let one = Host::joined(&server, "a", "");
    one.said("s", 0, &["the heron nests"]);
    one.has_brought();
    assert_eq!(rows(&server), 1);
    // A role of another space can't read any of it.
    let rights = "CREATE ROLE strangers LOGIN; GRANT USAGE ON SCHEMA herma TO strangers;
        GRANT SELECT ON ALL TABLES IN SCHEMA herma TO strangers;
        GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA herma TO strangers;
        INSERT INTO herma.member VALUES ('strangers', 'theirs')";
    server.sql("herma", rights);
    let count = "SELECT * FROM herma.count_messages('team', '', 0, '{}', '{}', '{}', '{default}', NULL, NULL, NULL, '{heron}', 9)";
    let find =
        "SELECT number FROM herma.find_messages('team', '', 0, '{}', '{}', '{}', '{default}', NULL, NULL, NULL, 'heron', '{heron}',
        '{1}', 9, 1, 1)";
    let asked = |role: &str, statement: &str| server.sql_as(role, "herma", statement).unwrap();
    assert_eq!((asked("agents", count), asked("agents", find)), ("1".into(), "1".into()));
    assert_eq!((asked("strangers", count), asked("strangers", find)), (String::new(), String::new()));
    assert_eq!(asked("strangers", "SELECT count(*) FROM herma.message"), "0");
}

#[test]
fn what_is_of_this_host_stays_here_and_is_taken_back_when_it_is_told_late() {
    let Some(server) = server() else { return };
    let one = Host::joined(&server, "a", "");
    let bound = json!({ "session": "bound", "host_bound": true });
    one.ask("session.open", &bound);
    one.said("bound", 0, &["a heron of this machine"]);
    one.ask("session.open", &json!({ "session": "child", "parent": "bound" }));
    one.said("child", 0, &["a heron of its child"]);
    one.said("late", 0, &["a heron that is told late"]);
    one.said("s", 0, &["a heron for all"]);
    let spilled = json!({ "session": "bound", "tool": "t", "id": "c", "content": "a path of here\n", "threshold": 0 });
    let handle = one.ask("output.admit", &spilled)["handle"].clone();
    one.has_brought();
    let other = Host::joined(&server, "b", "");
    let mut found = other.finds("heron", 2);
    found.sort();
    assert_eq!(found, ["a heron for all", "a heron that is told late"]);
    one.ask("session.open", &json!({ "session": "late", "host_bound": true }));
    assert_eq!(other.finds("heron", 1), ["a heron for all"]);
    one.said("late", 1, &["another heron that stays"]);
    one.said("s", 1, &["one more heron"]);
    other.finds("heron", 2);
    assert_eq!(one.found("heron").len(), 6);
    assert_eq!(server.sql("herma", "SELECT count(*) FROM herma.output"), "0");
    assert_eq!(other.refused("output.read", &json!({ "handle": handle })), "not_found");
}
