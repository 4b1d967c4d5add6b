//! The databases of OpenCode, Goose, Zed and OpenClaw, also while their programs write them.

use super::*;

/// Runs SQL in a database with a write-ahead log, and leaves the log there, as a program that runs does.
const SQL: &str = r#"
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode = WAL")
connection.executescript(sys.argv[2])
connection.commit()
# No checkpoint.
os._exit(0)
"#;

fn run(path: &Path, sql: &str) {
    drop(python::run(SQL, &[path.to_str().unwrap(), sql]));
}

#[test]
fn a_database_is_read_up_to_what_is_still_being_written() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let path = home.path().join("opencode.db");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/sessions/opencode/opencode.sql");
    run(&path, &fs::read_to_string(sample).unwrap());
    let first = import(&home, "opencode", &path, &[]);
    assert_eq!(added(&first), (2, 1, 0), "{first:?}");
    let row = daemon.client().session_show(ShowParams { session: "opencode:registry-opencode".into() }).unwrap();
    assert_eq!((row.messages, row.cwd.as_deref()), (2, Some("/workspace/registry-demo")));
    // A turn that has just begun: the question is whole, the answer is not.
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_millis();
    let begun = format!(
        r#"insert into message values ('n1', 'registry-opencode', {now}, '{{"role":"user"}}');
        insert into part values ('p1', 'n1', '{{"type":"text","text":"where does the heron nest?"}}');
        insert into message values ('n2', 'registry-opencode', {now} + 1, '{{"role":"assistant","time":{{"created":{now}}}}}');
        insert into part values ('p2', 'n2', '{{"type":"tool","callID":"c","tool":"bash","state":{{"status":"running","input":{{"command":"ls"}}}}}}');"#
    );
    run(&path, &begun);
    let half = import(&home, "opencode", &path, &[]);
    assert_eq!(added(&half), (1, 0, 1), "{half:?}");
    assert_eq!(added(&import(&home, "opencode", &path, &[])), (0, 0, 0));
    let ended = format!(
        r#"update part set data = '{{"type":"tool","callID":"c","tool":"bash","state":{{"status":"completed","input":{{"command":"ls"}},"output":"reeds.txt"}}}}' where id = 'p2';
        insert into part values ('p3', 'n2', '{{"type":"text","text":"In the reeds."}}');
        update message set data = '{{"role":"assistant","modelID":"m-1","time":{{"created":{now},"completed":{now}}}}}' where id = 'n2';"#
    );
    run(&path, &ended);
    assert_eq!(added(&import(&home, "opencode", &path, &[])), (2, 0, 1));
    assert_eq!(messages(&daemon, "opencode:registry-opencode"), Some(5));
    assert_eq!(messages(&daemon, "opencode:registry-opencode~2"), None, "nothing was rewritten");
    let found = Cli::new(&home).run(&["recall", "--json", "reeds"]).json();
    assert_eq!(found["hits"][0]["agent"], "opencode");
}

#[test]
fn a_database_of_goose_is_read_and_grows() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let path = home.path().join("sessions.db");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/sessions/goose/sessions/goose.sql");
    run(&path, &fs::read_to_string(sample).unwrap());
    assert_eq!(added(&import(&home, "goose", home.path(), &[])), (2, 1, 0));
    let row = daemon.client().session_show(ShowParams { session: "goose:20250724_2".into() }).unwrap();
    assert_eq!(
        (row.messages, row.cwd.as_deref(), row.title.as_deref()),
        (2, Some("/workspace/demo"), Some("sqlite fixture"))
    );
    run(
        &path,
        r#"insert into messages values (3, 'u2', '20250724_2', 'user', '[{"type":"text","text":"thanks"}]', 1784282403, '');"#,
    );
    assert_eq!(added(&import(&home, "goose", &path, &[])), (1, 0, 1));
    assert_eq!(added(&import(&home, "goose", &path, &[])), (0, 0, 0));
}

#[test]
fn threads_of_zed_are_read_compressed_or_not() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let path = home.path().join("threads.db");
    let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/sessions/zed/zed.sql");
    run(&path, &fs::read_to_string(sample).unwrap());
    assert_eq!(added(&import(&home, "zed", &path, &[])), (4, 2, 0));
    for (session, title, answer) in [
        ("zed:registry-zed-legacy", "legacy zed thread", "agent-1 threads still parse"),
        ("zed:registry-zed-modern", "read the zed thread store", "in threads.db under the data dir"),
    ] {
        let row = daemon.client().session_show(ShowParams { session: session.into() }).unwrap();
        assert_eq!(
            (row.messages, row.cwd.as_deref(), row.title.as_deref()),
            (2, Some("/workspace/registry-demo"), Some(title))
        );
        let read = Cli::new(&home).run(&["session", "read", session, "--json"]).json();
        assert_eq!(read["messages"][1]["message"]["content"], answer);
    }
    assert_eq!(added(&import(&home, "zed", home.path(), &[])), (0, 0, 0));
    run(&path, "update threads set data = x'28b52ffd00' where id = 'registry-zed-modern';");
    let broken = import(&home, "zed", &path, &[]);
    assert!(broken.code == 1 && broken.out.contains("thread registry-zed-modern"), "{broken:?}");
}

