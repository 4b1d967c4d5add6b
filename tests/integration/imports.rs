//! `herma import`: conversations of other programs are imported, and no message is imported twice.

mod content;
mod databases;
mod samples;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use herma_client::ClientError;
use herma_protocol::profile::CreateParams;
use herma_protocol::session::chain::ShowParams;
use herma_protocol::session::import::ImportParams;
use herma_protocol::session::transcript::RemoveParams;
use herma_protocol::session::usage::Call;
use herma_protocol::{ErrorKind, Json, RpcError};
use herma_tests::{Cli, CommandOutput, Daemon, Home, eventually, python};
use serde_json::{Value, json};

/// A record of Claude Code.
fn record(role: &str, content: &Value, second: usize) -> String {
    let time = format!("2026-02-03T04:{:02}:{:02}.000Z", second / 60, second % 60);
    let message = json!({ "role": role, "model": "m-1", "content": content });
    json!({ "type": role, "cwd": "/work/app", "timestamp": time, "message": message }).to_string()
}

/// Writes a file with numbered messages.
fn write(path: &Path, numbers: std::ops::Range<usize>) {
    let lines = numbers.map(|number| {
        let role = if number % 2 == 0 { "user" } else { "assistant" };
        record(role, &json!(format!("the heron says {number}")), number) + "\n"
    });
    let mut file = fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
    file.write_all(lines.collect::<String>().as_bytes()).unwrap();
}

