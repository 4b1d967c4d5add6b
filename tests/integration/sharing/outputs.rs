//! Tool outputs that one host stored, read on another.

use std::path::PathBuf;

use herma_tests::{Postgres, eventually};
use serde_json::{Value, json};

use super::{Host, server};

impl Host {
    /// Spills a text of any length, and returns its handle.
    fn spill(&self, id: &str, text: &str) -> String {
        let params = json!({ "session": "s", "tool": "probe", "id": id, "content": text, "threshold": 0 });
        let admitted = self.ask("output.admit", &params);
        assert_eq!(admitted["spilled"], true, "{id}");
        admitted["handle"].as_str().unwrap().to_owned()
    }

    /// Waits until an output can be read, and returns its text.
    fn reads(&self, handle: &str) -> String {
        eventually(&format!("{handle} is read"), || {
            let answer = self.raw().call("output.read", &json!({ "handle": handle, "offset": 0, "limit": 900_000 }));
            answer["result"]["text"].as_str().map(str::to_owned)
        })
    }

    fn read_fails(&self, handle: &str) -> (String, String) {
        let answer = self.raw().call("output.read", &json!({ "handle": handle }));
        let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (words(&answer["error"]["data"]["kind"]), words(&answer["error"]["message"]))
    }
}

fn outputs(server: &Postgres) -> u64 {
    server.sql("herma", "SELECT count(*) FROM herma.output").parse().unwrap()
}

fn has_outputs(server: &Postgres, count: u64) {
    eventually(&format!("{count} outputs are there"), || (outputs(server) == count).then_some(()));
}

/// Returns a folder that all hosts mount, and the configuration for it.
fn folder() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let config = format!("[shared.outputs]\nurl = \"file://{}\"\n", folder.path().display());
    (folder, config)
}

