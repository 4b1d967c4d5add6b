//! Small synthetic session files of many programs, which nobody of herma wrote (tests/samples/sessions).

use super::*;

/// A program, the folder of its files, the session that is expected, its folder, and a part of its last message.
const SAMPLES: [(&str, &str, &str, Option<&str>, &str); 16] = [
    ("claude-code", "claude-code", "session", None, ""),
    ("codex", "codex", "registry-codex", None, ""),
    ("qwen-code", "qwen", "registry-qwen", None, "I found the parser fixture."),
    ("gemini-cli", "gemini", "registry-gemini", None, "the session is readable"),
    ("pi", "pi", "reg-pi-001", Some("/workspace/registry-demo"), "registry conformance answer"),
    ("omp", "omp", "reg-omp-001", Some("/workspace/registry-demo"), "registry conformance answer"),
    (
        "openclaw",
        "openclaw",
        "a1b2c3d4-e5f6-4a7b-8c9d-0e1f2a3b4c5d",
        Some("/workspace/registry-demo"),
        "openclaw registry conformance answer",
    ),
    (
        "copilot",
        "copilot",
        "7cf44517-55ca-435c-893a-3fde1973a44e",
        Some("/Users/x/coding/gateway"),
        "the metrics poller leaks rows; add rows.Close in the scan loop",
    ),
    ("cursor", "cursor", "registry-cursor", None, "the transcript is readable"),
    ("goose", "goose", "20250724_1", Some("/workspace/demo"), "Hello from Goose!"),
    ("cline", "cline/modern", "session_synthetic_01", None, "Hello!"),
    ("cline", "cline/legacy/tasks", "1767225600000", None, "Hello!"),
    ("roo", "roo", "1767225700000", None, "The retry loop reused a stale timeout; pinned it per attempt."),
    (
        "antigravity",
        "antigravity",
        "registry-antigravity",
        Some("/workspace/registry-demo"),
        "the transcript is readable",
    ),
    ("kimi", "kimi", "session_fixture01", None, "torn-tail mid-stream answer survives"),
    ("grok", "grok", "registry-grok", None, "the stream is readable"),
];

#[test]
fn sessions_of_every_program_are_read_once() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/sessions");
    let home = Home::new();
    let daemon = Daemon::start(&home);
    for (program, folder, session, cwd, last) in SAMPLES {
        let path = samples.join(folder);
        let first = import(&home, program, &path, &[]);
        assert!(first.code == 0 && added(&first).1 >= 1, "{program}: {first:?}");
        assert_eq!(added(&import(&home, program, &path, &["--again"])), (0, 0, 0), "{program} again");
        let id = format!("{program}:{session}");
        let row = daemon.client().session_show(ShowParams { session: id.clone() }).unwrap();
        assert!(row.messages >= 2, "{row:?}");
        assert_eq!(row.agent.as_deref(), Some(program));
        if cwd.is_some() {
            assert_eq!(row.cwd.as_deref(), cwd, "{program}");
        }
        let read = Cli::new(&home).run(&["session", "read", &id]).done();
        assert!(read.trim_end().ends_with(last), "{program}: {read}");
    }
    // Copies for a way back are no sessions.
    let rows = Cli::new(&home).run(&["session", "list", "--json", "--limit", "50"]).json();
    let ids: Vec<&str> =
        rows["sessions"].as_array().unwrap().iter().filter_map(|row| row["session"].as_str()).collect();
    assert_eq!(ids.iter().filter(|id| id.starts_with("openclaw:")).count(), 1, "{ids:?}");
}
