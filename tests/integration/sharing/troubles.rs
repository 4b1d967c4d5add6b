//! Invalid configurations, and secrets.

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
    // A profile that is not shared does not need the database.
    let own = json!({ "target": "user", "content": "x", "profile": "work" });
    daemon.raw().result("profile.create", &json!({ "name": "work" }));
    assert_eq!(daemon.raw().result("memory.add", &own)["success"], true);
}

fn tempfile_folder() -> Home {
    Home::new()
}

/// Makes a change directly in the database, as a member of the space could.
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
    // Entries that are not texts, and then entries that are too long, count as no change.
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
    // An invalid time, and a name with a terminal's control sequence.
    change(&server, "\\x1b[2Jodd", "infinity", "'[\"from elsewhere\"]'");
    change(&server, "odd", "-infinity", "'[\"from elsewhere\", \"again\"]'");
    one.holds(&["from elsewhere", "again"]);
    one.restart();
    let log = one.log();
    assert!(log.as_array().unwrap().len() > 5 && !log.to_string().contains("u001b"), "{log:.300}");
    assert!(log.as_array().unwrap().iter().all(|row| row["time"].is_number()), "{log:.300}");
    // A revision that no change can have.
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

#[test]
fn a_lock_on_one_store_holds_that_store_alone_and_only_as_long_as_it_lasts() {
    let Some(server) = server() else { return };
    let host = Host::joined(&server, "a", "timeout = \"20s\"\n");
    host.add("likes tea");
    std::thread::scope(|scope| {
        let lock = "BEGIN; SELECT 1 FROM herma.store WHERE target = 'user' FOR UPDATE; SELECT pg_sleep(3); COMMIT";
        let holder = scope.spawn(|| server.sql("herma", lock));
        eventually("it is locked", || {
            let held = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(3)%' AND state = 'active' AND \
                        pid <> pg_backend_pid()";
            (server.sql("herma", held) != "0").then_some(())
        });
        let late = scope.spawn(|| host.add("plays chess"));
        for at in 0..5 {
            let began = std::time::Instant::now();
            let added = host.ask("memory.add", &json!({ "target": "memory", "content": format!("entry {at}") }));
            assert_eq!(added["shared"], true, "{added}");
            assert!(began.elapsed() < std::time::Duration::from_secs(1), "{at}: {:?}", began.elapsed());
            assert_eq!(host.ask("shared.status", &json!({}))["state"], "up");
        }
        assert_eq!(late.join().unwrap()["shared"], true);
        drop(holder.join().unwrap());
    });
    assert_eq!(host.entries(), ["likes tea", "plays chess"]);
}

#[test]
fn hosts_write_at_the_same_time_also_where_transactions_are_serializable() {
    let Some(server) = server() else { return };
    server.sql("postgres", "ALTER ROLE agents SET default_transaction_isolation = 'serializable'");
    let hosts = [Host::joined(&server, "a", ""), Host::joined(&server, "b", ""), Host::joined(&server, "c", "")];
    std::thread::scope(|scope| {
        for (number, host) in hosts.iter().enumerate() {
            scope.spawn(move || {
                for at in 0..8 {
                    assert_eq!(host.add(&format!("{number}.{at}"))["shared"], true);
                }
            });
        }
    });
    for host in &hosts {
        eventually("all is there", || (host.entries().len() == 24).then_some(()));
        assert_eq!(host.ask("shared.status", &json!({}))["state"], "up");
    }
}

#[test]
fn who_may_only_connect_hears_nothing_that_names_a_store() {
    let Some(server) = server() else { return };
    let host = Host::joined(&server, "a", "");
    server.sql("postgres", "CREATE ROLE stranger LOGIN");
    let listening = server
        .tool("psql")
        .args(["-U", "stranger", "-X", "-c", "LISTEN herma", "-c", "SELECT pg_sleep(2)", "herma"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    eventually("somebody listens", || {
        let asleep = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'stranger' AND query LIKE '%pg_sleep%'";
        (server.sql("herma", asleep) == "1").then_some(())
    });
    host.add("likes tea");
    let heard = String::from_utf8(listening.wait_with_output().unwrap().stdout).unwrap();
    assert!(heard.contains("Asynchronous notification \"herma\""), "{heard}");
    for name in ["default", "user", "team", "tea"] {
        assert!(!heard.contains(&format!("\"{name}")) && !heard.contains(&format!("{name}\"")), "{heard}");
    }
}