/// Returns the files below a folder.
fn files(folder: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let is_marker = path.file_name().is_some_and(|name| name == ".herma-objects");
            if path.is_dir() {
                open.push(path);
            } else if !is_marker {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn an_output_of_one_host_is_read_expanded_and_searched_on_another() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    let text: String = (1..=2_000).map(|line| format!("line {line} of the log: grüße\n")).collect();
    let handle = one.spill("call/1", &text);
    has_outputs(&server, 1);
    assert_eq!(other.reads(&handle), text);
    let found = other.ask("output.search", &json!({ "handle": handle, "query": "line 1234 " }));
    assert_eq!(found["matches"][0]["line"], 1234);
    // A fetched output is kept, and found on this host from then on.
    other.line.cut();
    assert_eq!(other.reads(&handle), text);
    let hits = other.ask("recall.search", &json!({ "query": "line 77 log", "kinds": ["output"] }));
    assert!(!hits["hits"].as_array().unwrap().is_empty(), "{hits}");
    let third = Host::joined(&server, "c", "");
    let expanded = third.ask("recall.expand", &json!({ "handle": format!("{handle}:500"), "before": 0, "after": 0 }));
    assert_eq!(expanded["items"][0]["text"], "line 500 of the log: grüße\n");
    let alone = Host::new(&server, "d", "profiles = [\"work\"]\n");
    assert_eq!(alone.read_fails(&handle).0, "not_found");
}

#[test]
fn one_that_is_too_long_for_the_database_goes_to_the_object_store() {
    let Some(server) = server() else { return };
    let (folder, config) = folder();
    let mut one = Host::joined(&server, "a", "");
    let other = Host::joined(&server, "b", &config);
    let text = "a long line of a log\n".repeat(20_000);
    let handle = one.spill("long", &text);
    has_outputs(&server, 1);
    let (kind, words) = other.read_fails(&handle);
    assert!(kind == "not_found" && words.contains("lies on a alone"), "{words}");
    // Once its host has an object store, the output is uploaded there.
    let path = one.home.path().join("herma/config.toml");
    let before = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{before}{config}")).unwrap();
    one.restart();
    assert_eq!(other.reads(&handle), text);
    assert_eq!(files(folder.path()).len(), 1);
    // Equal content is stored once, whichever host has it.
    let again = one.spill("again", &text);
    has_outputs(&server, 3);
    assert_eq!((files(folder.path()).len(), other.reads(&again) == text), (1, true));
    // A host without the object store reports that.
    let third = Host::joined(&server, "c", "");
    let (kind, words) = third.read_fails(&handle);
    assert!(kind == "not_found" && words.contains("neither in the database nor in this host's"), "{words}");
    // Changed bytes are not returned.
    std::fs::write(&files(folder.path())[0], text.replace("long", "gone")).unwrap();
    let fourth = Host::joined(&server, "d", &config);
    let (kind, words) = fourth.read_fails(&handle);
    assert!(kind == "storage_failed" && words.contains("other bytes"), "{kind}: {words}");
}

#[test]
fn a_store_that_is_not_mounted_is_said_and_gets_what_waits_when_it_is_back() {
    let Some(server) = server() else { return };
    let folder = tempfile::tempdir().unwrap();
    let (mount, away) = (folder.path().join("mount"), folder.path().join("away"));
    std::fs::create_dir(&mount).unwrap();
    let config = format!("[shared.outputs]\nurl = \"file://{}\"\n", mount.display());
    let (one, other) = (Host::joined(&server, "a", &config), Host::joined(&server, "b", &config));
    let (before, meanwhile) = ("before\n".repeat(60_000), "meanwhile\n".repeat(60_000));
    let first = one.spill("first", &before);
    has_outputs(&server, 1);
    std::fs::rename(&mount, &away).unwrap();
    // A missing mount leaves an empty folder.
    std::fs::create_dir(&mount).unwrap();
    let second = one.spill("second", &meanwhile);
    eventually("the store is said to be away", || {
        let outputs = one.ask("shared.status", &json!({}))["outputs"].to_string();
        outputs.contains("not mounted").then_some(())
    });
    assert_eq!(outputs(&server), 1, "it does not count as brought");
    let (kind, words) = other.read_fails(&first);
    assert!(kind == "unavailable" && words.contains("not mounted"), "{kind}: {words}");
    std::fs::remove_dir(&mount).unwrap();
    std::fs::rename(&away, &mount).unwrap();
    assert_eq!((other.reads(&second), other.reads(&first)), (meanwhile, before));
}

#[test]
fn a_text_goes_when_nobody_names_it_any_more() {
    let Some(server) = server() else { return };
    let (folder, config) = folder();
    let (mut one, other) = (Host::joined(&server, "a", &config), Host::joined(&server, "b", &config));
    let handle = one.spill("c", "a text that two hosts have\n");
    assert_eq!(other.reads(&handle), "a text that two hosts have\n");
    has_outputs(&server, 2);
    one.ask("output.remove", &json!({ "handle": handle }));
    has_outputs(&server, 1);
    let third = Host::joined(&server, "c", &config);
    assert_eq!(third.reads(&handle), "a text that two hosts have\n");
    has_outputs(&server, 2);
    for host in [&other, &third] {
        host.ask("output.remove", &json!({ "handle": handle }));
    }
    has_outputs(&server, 0);
    let texts = || server.sql("herma", "SELECT count(*) FROM herma.content");
    // The content stays for a while, because a host may be about to refer to it.
    one.restart();
    one.is("up");
    assert_eq!((texts(), files(folder.path()).len()), ("1".into(), 1));
    server.sql("herma", "UPDATE herma.content SET touched_at = touched_at - interval '2 hours'");
    one.restart();
    eventually("the text is gone", || (texts() == "0" && files(folder.path()).is_empty()).then_some(()));
    assert_eq!(Host::joined(&server, "d", &config).read_fails(&handle).0, "not_found");
}

#[test]
fn a_file_that_somebody_changed_is_not_brought_and_holds_up_no_other() {
    let Some(server) = server() else { return };
    let one = Host::new(&server, "a", "");
    let handle = one.spill("c", "as it was kept\n");
    let path = one.ask("output.list", &json!({}))["outputs"][0]["path"].as_str().unwrap().to_owned();
    std::fs::write(&path, "as somebody made it\n").unwrap();
    one.ask("shared.join", &json!({}));
    let good = one.spill("nul\u{0}", "another one\n");
    has_outputs(&server, 1);
    eventually("it is said", || one.ask("shared.status", &json!({}))["outputs"]["error"].as_str().map(str::to_owned));
    let other = Host::joined(&server, "b", "");
    assert_eq!(other.read_fails(&handle).0, "not_found");
    assert_eq!(one.reads(&good), "another one\n");
    // A text that was changed in the database is not returned either.
    let plain = one.spill("plain", "a third one\n");
    has_outputs(&server, 2);
    server.sql("herma", "UPDATE herma.content SET body = 'x'");
    assert_eq!(other.read_fails(&plain).0, "storage_failed");
}

#[test]
fn what_is_masked_or_stays_brings_no_outputs() {
    let Some(server) = server() else { return };
    let (masked, silent) =
        (Host::joined(&server, "a", "redact = true\n"), Host::joined(&server, "b", "messages = false\n"));
    masked.spill("c", "a text\n");
    silent.spill("c", "another text\n");
    let third = Host::joined(&server, "c", "");
    third.spill("d", "a text of the third\n");
    has_outputs(&server, 1);
}

#[test]
fn different_texts_of_one_handle_are_not_taken_for_one() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    let handle = one.spill("same", "what a has\n");
    assert_eq!(other.spill("same", "what b has\n"), handle);
    has_outputs(&server, 2);
    assert_eq!((one.reads(&handle), other.reads(&handle)), ("what a has\n".into(), "what b has\n".into()));
    let third = Host::joined(&server, "c", "");
    let (kind, words) = third.read_fails(&handle);
    assert!(kind == "conflict" && words.contains("a, b") || words.contains("b, a"), "{words}");
}

#[test]
fn a_host_that_can_t_ask_says_why_an_output_can_t_be_read() {
    let Some(server) = server() else { return };
    let (one, other) = (Host::joined(&server, "a", ""), Host::joined(&server, "b", ""));
    let handle = one.spill("c", "a text\n");
    has_outputs(&server, 1);
    other.line.cut();
    other.is("down");
    assert_eq!(other.read_fails(&handle).0, "unavailable");
    let own = other.spill("own", "of this host\n");
    assert_eq!(other.reads(&own), "of this host\n");
    other.line.mend();
    assert_eq!(other.reads(&handle), "a text\n");
    let lost = Host::joined(&server, "c", "[shared.outputs]\nurl = \"file:///no/such/folder\"\n");
    let kept = lost.spill("c", "kept all the same\n");
    assert_eq!(lost.reads(&kept), "kept all the same\n");
    eventually("it is said why", || {
        let status = lost.ask("shared.status", &json!({}));
        status["outputs"]["error"].as_str().filter(|words| words.contains("/no/such/folder can't be used")).map(drop)
    });
}
