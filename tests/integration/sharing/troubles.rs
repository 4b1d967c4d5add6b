//! Configurations that can't work, and secrets.

use std::os::unix::fs::PermissionsExt;

use herma_tests::{Cli, Daemon, Home, eventually};
use serde_json::json;

use super::{Host, server};

#[test]
fn nothing_is_shared_by_default() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let status = raw.result("shared.status", &json!({}));
    assert_eq!((&status["state"], &status["stores"]), (&json!("off"), &json!([])));
    assert_eq!(raw.result("memory.add", &json!({ "target": "user", "content": "x" })).get("shared"), None);
    assert_eq!(raw.result("memory.list", &json!({}))["user"].get("stale_s"), None);
}

#[test]
fn a_password_comes_from_a_file_and_is_shown_nowhere() {
    let Some(server) = server() else { return };
    server.sql("postgres", "ALTER ROLE agents PASSWORD 'hunter2secret'");
    let folder = tempfile_folder();
    let secret = folder.path().join("password");
    std::fs::write(&secret, "hunter2secret\n").unwrap();
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    let host = Host::joined(&server, "a", &format!("password_file = \"{}\"\n", secret.display()));
    host.add("likes tea");
    let shown = Cli::new(&host.home).run(&["config", "show"]);
    let status = Cli::new(&host.home).run(&["shared", "status"]);
    let log = std::fs::read_to_string(host.home.path().join("herma/hermad.log")).unwrap_or_default();
    for text in [&shown.out, &status.out, &log] {
        assert!(!text.contains("hunter2"), "{text}");
    }
    assert!(status.code == 0 && status.out.contains("up, since"), "{status:?}");
}

#[test]
fn a_certificate_is_checked_by_the_configured_one() {
    let Some(server) = server() else { return };
    let ca = server.speak_tls();
    let config = |more: &str| {
        let url = format!("postgres://agents@localhost:{}/herma?sslmode=require", server.port);
        Home::configured(&format!("[shared]\nurl = \"{url}\"\nhost = \"a\"\nspace = \"team\"\n{more}"))
    };
    let trusting = config(&format!("ca_file = \"{}\"\n", ca.display()));
    let daemon = Daemon::start(&trusting);
    daemon.raw().result("shared.join", &json!({}));
    let encrypted =
        "SELECT count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND usename = 'agents'";
    assert_eq!(server.sql("herma", encrypted), "t");
    let other = config("");
    let daemon = Daemon::start(&other);
    let answer = daemon.raw().call("shared.join", &json!({}));
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("certificate"), "{words}");
}

#[test]
fn what_can_t_be_used_is_said_in_every_write() {
    let config = "[shared]\nurl = \"postgres://a@127.0.0.1:1/x\"\nhost = \"a\"\npassword_file = \"/nowhere/at/all\"\n";
    let home = Home::configured(config);
    let daemon = Daemon::start(&home);
    let answer = daemon.raw().call("memory.add", &json!({ "target": "user", "content": "x" }));
    let words = answer["error"]["message"].as_str().unwrap();
    assert!(words.contains("/nowhere/at/all") && words.contains("shared.password_file"), "{words}");
    let status = daemon.raw().result("shared.status", &json!({}));
    assert_eq!(status["state"], "down");
    // A profile that is not shared is none of the database's business.
    let own = json!({ "target": "user", "content": "x", "profile": "work" });
    daemon.raw().result("profile.create", &json!({ "name": "work" }));
    assert_eq!(daemon.raw().result("memory.add", &own)["success"], true);
}

fn tempfile_folder() -> Home {
    Home::new()
}

/// A change that a member of the space makes with its own hands.
fn change(server: &herma_tests::Postgres, host: &str, time: &str, entries: &str) {
    let change = format!(
        "BEGIN; UPDATE herma.store SET entries = {entries}, revision = revision + 1 WHERE target = 'user'; \
         INSERT INTO herma.journal SELECT space, profile, 'user', revision, '{time}', E'{host}', 'add', NULL, NULL, \
         'odd-' || revision, (SELECT after FROM herma.journal AS last WHERE last.target = 'user' ORDER BY revision DESC LIMIT 1), \
         entries FROM herma.store WHERE target = 'user'; COMMIT"
    );
    server.sql("herma", &change);
}

#[test]
fn what_a_member_writes_with_its_own_hands_keeps_nobody_from_going_on() {
    let Some(server) = server() else { return };
    let (mut one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    other.holds(&["likes tea"]);
    // Entries that are no texts, and then ones that are too long, count as no change.
    for entries in ["'[1, null]'", "'{}'", "'7'", "to_jsonb(ARRAY[repeat('x', 5000000)])"] {
        change(&server, "odd", "2026-01-01", entries);
        let text = format!("after {} bytes", entries.len());
        assert_eq!(one.add(&text)["shared"], true, "{entries:.20}");
        eventually("the other host has it", || other.entries().contains(&text).then_some(()));
        assert!(other.entries().contains(&"likes tea".to_owned()));
    }
    let said = one.ask("shared.status", &json!({}))["left_out"].clone();
    assert!(said.to_string().contains("which odd wrote"), "{said}");
    assert!(Cli::new(&one.home).run(&["shared", "status"]).out.contains("a row of the database is left out"));
    assert!(std::fs::read_to_string(one.home.path().join("herma/hermad.log")).unwrap().contains("is left out"));
    // A time that is none, and a name that would be obeyed by a terminal.
    change(&server, "\\x1b[2Jodd", "infinity", "'[\"from elsewhere\"]'");
    change(&server, "odd", "-infinity", "'[\"from elsewhere\", \"again\"]'");
    one.holds(&["from elsewhere", "again"]);
    one.restart();
    let log = one.log();
    assert!(log.as_array().unwrap().len() > 5 && !log.to_string().contains("u001b"), "{log:.300}");
    assert!(log.as_array().unwrap().iter().all(|row| row["time"].is_number()), "{log:.300}");
    // A revision that none can have.
    server.sql("herma", "UPDATE herma.store SET revision = 9223372036854775807 WHERE target = 'user'");
    eventually("it is said", || {
        let error = one.ask("shared.status", &json!({}))["stores"][1]["error"].clone();
        error.as_str().is_some_and(|words| words.contains("no change can have")).then_some(())
    });
    assert_eq!(
        one.ask("memory.add", &json!({ "target": "memory", "content": "the other store goes on" }))["shared"],
        true
    );
}
