//! Host-bound entries.

use herma_protocol::memory::Target;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{Host, server};

const GCC: &str = "[host-bound] gcc 14 is in /opt/gcc";

impl Host {
    /// Returns the frozen text of USER.md in a session.
    fn frozen(&self, session: &str) -> String {
        let snapshot = self.ask("session.snapshot", &json!({ "session": session }));
        let [memory, user] = ["memory", "user"].map(|name| snapshot[name].as_str().unwrap_or_default());
        let hash =
            Sha256::digest(format!("{memory}\n{user}")).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(snapshot["sha256"], hash);
        user.to_owned()
    }

    fn batch(&self, operations: &Value) -> Value {
        self.ask("memory.batch", &json!({ "target": "user", "operations": operations }))
    }
}

#[test]
fn what_is_for_one_host_is_there_with_the_rest_and_never_leaves_it() {
    let Some(server) = server() else { return };
    let mut one = Host::new(&server, "laptop", "");
    one.home.write_store(Target::User, "[host-bound] the desk is upstairs\n§\nlikes tea".as_bytes());
    let joined = one.ask("shared.join", &json!({}));
    assert_eq!(joined["stores"][1]["brought"], json!(["likes tea"]));
    let other = Host::joined(&server, "server", "");
    let revision = one.add("owns a cat")["revision"].clone();

    let added = one.add(GCC);
    assert_eq!(
        (&added["success"], &added["shared"], &added["host_bound"], &added["revision"]),
        (&json!(true), &json!(false), &json!(true), &revision)
    );
    other.holds(&["likes tea", "owns a cat"]);
    one.holds(&["likes tea", "owns a cat", "[host-bound] the desk is upstairs", GCC]);

    // A session that moves to another host has only the shared entries, and a hash of those.
    one.ask("session.open", &json!({ "session": "s" }));
    assert!(one.frozen("s").contains(GCC));
    // This agent has its system prompt archived and compressed with its messages.
    let system = json!({ "role": "system", "content": format!("You are.\n\n{}", one.frozen("s")) });
    let said = json!({ "role": "user", "content": "the harbour is closed" });
    one.ask("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": [system, said] }));
    one.ask("session.close", &json!({ "session": "s" }));
    assert_eq!(other.takes("s")["moved_from"], "laptop");
    let found = other.ask("recall.search", &json!({ "query": "harbour" }));
    let said = other.ask("recall.expand", &json!({ "handle": found["hits"][0]["handle"], "before": 1 })).to_string();
    assert!(said.contains("owns a cat") && !said.contains("/opt/gcc") && !said.contains("stairs"), "{said}");
    let frozen = other.frozen("s");
    assert!(frozen.ends_with("\nlikes tea\n§\nowns a cat"), "{frozen}");

    // A host-bound change needs no database and survives a kill.
    one.line.cut();
    let replace = json!({ "action": "replace", "old_text": "upstairs", "content": "the desk is downstairs" });
    let replaced = one.batch(&json!([replace, { "action": "remove", "old_text": "/opt/gcc" }]));
    assert_eq!((&replaced["success"], &replaced["host_bound"]), (&json!(true), &json!(true)), "{replaced}");
    assert_eq!(one.refused("memory.add", &json!({ "target": "user", "content": "x" })), "unavailable");
    let both = one.batch(&json!([
        { "action": "add", "content": GCC }, { "action": "remove", "old_text": "owns a cat" }
    ]));
    assert!(both["error"].as_str().unwrap().contains("one after the other"), "{both}");
    one.restart();
    let kept = ["likes tea", "owns a cat", "[host-bound] the desk is downstairs"];
    one.holds(&kept);
    one.line.mend();
    one.is("up");

    // The same with an edit by hand while another host writes.
    one.home.write_store(Target::User, format!("{GCC}\n§\n{}\n§\nby hand", kept.join("\n§\n")).as_bytes());
    other.holds(&["likes tea", "owns a cat", "by hand"]);
    other.add("plays chess");
    one.holds(&["likes tea", "owns a cat", "by hand", "plays chess", GCC, kept[2]]);
    assert_eq!(one.log(), other.log());

    let dump = server.tool("pg_dump").arg("herma").output().unwrap();
    let dump = String::from_utf8(dump.stdout).unwrap();
    assert!(dump.contains("plays chess") && !dump.contains("/opt/gcc") && !dump.contains("stairs"));

    one.ask("shared.leave", &json!({}));
    assert_eq!(one.entries().len(), 6);
}