fn folder(home: &Home) -> PathBuf {
    let folder = home.path().join("projects").join("-work-app");
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn import(home: &Home, program: &str, path: &Path, more: &[&str]) -> CommandOutput {
    let arguments = ["import", "--json", program, path.to_str().unwrap()];
    // Some programs record local times.
    Cli::new(home).with("TZ", "UTC").run(&[&arguments, more].concat())
}

fn added(ran: &CommandOutput) -> (u64, u64, u64) {
    let report = ran.json();
    let count = |at: &str| report.pointer(at).and_then(Value::as_u64).unwrap();
    (count("/messages"), count("/sessions/new"), count("/sessions/grown"))
}

fn messages(daemon: &Daemon, session: &str) -> Option<u64> {
    match daemon.client().session_show(ShowParams { session: session.into() }) {
        Ok(row) => Some(row.messages),
        Err(ClientError::Rpc(RpcError { kind: ErrorKind::NotFound, .. })) => None,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_second_run_adds_nothing_and_a_grown_file_its_new_part() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let file = folder(&home).join("s1.jsonl");
    write(&file, 0..5);
    let first = import(&home, "claude-code", &file, &[]);
    assert_eq!((first.code, added(&first)), (0, (5, 1, 0)), "{first:?}");
    assert_eq!(added(&import(&home, "claude-code", &file, &[])), (0, 0, 0));
    // An incomplete line waits for its end.
    let cut = record("user", &json!("the heron says 5"), 5);
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(&cut.as_bytes()[..40]).unwrap();
    assert_eq!(added(&import(&home, "claude-code", &file, &[])), (0, 0, 0));
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(&cut.as_bytes()[40..]).unwrap();
    write(&file, 6..6);
    assert_eq!(added(&import(&home, "claude-code", file.parent().unwrap(), &[])), (1, 0, 1));
    // Without the record of files that were read, everything is read again.
    fs::remove_dir_all(home.path().join("herma/imports")).unwrap();
    assert_eq!(added(&import(&home, "claude-code", &file, &[])), (0, 0, 0));
    let row = daemon.client().session_show(ShowParams { session: "claude-code:s1".into() }).unwrap();
    assert_eq!((row.messages, row.cwd.as_deref(), row.model.as_deref()), (6, Some("/work/app"), Some("m-1")));
    assert_eq!((row.started_at, row.last_active), (1_770_091_200.0, 1_770_091_205.0));
    assert_eq!((row.source.as_deref(), row.end_reason.as_deref()), (file.to_str(), Some("imported")));
    let found = Cli::new(&home).run(&["recall", "--json", "\"heron says 4\""]).json();
    assert_eq!(found["hits"][0]["agent"], "claude-code");
    assert_eq!(found["hits"][0]["source"].as_str(), file.to_str());
}

#[test]
fn a_session_of_qwen_code_is_read_and_grows() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let file = folder(&home).join("q1.jsonl");
    let record = |kind: &str, from: &str, parts: &Value, second: usize| {
        let time = format!("2026-02-03T04:00:{second:02}.000Z");
        let record = json!({
            "uuid": format!("u-{second}"), "sessionId": "q1", "timestamp": time, "type": kind, "provenance": from,
            "cwd": "/work/app", "model": "qwen3", "message": { "parts": parts },
            "usageMetadata": { "promptTokenCount": 900, "candidatesTokenCount": 7, "totalTokenCount": 907 },
        });
        format!("{record}\n")
    };
    let said = json!([{ "text": "where does the heron nest?" }]);
    let call = json!([{ "functionCall": { "id": "c", "name": "ls", "args": {} } }]);
    let result = json!([{ "functionResponse": { "id": "c", "name": "ls", "response": { "output": "reeds.txt" } } }]);
    let before = record("user", "real_user", &said, 1) + &record("assistant", "assistant_output", &call, 2);
    fs::write(&file, &before).unwrap();
    assert_eq!(added(&import(&home, "qwen-code", &file, &[])), (2, 1, 0));
    fs::write(&file, before + &record("tool_result", "tool_result", &result, 3)).unwrap();
    assert_eq!(added(&import(&home, "qwen-code", file.parent().unwrap(), &[])), (1, 0, 1));
    let row = daemon.client().session_show(ShowParams { session: "qwen-code:q1".into() }).unwrap();
    assert_eq!((row.messages, row.tool_calls, row.model.as_deref()), (3, 1, Some("qwen3")));
    assert_eq!((row.usage.prompt, row.usage.output), (2_700, 21));
    let found = Cli::new(&home).run(&["recall", "--json", "reeds"]).json();
    assert_eq!((&found["hits"][0]["agent"], &found["hits"][0]["role"]), (&json!("qwen-code"), &json!("tool")));
}

#[test]
fn what_was_rewritten_is_another_session_and_what_was_removed_stays_so() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let file = folder(&home).join("s1.jsonl");
    write(&file, 0..4);
    assert_eq!(added(&import(&home, "claude-code", &file, &[])), (4, 1, 0));
    fs::remove_file(&file).unwrap();
    write(&file, 10..16);
    assert_eq!(added(&import(&home, "claude-code", &file, &[])), (6, 1, 0));
    assert_eq!([messages(&daemon, "claude-code:s1"), messages(&daemon, "claude-code:s1~2")], [Some(4), Some(6)]);
    fs::remove_dir_all(home.path().join("herma/imports")).unwrap();
    assert_eq!(added(&import(&home, "claude-code", &file, &[])), (0, 0, 0));
    let remove = |session: &str| daemon.client().session_remove(RemoveParams { session: session.into() }).unwrap();
    remove("claude-code:s1~2");
    write(&file, 16..18);
    let ran = import(&home, "claude-code", &file, &[]);
    assert_eq!((added(&ran), &ran.json()["sessions"]["removed"]), ((0, 0, 0), &json!(1)));
    assert_eq!(messages(&daemon, "claude-code:s1~2"), None);
    // The removed session does not return under the next name either.
    fs::remove_file(&file).unwrap();
    write(&file, 30..50);
    assert_eq!(added(&import(&home, "claude-code", &file, &[])), (0, 0, 0));
    assert_eq!(messages(&daemon, "claude-code:s1~3"), None);
    fs::remove_file(&file).unwrap();
    write(&file, 10..18);
    remove("claude-code:s1");
    assert_eq!(added(&import(&home, "claude-code", &file, &["--again"])), (8, 1, 0));
    assert_eq!(messages(&daemon, "claude-code:s1"), Some(8));
}

