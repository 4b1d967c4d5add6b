//! Exports everything in a space to a file, and imports it again.

use std::fs;

use herma_protocol::memory::Target;
use herma_tests::{Cli, eventually};
use serde_json::{Value, json};

use super::{Host, server};

impl Host {
    fn cli(&self) -> Cli<'_> {
        Cli::new(&self.home)
    }
}

#[test]
fn what_was_exported_is_the_same_in_another_space_and_hosts_go_on_there() {
    let Some(server) = server() else { return };
    let (mut one, mut other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    one.add("likes tea");
    other.add("plays chess § on \\ Sundays");
    one.holds(&["likes tea", "plays chess § on \\ Sundays"]);
    one.ask("session.open", &json!({ "session": "s" }));
    let said = json!([{ "role": "user", "content": "the heron \u{0} nests \u{1f426}" }]);
    one.ask("session.append", &json!({ "session": "s", "generation": 0, "position": 0, "messages": said }));
    one.ask("session.close", &json!({ "session": "s" }));
    one.ask(
        "output.admit",
        &json!({ "session": "s", "tool": "t", "id": "c", "content": "a long text", "threshold": 0 }),
    );
    eventually("all is there", || {
        let status = one.ask("shared.status", &json!({}));
        let has = server.sql("herma", "SELECT count(*) FROM herma.output");
        (status["messages"]["waiting"] == 0 && status["sessions"]["waiting"] == 0 && has == "1").then_some(())
    });
    let file = one.home.path().join("team.jsonl");
    let name = file.to_str().unwrap();
    let exported: Value = one.cli().run(&["--json", "shared", "export", name]).json();
    assert_eq!((&exported["rows"]["store"], &exported["rows"]["session"]), (&json!(2), &json!(1)), "{exported}");
    let again = one.cli().run(&["shared", "export", name]);
    assert!(again.code != 0 && again.err.contains("--force"), "{again:?}");
    let whole = fs::read_to_string(&file).unwrap();
    assert_eq!(one.cli().run(&["shared", "export"]).out, whole, "the same, to standard output");
    // An import into a space with data, or from a truncated file, changes nothing.
    let refused = one.cli().run(&["shared", "import", name]);
    assert!(refused.err.contains("has rows in"), "{refused:?}");
    server.sql("herma", "INSERT INTO herma.member VALUES ('agents', 'new')");
    for host in [&mut one, &mut other] {
        host.kill();
        let path = host.home.path().join("herma/config.toml");
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("space = \"team\"", "space = \"new\"")).unwrap();
    }
    let lines: Vec<&str> = whole.lines().collect();
    for broken in [
        lines[..lines.len() - 1].join("\n"),
        lines[1..].join("\n"),
        whole.replacen("\"table\":\"output\"", "\"table\":\"member\"", 1),
    ] {
        fs::write(&file, broken).unwrap();
        let refused = one.cli().run(&["shared", "import", name]);
        assert_ne!(refused.code, 0, "{refused:?}");
        assert_eq!(server.sql("herma", "SELECT count(*) FROM herma.store WHERE space = 'new'"), "0");
    }
    fs::write(&file, &whole).unwrap();
    let imported: Value = one.cli().run(&["--json", "shared", "import", name]).json();
    assert_eq!(imported, exported);
    let both = "SELECT (to_jsonb(row) - 'space')::text FROM herma.journal AS row WHERE space = '%' ORDER BY 1";
    let of = |space: &str| server.sql("herma", &both.replace('%', space));
    assert_eq!(of("new"), of("team"));
    server.sql("herma", "DELETE FROM herma.member WHERE space = 'team'");
    one.restart();
    other.restart();
    for host in [&one, &other] {
        host.is("up");
    }
    assert_eq!(one.add("new in the new one")["shared"], true);
    other.holds(&["likes tea", "plays chess § on \\ Sundays", "new in the new one"]);
    assert_eq!(other.home.entries(Target::User).len(), 3);
    assert_eq!(other.ask("session.open", &json!({ "session": "s" }))["moved_from"], "a");
}

#[test]
fn who_shares_nothing_has_nothing_to_export() {
    let Some(server) = server() else { return };
    let host = Host::joined(&server, "a", "");
    fs::write(host.home.path().join("herma/config.toml"), "").unwrap();
    let refused = host.cli().run(&["shared", "export"]);
    assert!(refused.code != 0 && refused.err.contains("no [shared]"), "{refused:?}");
}