/// Returns the frame of a text in one block that is not compressed, as SQL.
fn frame(text: &str) -> String {
    let length = u8::try_from(text.len()).unwrap();
    let block = (u32::from(length) << 3 | 1).to_le_bytes();
    let head = [0x28, 0xb5, 0x2f, 0xfd, 0x20, length, block[0], block[1], block[2]];
    let bytes = head.iter().chain(text.as_bytes()).map(|byte| format!("{byte:02x}"));
    format!("x'{}'", bytes.collect::<String>())
}

#[test]
fn the_database_of_openclaw_has_the_lines_of_its_older_files() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let path = home.path().join("agents/main/agent/openclaw-agent.sqlite");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let record = |id: &str, role: &str, text: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","timestamp":"2026-09-06T10:00:00Z","message":{{"role":"{role}","content":"{text}"}}}}"#
        )
    };
    run(
        &path,
        &format!(
            r#"create table transcript_events (session_id text, seq integer, event_json text, created_at integer, event_zstd blob);
            insert into transcript_events values ('s1', 0, '{{"type":"session","version":4,"id":"s1","timestamp":"2026-09-06T10:00:00Z","cwd":"/w"}}', 1, null);
            insert into transcript_events values ('s1', 1, '{}', 2, null);
            insert into transcript_events values ('s1', 2, null, 3, {});"#,
            record("a", "user", "where do the gulls nest?"),
            frame(&record("b", "assistant", "In Ostrava."))
        ),
    );
    assert_eq!(added(&import(&home, "openclaw", home.path(), &[])), (2, 1, 0));
    let read = Cli::new(&home).run(&["session", "read", "openclaw:s1", "--json"]).json();
    assert_eq!(read["messages"][1]["message"]["content"], "In Ostrava.");
    let row = daemon.client().session_show(ShowParams { session: "openclaw:s1".into() }).unwrap();
    assert_eq!(row.cwd.as_deref(), Some("/w"));
    let more = record("c", "user", "and the herons?");
    run(&path, &format!("insert into transcript_events values ('s1', 3, '{more}', 4, null);"));
    assert_eq!(added(&import(&home, "openclaw", &path, &[])), (1, 0, 1));
}

#[test]
fn conversations_of_cursors_editor_are_read_bubble_by_bubble() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let path = home.path().join("state.vscdb");
    run(
        &path,
        r#"create table cursorDiskKV (key text unique on conflict replace, value blob);
        insert into cursorDiskKV values ('composerData:c1', '{"composerId":"c1","name":"Gulls","status":"completed",
            "fullConversationHeadersOnly":[{"bubbleId":"u","type":1},{"bubbleId":"a","type":2}]}');
        insert into cursorDiskKV values ('composerData:empty', '{"composerId":"empty"}');
        insert into cursorDiskKV values ('composerData:broken', 'no JSON');
        insert into cursorDiskKV values ('bubbleId:c1:u', '{"type":1,"text":"where do the gulls nest?","createdAt":"2026-09-06T10:00:00Z"}');
        insert into cursorDiskKV values ('bubbleId:c1:a', cast('{"type":2,"text":"In Ostrava."}' as blob));"#,
    );
    assert_eq!(added(&import(&home, "cursor", home.path(), &[])), (2, 1, 0));
    let read = Cli::new(&home).run(&["session", "read", "cursor:c1", "--json"]).json();
    assert_eq!(read["messages"][1]["message"]["content"], "In Ostrava.");
    let row = daemon.client().session_show(ShowParams { session: "cursor:c1".into() }).unwrap();
    assert_eq!(row.title.as_deref(), Some("Gulls"));
    assert_eq!(added(&import(&home, "cursor", &path, &[])), (0, 0, 0));
    run(
        &path,
        r#"insert into cursorDiskKV values ('composerData:c1', '{"composerId":"c1","name":"Gulls",
            "fullConversationHeadersOnly":[{"bubbleId":"u"},{"bubbleId":"a"},{"bubbleId":"v"}]}');
        insert into cursorDiskKV values ('bubbleId:c1:v', '{"type":1,"text":"and the herons?"}');"#,
    );
    assert_eq!(added(&import(&home, "cursor", &path, &[])), (1, 0, 1));
    // A workspace has a database of the same name, with nothing of conversations.
    let of_workspace = home.path().join("w/state.vscdb");
    fs::create_dir(of_workspace.parent().unwrap()).unwrap();
    run(&of_workspace, "create table ItemTable (key text, value blob);");
    let nothing = import(&home, "cursor", &of_workspace, &[]);
    assert!(nothing.code == 0 && added(&nothing) == (0, 0, 0), "{nothing:?}");
}

#[test]
fn a_database_is_never_created_and_a_view_is_no_table() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let path = home.path().join("opencode.db");
    assert_eq!(import(&home, "opencode", &path, &[]).code, 1);
    assert!(!path.exists());
    run(
        &path,
        "create view session as with recursive n(id) as (select 1 union all select id + 1 from n) select id from n;",
    );
    let ran = import(&home, "opencode", &path, &[]);
    assert!(ran.code == 1 && ran.err.contains("view"), "{ran:?}");
    fs::write(&path, "no database").unwrap();
    let ran = import(&home, "opencode", &path, &[]);
    assert!(ran.code == 1 && ran.err.contains("opencode.db"), "{ran:?}");
}