#[test]
fn what_can_not_be_read_is_told_and_the_rest_is_there() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let folder = folder(&home);
    write(&folder.join("good.jsonl"), 0..2);
    fs::write(folder.join("odd.jsonl"), b"\xff\xfe no json\n{\"type\":\"user\"}\n[[[[\n\n{\"type\": 7}\n").unwrap();
    fs::write(folder.join("cut.jsonl"), b"{\"type\":\"us").unwrap();
    fs::write(folder.join("zeros.jsonl"), b"\0\0\n\0").unwrap();
    fs::write(folder.join("other.txt"), "{}").unwrap();
    std::os::unix::fs::symlink("/", folder.join("link.jsonl")).unwrap();
    let ran = import(&home, "claude-code", &folder, &[]);
    let report = ran.json();
    assert_eq!((ran.code, &report["messages"]), (0, &json!(2)), "{ran:?}");
    let left_out = json!({ "incomplete last line": 1, "line that is not JSON": 2, "record without a type": 1 });
    assert_eq!(report["left_out"], left_out);
    let folder_text = folder.display().to_string();
    let text = Cli::new(&home).run(&["import", "claude-code", &folder_text, "--again"]).done();
    assert!(text.contains("0 of them unchanged"), "{text}");
    assert!(text.contains("1 × incomplete last line, 2 × line that is not JSON"), "{text}");
    let nothing = home.path().join("nothing");
    let ran = import(&home, "codex", &nothing, &[]);
    assert!(ran.code == 1 && ran.err.contains("there is nothing"), "{ran:?}");
    let ran = Cli::new(&home).run(&["import", "chatgpt"]);
    assert!(ran.code == 2 && ran.err.contains("conversations.json"), "{ran:?}");
    let torn = folder.join("torn.jsonl");
    fs::write(&torn, "no json\n\nat all\n").unwrap();
    for again in [0, 1] {
        let ran = import(&home, "goose", &torn, &[]);
        assert!(
            ran.code == 1 && ran.err.contains("torn.jsonl: no line of it is JSON; is it a file of goose?"),
            "{again} {ran:?}"
        );
    }
    let text = folder.join("other.json");
    for (bytes, words) in [
        (&b"PK\x03\x04rest"[..], "unzip -p"),
        (b"[{\"id\": \"a\", \"mapping\": {}}, {\"id\"", "EOF"),
        (b"{\"a\": 1}", "a list of conversations"),
        (b"", "EOF"),
    ] {
        fs::write(&text, bytes).unwrap();
        let ran = import(&home, "chatgpt", &text, &[]);
        assert!(ran.code == 1 && ran.err.contains(words), "{words}: {ran:?}");
    }
    // Invalid numbers and deep nesting do not hide the entries next to them.
    let content = json!({ "content_type": "text", "parts": ["which port?"] });
    let node = json!({ "message": { "author": { "role": "user" }, "content": content } });
    let good = json!({ "id": "g1", "current_node": "a", "mapping": { "a": node } });
    fs::write(&text, format!("[{{\"a\": 1e999}}, {}1{}, {good}]", "[".repeat(999), "]".repeat(999))).unwrap();
    let ran = import(&home, "chatgpt", &text, &[]);
    assert_eq!((ran.code, &ran.json()["left_out"]["entry that is no conversation"]), (0, &json!(2)), "{ran:?}");
    assert_eq!(messages(&daemon, "chatgpt:g1"), Some(1));
    let database = home.path().join("state.db");
    fs::write(&database, "no database, but long enough to be looked at").unwrap();
    let ran = import(&home, "hermes", &database, &[]);
    assert!(ran.code == 1 && ran.err.contains("not a database"), "{ran:?}");
    // A view may compute forever or return huge values. A computed column may, too.
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c)
        SELECT x AS id, 's' AS session_id, 1.0 AS timestamp, 'user' AS role, 'm' AS content FROM c";
    let columns = "id INTEGER PRIMARY KEY, session_id TEXT, timestamp REAL, role TEXT";
    let large = "content TEXT AS (hex(zeroblob(300000000)))";
    for (name, messages, words) in [
        ("view.db", format!("CREATE VIEW messages AS {endless}"), "`messages` is a view"),
        (
            "large.db",
            format!("CREATE TABLE messages({columns}, {large}); INSERT INTO messages VALUES (1, 's', 1.0, 'user')"),
            "too big",
        ),
    ] {
        let database = home.path().join(name);
        let script = format!("CREATE TABLE sessions(id TEXT); INSERT INTO sessions VALUES ('s'); {messages}");
        let made = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).executescript(sys.argv[2])";
        assert!(python::start(made, &[database.to_str().unwrap(), &script]).wait().unwrap().success());
        let ran = import(&home, "hermes", &database, &[]);
        assert!(ran.code == 1 && (ran.err.contains(words) || ran.out.contains(words)), "{name}: {ran:?}");
    }
    daemon.assert_serves();
}