#[test]
fn a_model_is_told_of_it_where_there_are_others() {
    let Some(server) = server() else { return };
    let host = Host::new(&server, "a", "");
    let content = host.ask("memory.schema", &json!({}))["tool"]["parameters"]["properties"]["content"].clone();
    assert!(content["description"].as_str().unwrap().contains("[host-bound]"), "{content}");
    let alone = herma_tests::Home::new();
    let schema = herma_tests::Daemon::start(&alone).raw().result("memory.schema", &json!({}));
    assert!(!schema.to_string().contains("[host-bound]"));
}

#[test]
fn what_is_for_one_host_is_not_kept_for_the_others_while_they_are_away() {
    let Some(server) = server() else { return };
    let mut host = Host::joined(&server, "a", "offline = \"queue\"\n");
    host.add("likes tea");
    host.line.cut();
    let both = json!({ "target": "user", "old_text": "likes tea", "content": "[host-bound] likes tea" });
    let both = host.ask("memory.replace", &both);
    assert!(both["error"].as_str().unwrap().contains("one after the other"), "{both}");
    for at in 0..4 {
        let added = host.add(&format!("{GCC} {at}"));
        assert_eq!((&added["host_bound"], added.get("queued_id")), (&json!(true), None), "{added}");
        host.restart();
        let remove = json!({ "target": "user", "old_text": format!("/opt/gcc {at}") });
        let removed = host.ask("memory.remove", &remove);
        assert_eq!((&removed["host_bound"], removed.get("queued_id")), (&json!(true), None), "{removed}");
    }
}

#[test]
fn a_revert_is_of_all_hosts_and_leaves_what_is_for_one() {
    let Some(server) = server() else { return };
    let mut one = Host::new(&server, "laptop", "");
    // At first the host shares nothing.
    let config = one.home.path().join("herma/config.toml");
    let shared = std::fs::read(&config).unwrap();
    std::fs::write(&config, "").unwrap();
    one.restart();
    one.add(GCC);
    one.ask("memory.remove", &json!({ "target": "user", "old_text": "gcc" }));
    one.add("[host-bound] the desk is upstairs");
    one.add("likes tea");
    std::fs::write(&config, shared).unwrap();
    one.restart();
    one.ask("shared.join", &json!({}));
    let other = Host::joined(&server, "server", "");
    let dog = other.add("owns a dog")["revision"].clone();
    other.add("owns a cat");
    one.holds(&["likes tea", "owns a dog", "owns a cat", "[host-bound] the desk is upstairs"]);

    let reverted = one.ask("memory.revert", &json!({ "target": "user", "revision": dog }));
    assert_eq!((&reverted["success"], &reverted["shared"]), (&json!(true), &json!(true)), "{reverted}");
    one.holds(&["likes tea", "owns a cat", "[host-bound] the desk is upstairs"]);
    other.holds(&["likes tea", "owns a cat"]);
    let row = &other.ask("memory.log", &json!({ "target": "user", "limit": 1 }))["rows"][0];
    assert_eq!((&row["action"], &row["host"]), (&json!("revert"), &json!("laptop")), "{row}");

    // Changes from before this host joined, of which some were for it alone, never come back into the shared text.
    for revision in 1..=4 {
        let kind = one.refused("memory.revert", &json!({ "target": "user", "revision": revision }));
        assert_eq!(kind, "not_found", "{revision}");
    }
    let known = other.ask("memory.log", &json!({ "target": "user" })).to_string();
    assert!(!known.contains("/opt/gcc") && !known.contains("upstairs"), "{known}");
}
