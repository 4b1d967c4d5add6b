//! Tables, roles, backups, and a profile that leaves.

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Postgres, eventually};
use serde_json::json;

use super::{Host, converged, server};

#[test]
fn tables_are_made_once_and_those_of_a_later_version_are_left_alone() {
    let Some(server) = server() else { return };
    let host = Host::joined(&server, "a", "");
    let url = format!("postgres://owner@127.0.0.1:{}/herma", server.port);
    let again = host.ask("shared.init", &json!({ "url": url, "role": "agents" }));
    assert_eq!(again["found"], again["version"]);
    assert_eq!(host.refused("shared.init", &json!({ "role": "agents" })), "permission_denied");
    server.sql("herma", "INSERT INTO herma.version (version) VALUES (99)");
    server.crash();
    server.go_on();
    eventually("the later version is noticed", || {
        let error = host.raw().call("memory.add", &json!({ "target": "user", "content": "x" }));
        error["error"]["message"].as_str().unwrap_or_default().contains("has to be brought up to date").then_some(())
    });
    assert_eq!(host.refused("shared.init", &json!({ "url": url })), "unavailable");
    server.sql("herma", "DELETE FROM herma.version WHERE version = 99");
    host.is("up");
}

#[test]
fn the_sql_that_is_printed_does_the_same_for_a_person() {
    let Some(server) = Postgres::start() else { return };
    let host = Host::new(&server, "a", "");
    let sql = host.ask("shared.init", &json!({ "print": true, "role": "agents" }))["sql"].clone();
    server.sql("herma", sql.as_str().unwrap());
    host.ask("shared.join", &json!({}));
    assert_eq!(host.add("likes tea")["shared"], true);
}

#[test]
fn a_role_sees_its_own_space_only() {
    let Some(server) = server() else { return };
    let host = Host::joined(&server, "a", "");
    host.add("likes tea");
    server.sql("postgres", "CREATE ROLE strangers LOGIN");
    server.sql("herma", "GRANT USAGE ON SCHEMA herma TO strangers");
    server.sql("herma", "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA herma TO strangers");
    server.sql("herma", "INSERT INTO herma.member VALUES ('strangers', 'theirs')");
    let count = |role: &str, table: &str| server.sql_as(role, "herma", &format!("SELECT count(*) FROM herma.{table}"));
    for table in ["store", "journal"] {
        assert_eq!(count("strangers", table).as_deref(), Ok("0"), "{table}");
        assert_ne!(count("agents", table).as_deref(), Ok("0"), "{table}");
    }
    let changed = server.sql_as("strangers", "herma", "UPDATE herma.store SET entries = '[]' RETURNING 1");
    assert!(!changed.unwrap().contains('1'));
    let insert =
        "INSERT INTO herma.store (space, profile, target, revision, entries) VALUES ('team', 'x', 'user', 1, '[]')";
    assert!(server.sql_as("strangers", "herma", insert).unwrap_err().contains("row-level security"));
    // Nor can a role make itself a member.
    let join = "INSERT INTO herma.member VALUES ('agents', 'theirs')";
    assert!(server.sql_as("agents", "herma", join).unwrap_err().contains("permission denied"));
}

#[test]
fn a_backup_comes_back_and_an_older_one_is_noticed() {
    let Some(server) = server() else { return };
    let host = Host::joined(&server, "a", "");
    host.add("likes tea");
    let dump = server.tool("pg_dump").args(["--clean", "--if-exists", "--schema=herma", "herma"]).output().unwrap();
    assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
    host.add("plays chess");
    server.restore("herma", &dump.stdout);
    eventually("the older one is noticed", || {
        let answer = host.raw().call("memory.add", &json!({ "target": "user", "content": "x" }));
        answer["error"]["message"].as_str().unwrap_or_default().contains("herma shared join").then_some(())
    });
    assert_eq!(host.entries(), ["likes tea", "plays chess"], "nothing is lost here");
    let joined = host.ask("shared.join", &json!({}));
    assert_eq!(joined["stores"][1]["brought"], json!(["plays chess"]));
    assert_eq!(host.add("x")["shared"], true);
    let other = Host::joined(&server, "b", "");
    assert_eq!(converged(&[&host, &other]).len(), 3);
}

#[test]
fn an_older_backup_is_noticed_also_once_its_revisions_caught_up() {
    let Some(server) = server() else { return };
    let (mut one, mut other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    other.holds(&["likes tea"]);
    let dump = server.tool("pg_dump").args(["--clean", "--if-exists", "--schema=herma", "herma"]).output().unwrap();
    one.kill();
    ["only b 1", "only b 2"].iter().for_each(|text| drop(other.add(text)));
    other.holds(&["likes tea", "only b 1", "only b 2"]);
    other.kill();
    server.restore("herma", &dump.stdout);
    one.restart();
    one.is("up");
    ["new a 1", "new a 2"].iter().for_each(|text| drop(one.add(text)));
    other.restart();
    let words = eventually("another history is noticed", || {
        let stores = other.ask("shared.status", &json!({}))["stores"].clone();
        stores[1]["error"].as_str().map(str::to_owned)
    });
    assert!(words.contains("its history is not the one"), "{words}");
    assert_eq!(other.refused("memory.add", &json!({ "target": "user", "content": "x" })), "storage_failed");
    assert_eq!(other.entries(), ["likes tea", "only b 1", "only b 2"]);
    let joined = other.ask("shared.join", &json!({}));
    assert_eq!(joined["stores"][1]["brought"], json!(["only b 1", "only b 2"]));
    assert_eq!(converged(&[&one, &other]).len(), 5);
}

#[test]
fn who_leaves_keeps_all_and_writes_alone() {
    let Some(server) = server() else { return };
    let (mut one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    other.holds(&["likes tea"]);
    one.ask("shared.leave", &json!({}));
    assert_eq!(one.refused("shared.leave", &json!({})), "not_found");
    assert_eq!(one.refused("memory.add", &json!({ "target": "user", "content": "x" })), "unavailable");
    one.kill();
    std::fs::write(one.home.path().join("herma/config.toml"), "").unwrap();
    one.daemon = Some(Daemon::start(&one.home));
    assert_eq!(one.add("mine alone").get("shared"), None);
    assert_eq!(one.home.entries(Target::User), ["likes tea", "mine alone"]);
    assert_eq!(one.log().as_array().unwrap().len(), 2);
    other.add("theirs");
    other.holds(&["likes tea", "theirs"]);
}

#[test]
fn what_finds_no_room_waits_for_a_person() {
    let Some(server) = server() else { return };
    let one = Host::joined(&server, "a", "[memory]\nuser_limit = 40\n");
    one.add("something of twenty-six chars");
    let other = Host::new(&server, "b", "[memory]\nuser_limit = 40\n");
    other.home.write_store(Target::User, "short\n§\nanother that has no room".as_bytes());
    let joined = other.ask("shared.join", &json!({}))["stores"][1].clone();
    assert_eq!(joined["brought"], json!(["short"]));
    assert_eq!(joined["left_out"][0]["entry"], "another that has no room");
    let pending = other.ask("memory.pending", &json!({}))["pending"].clone();
    assert_eq!(pending[0]["id"], joined["left_out"][0]["pending_id"]);
    one.holds(&["something of twenty-six chars", "short"]);
}
