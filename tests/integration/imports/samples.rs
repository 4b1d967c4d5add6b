//! Small synthetic session files of many programs, which nobody of herma wrote (tests/samples/sessions).

use std::time::{SystemTime, UNIX_EPOCH};

use super::*;

/// A program, the folder of its files, and a session in them.
const SAMPLES: [(&str, &str, &str); 17] = [
    ("claude-code", "claude-code", "session"),
    ("codex", "codex", "registry-codex"),
    ("qwen-code", "qwen", "registry-qwen"),
    ("gemini-cli", "gemini", "registry-gemini"),
    ("pi", "pi", "reg-pi-001"),
    ("omp", "omp", "reg-omp-001"),
    ("openclaw", "openclaw", "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d"),
    ("copilot", "copilot", "7cf44517-55ca-435c-893a-3fde1973a44e"),
    ("cursor", "cursor", "registry-cursor"),
    ("goose", "goose", "20250724_1"),
    ("cline", "cline/modern", "session_synthetic_01"),
    ("cline", "cline/legacy/tasks", "1767225600000"),
    ("roo", "roo", "1767225700000"),
    ("antigravity", "antigravity", "registry-antigravity"),
    ("kimi", "kimi", "session_fixture01"),
    ("grok", "grok", "registry-grok"),
    ("aider", "aider", "aider-2026-07-17T09:00:00"),
];

/// What was read of them when somebody last looked at it. `HERMA_BLESS=1` writes it again.
const EXPECTED: &str = "integration/imports/samples.txt";

#[test]
fn sessions_of_every_program_are_read_once() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/sessions");
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut found = String::new();
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    for (program, folder, session) in SAMPLES {
        let path = samples.join(folder);
        let first = import(&home, program, &path, &[]);
        assert!(first.code == 0 && added(&first).1 >= 1, "{program}: {first:?}");
        assert_eq!(added(&import(&home, program, &path, &["--again"])), (0, 0, 0), "{program} again");
        let id = format!("{program}:{session}");
        let row = daemon.client().session_show(ShowParams { session: id.clone() }).unwrap();
        assert_eq!(row.agent.as_deref(), Some(program));
        let folder = row.cwd.map(|folder| folder.replace(&samples.display().to_string(), "SAMPLES"));
        found += &format!("# {id}\nfolder: {folder:?}, title: {:?}, model: {:?}\n", row.title, row.model);
        let read = Cli::new(&home).run(&["session", "read", &id, "--json"]).json();
        for message in read["messages"].as_array().unwrap() {
            // Some programs record no times. Then it is the time of the import.
            let time = message["time"].as_f64().unwrap();
            let time = if time < began { time.to_string() } else { "now".to_owned() };
            found += &format!("{time} {}\n", message["message"]);
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(EXPECTED);
    if std::env::var_os("HERMA_BLESS").is_some() {
        fs::write(&path, &found).unwrap();
    }
    let expected = fs::read_to_string(&path).unwrap();
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.lines().count(), expected.lines().count());
    // Copies for a way back are no sessions.
    let rows = Cli::new(&home).run(&["session", "list", "--json", "--limit", "50"]).json();
    let ids: Vec<&str> =
        rows["sessions"].as_array().unwrap().iter().filter_map(|row| row["session"].as_str()).collect();
    assert_eq!(ids.iter().filter(|id| id.starts_with("openclaw:")).count(), 1, "{ids:?}");
}