#[test]
fn a_dry_run_says_what_a_run_then_does() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let other = home.path().join("projects").join("-work-other");
    fs::create_dir_all(&other).unwrap();
    let all = folder(&home).parent().unwrap().to_owned();
    let file = |name: &str| folder(&home).join(name);
    let steps: [(&str, &dyn Fn()); 6] = [
        ("two files", &|| {
            write(&file("s1.jsonl"), 0..4);
            write(&file("s2.jsonl"), 0..3);
        }),
        ("the same name in another folder", &|| write(&other.join("s1.jsonl"), 5..7)),
        ("one that grew", &|| write(&file("s2.jsonl"), 3..5)),
        ("one that was rewritten", &|| {
            fs::remove_file(file("s2.jsonl")).unwrap();
            write(&file("s2.jsonl"), 10..13);
        }),
        ("one that was removed", &|| {
            daemon.client().session_remove(RemoveParams { session: "claude-code:s1".into() }).unwrap();
            write(&file("s1.jsonl"), 4..6);
        }),
        ("nothing", &|| {}),
    ];
    for (what, change) in steps {
        change();
        let [dry, real] = [&["--dry-run"][..], &[]].map(|more| import(&home, "claude-code", &all, more).json());
        for part in ["messages", "sessions", "left_out"] {
            assert_eq!(dry[part], real[part], "{what}: {part}");
        }
    }
    let status = daemon.client().status(herma_protocol::daemon::StatusParams {}).unwrap();
    assert_eq!(status.requests.errors, 0, "a question whether something is there is no failure: {:?}", status.requests);
}

#[test]
fn an_export_is_read_from_standard_input_and_says_only_what_is_new() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let node = |parent: &str, role: &str, text: &str| {
        let content = json!({ "content_type": "text", "parts": [text] });
        json!({ "parent": parent, "message": { "author": { "role": role }, "create_time": 1.7e9, "content": content } })
    };
    let export = |more: bool| {
        let mut mapping =
            json!({ "a": node("", "user", "which port?"), "b": node("a", "assistant", "half \u{fffd}5150") });
        if more {
            mapping["c"] = node("b", "user", "thanks");
        }
        let last = if more { "c" } else { "b" };
        let list = json!([7, { "conversation_id": "g1", "title": "Ports", "current_node": last, "mapping": mapping }]);
        list.to_string().replace('\u{fffd}', "\\ud83d")
    };
    let ran = Cli::new(&home).run_with(&["import", "--json", "chatgpt", "-"], &export(false));
    assert_eq!((ran.code, added(&ran)), (0, (2, 1, 0)), "{ran:?}");
    // Standard input counts as a new export each time.
    let ran = Cli::new(&home).run_with(&["import", "--json", "chatgpt", "-"], &export(true));
    assert_eq!((ran.code, added(&ran)), (0, (1, 0, 1)), "{ran:?}");
    let file = home.path().join("conversations.json");
    for (more, expect) in [(true, (0, 0, 0)), (false, (2, 1, 0)), (false, (0, 0, 0))] {
        fs::write(&file, export(more)).unwrap();
        assert_eq!(added(&import(&home, "chatgpt", home.path(), &[])), expect);
    }
    let row = daemon.client().session_show(ShowParams { session: "chatgpt:g1".into() }).unwrap();
    assert_eq!((row.title.as_deref(), row.messages, row.started_at), (Some("Ports"), 3, 1.7e9));
    // A shorter conversation continues from an edited message, so it is another one.
    assert_eq!(messages(&daemon, "chatgpt:g1~2"), Some(2));
}

#[test]
fn a_session_grows_in_the_profile_that_has_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let conversation = |id: &str| {
        let content = json!({ "content_type": "text", "parts": ["which port?"] });
        let node = json!({ "message": { "author": { "role": "user" }, "create_time": 1.7e9, "content": content } });
        json!({ "id": id, "current_node": "a", "mapping": { "a": node } })
    };
    let file = home.path().join("conversations.json");
    fs::write(&file, json!([conversation("g1"), conversation("g2")]).to_string()).unwrap();
    let params = ImportParams { session: "chatgpt:g1".into(), ..ImportParams::default() };
    let mut work = daemon.client().with_profile(Some("work".into()));
    let Err(ClientError::Rpc(refused)) = work.session_import(params.clone()) else {
        panic!("there is no such profile")
    };
    assert_eq!(refused.kind, ErrorKind::NotFound, "{refused}");
    assert!(!home.path().join("profiles").exists());
    work.profile_create(CreateParams { name: "work".into() }).unwrap();
    work.session_import(params).unwrap();
    assert_eq!(added(&import(&home, "chatgpt", &file, &[])), (2, 2, 0));
    let profile = |session: &str| daemon.client().session_show(ShowParams { session: session.into() }).unwrap().profile;
    assert_eq!([profile("chatgpt:g1"), profile("chatgpt:g2")], ["work", "default"]);
}

