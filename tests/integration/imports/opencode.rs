//! The databases of OpenCode and Goose, also while their programs write them.

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