#[test]
fn a_profile_that_is_not_there_is_made_only_where_a_rule_names_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let file = folder(&home).join("s1.jsonl");
    write(&file, 0..2);
    let profiles = || fs::read_dir(home.path().join("profiles")).map_or(0, Iterator::count);
    let ran = import(&home, "claude-code", &file, &["--profile", "work"]);
    assert!(ran.code == 1 && ran.err.contains("no profile \"work\"") && profiles() == 0, "{ran:?}");
    let ran = import(&home, "claude-code", &file, &["--profile-for", "/work=work", "--profile-for", "/=other"]);
    assert_eq!((ran.code, added(&ran), profiles()), (0, (2, 1, 0), 1), "{ran:?}");
    daemon.assert_serves();
}

/// Creates a database as Hermes does, or extends one.
const STATE: &str = r#"
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("PRAGMA journal_mode=WAL")
db.execute("CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, source TEXT, model TEXT, parent_session_id TEXT, started_at REAL, title TEXT)")
db.execute("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, role TEXT, content TEXT, tool_call_id TEXT, tool_calls TEXT, tool_name TEXT, timestamp REAL, active INTEGER DEFAULT 1, compacted INTEGER DEFAULT 0)")
for statement in sys.argv[2:]:
    db.execute(statement)
db.commit()
print("written", flush=True)
sys.stdin.read()
"#;

#[test]
fn a_database_of_hermes_is_read_while_it_is_written() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let path = home.path().join("state.db");
    let state = |statements: &[&str]| {
        let arguments: Vec<&str> = [path.to_str().unwrap()].iter().chain(statements).copied().collect();
        let mut agent = python::start(STATE, &arguments);
        let mut line = String::new();
        BufReader::new(agent.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "written\n");
        agent
    };
    // Each of these processes keeps the database open until the end, so that the log file stays.
    let mut first = state(&[
        "INSERT INTO sessions VALUES ('h1', 'cli', 'm-1', NULL, 1.0, 'Ports'), ('live', 'cli', 'm-1', NULL, 2.0, NULL)",
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h1', 'system', 'be kind', 1.0), ('h1', 'user', 'which port?', 2.0), ('h1', 'assistant', '5150', 3.0), ('live', 'user', 'x', 4.0)",
        "INSERT INTO messages (session_id, role, content, timestamp, active) VALUES ('h1', 'user', 'taken back', 5.0, 0)",
    ]);
    let open = json!({ "jsonrpc": "2.0", "id": 1, "method": "session.open", "params": { "session": "live" } });
    daemon.raw().ask(&open.to_string());
    let ran = import(&home, "hermes", &path, &[]);
    assert_eq!((added(&ran), &ran.json()["sessions"]["live"]), ((2, 1, 0), &json!(1)), "{ran:?}");
    // A compaction keeps the old rows next to the new ones.
    let mut second = state(&[
        "UPDATE messages SET active = 0, compacted = 1 WHERE session_id = 'h1' AND active = 1",
        "INSERT INTO messages (session_id, role, content, timestamp) VALUES ('h1', 'user', 'a summary', 6.0), ('h1', 'assistant', '5150', 3.0), ('h1', 'user', 'thanks', 7.0)",
    ]);
    let ran = import(&home, "hermes", &path, &[]);
    assert_eq!(added(&ran), (2, 0, 1), "{ran:?}");
    assert_eq!(added(&import(&home, "hermes", &path, &[])), (0, 0, 0));
    let row = daemon.client().session_show(ShowParams { session: "hermes:h1".into() }).unwrap();
    assert_eq!((row.title.as_deref(), row.messages, row.last_active), (Some("Ports"), 4, 7.0));
    for agent in [&mut first, &mut second] {
        drop(agent.stdin.take());
        assert!(agent.wait().unwrap().success());
    }
}

#[test]
fn a_killed_run_goes_on_and_nothing_is_there_twice() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let folder = folder(&home);
    for file in 0..40 {
        write(&folder.join(format!("s{file:02}.jsonl")), 0..50);
    }
    for round in 0..4 {
        let mut running = Cli::new(&home).start(&["import", "claude-code", folder.to_str().unwrap()]);
        // Dropping the process kills it, in each round at a later point.
        let wanted = format!("claude-code:s{:02}", round * 10);
        eventually("some sessions are there", || {
            (running.ended().is_some() || messages(&daemon, &wanted).is_some()).then_some(())
        });
    }
    let ran = import(&home, "claude-code", &folder, &[]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for file in 0..40 {
        assert_eq!(messages(&daemon, &format!("claude-code:s{file:02}")), Some(50), "s{file:02}");
    }
}

#[test]
fn what_is_written_while_somebody_watches_is_taken_in() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let folder = folder(&home);
    write(&folder.join("s1.jsonl"), 0..3);
    let _watch = Cli::new(&home).start(&["import", "claude-code", folder.to_str().unwrap(), "--watch"]);
    let has = |session: &str, count| {
        eventually("it is taken in", || (messages(&daemon, session) == Some(count)).then_some(()))
    };
    has("claude-code:s1", 3);
    write(&folder.join("s1.jsonl"), 3..4);
    has("claude-code:s1", 4);
    write(&folder.join("s2.jsonl"), 0..2);
    has("claude-code:s2", 2);
    write(&folder.join("s1.jsonl"), 4..9);
    has("claude-code:s1", 9);
    // Another, longer text in the same file.
    fs::write(folder.join("s1.jsonl"), "").unwrap();
    write(&folder.join("s1.jsonl"), 40..60);
    has("claude-code:s1~2", 20);
}

#[test]
fn a_session_that_was_imported_and_goes_on_under_hooks_is_no_failure() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let folder = folder(&home);
    let file = folder.join("s1.jsonl");
    write(&file, 0..2);
    assert_eq!(import(&home, "claude-code", &folder, &[]).json()["messages"], json!(2));
    write(&file, 2..4);
    let cli = Cli::new(&home).with("HERMA_HOOK_TIMEOUT_MS", "30000");
    for event in ["session-start", "stop"] {
        let told = json!({ "session_id": "s1", "transcript_path": file, "source": "resume" }).to_string();
        drop(cli.run_with(&["hook", "claude-code", event], &told).done());
    }
    assert_eq!(messages(&daemon, "claude-code:s1"), Some(4));
    write(&file, 4..5);
    for live in [1, 0] {
        // An unchanged file is not read again.
        let ran = import(&home, "claude-code", &folder, &[]);
        let report = ran.json();
        assert_eq!(
            (ran.code, &report["messages"], &report["sessions"]["live"]),
            (0, &json!(0), &json!(live)),
            "{ran:?}"
        );
    }
}

#[test]
fn an_agents_own_session_is_left_alone_and_an_imported_one_can_be_opened() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut client = daemon.client();
    let message = Json::parse(r#"{"role":"user","content":"the heron"}"#.to_owned()).unwrap();
    let params = ImportParams { session: "x:1".into(), messages: vec![message], ..ImportParams::default() };
    // A call that is invalid leaves nothing behind.
    let call = Call {
        id: String::new(),
        time: 1.0,
        model: None,
        provider: None,
        api_mode: None,
        usage: Json::parse("{}".to_owned()).unwrap(),
    };
    let refused = client.session_import(ImportParams { calls: Some(vec![call]), ..params.clone() }).unwrap_err();
    assert!(matches!(refused, ClientError::Rpc(RpcError { kind: ErrorKind::InvalidParams, .. })), "{refused}");
    assert_eq!(messages(&daemon, "x:1"), None);
    assert_eq!(client.session_import(params.clone()).unwrap().position, 1);
    home.write_store(herma_protocol::memory::Target::Memory, b"a note");
    let open = herma_protocol::session::OpenParams { session: "x:1".into(), ..Default::default() };
    let opened = client.session_open(open).unwrap();
    assert!(opened.resumed && opened.snapshot.memory.unwrap().contains("a note"));
    let refused = client.session_import(params).unwrap_err();
    assert!(refused.to_string().contains("an agent's own"), "{refused}");
}
