//! The output on a terminal has no cursor control, unless the user asks for it.

use herma_tests::{Daemon, Home, cli, python};
use serde_json::json;

/// Runs a command on its own pseudo-terminal, and prints the terminal's output.
const PTY: &str = "import pty, sys\npty.spawn(sys.argv[1:])\n";

fn on_a_terminal(home: &Home, arguments: &[&str]) -> String {
    let program = cli::program();
    let mut all = vec![program.to_str().unwrap()];
    all.extend(arguments);
    all.extend(["--no-spawn", "--home", home.path().to_str().unwrap()]);
    python::run(PTY, &all)
}

#[test]
fn an_output_can_not_drive_the_terminal() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let hostile = "one\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m \u{202e}two\r\nthree\n";
    let params = json!({ "session": "s", "tool": "t", "id": "c", "content": hostile, "threshold": 0 });
    let handle = daemon.raw().result("output.admit", &params)["handle"].clone();
    let handle = handle.as_str().unwrap();
    let shown = on_a_terminal(&home, &["output", "read", handle]);
    assert!(shown.contains("one␛]0;owned␇␛[2J<U+009B>31m <U+202E>two"), "{shown:?}");
    assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{shown:?}");
    let raw = on_a_terminal(&home, &["output", "read", handle, "--raw"]);
    assert!(raw.contains("one\u{1b}]0;owned\u{7}"), "{raw:?}");
    let piped = cli::Cli::new(&home).run(&["output", "read", handle]);
    assert_eq!(piped.out, hostile);
}

#[test]
fn names_of_others_can_not_turn_a_table() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    drop(raw.result("session.open", &json!({ "session": "a\u{202e}b", "title": "t\u{2066}x", "agent": "g\u{200f}" })));
    let shown = on_a_terminal(&home, &["session", "list"]);
    assert!(shown.contains("a<U+202E>b") && shown.contains("t<U+2066>x"), "{shown:?}");
    assert!(!shown.contains(['\u{202e}', '\u{2066}', '\u{200f}']), "{shown:?}");
    let refused = on_a_terminal(&home, &["session", "show", "no\u{202e}such"]);
    assert!(refused.contains("<U+202E>") || refused.contains("\\u{202e}"), "{refused:?}");
}

#[test]
fn usage_errors_are_json_where_that_is_asked_for() {
    let home = Home::new();
    let cli = cli::Cli::new(&home);
    for arguments in
        [&["--json", "memry"][..], &["memory", "add", "--json"], &["--json", "memory", "add", "nowhere", "x"]]
    {
        let ran = cli.run(arguments);
        let error: serde_json::Value =
            serde_json::from_str(&ran.err).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
        assert!(ran.code == 2 && !error["error"]["message"].as_str().unwrap().is_empty(), "{ran:?}");
    }
    assert!(cli.run(&["memry"]).err.starts_with("error:"), "people get words");
    assert_eq!(cli.run(&["--json", "--help"]).code, 0);
}

#[test]
fn options_decide_about_colours_notes_and_lines_about_requests() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    for session in ["one", "two"] {
        let messages = json!([{ "role": "user", "content": "where does the walrus live?" }]);
        let params = json!({ "session": session, "generation": 0, "position": 0, "messages": messages });
        raw.result("session.append", &params);
    }
    let cli = cli::Cli::new(&home);
    let coloured = |words: &[&str]| cli.run(words).out.contains('\u{1b}');
    for words in [&["session", "read", "one"][..], &["recall", "walrus"]] {
        assert!(!coloured(words), "{words:?} in a pipe");
        assert!(coloured(&[words, &["--color", "always"]].concat()), "{words:?}");
        assert!(!coloured(&[words, &["--color=never"]].concat()), "{words:?}");
    }
    assert_eq!(cli.run(&["ping", "--color", "sometimes"]).code, 2);
    let page = ["session", "list", "--limit", "1"];
    assert!(cli.run(&page).err.contains("--page 2"));
    let quiet = cli.run(&[&page[..], &["-q"]].concat());
    assert!(quiet.err.is_empty() && quiet.out.contains("two"), "{quiet:?}");
    assert!(!cli.run(&["session", "show", "nobody", "--quiet"]).err.is_empty(), "an error is printed");
    let refused = cli.run(&["session", "rm", "nobody", "-q", "--yes"]);
    assert!(refused.code == 1 && refused.err.contains("nobody"), "a refusal is an error, and no note: {refused:?}");
    let verbose = cli.run(&["memory", "list", "-v"]);
    for words in ["herma: home ", "socket ", "herma: memory.list "] {
        assert!(verbose.err.contains(words), "{words} in {verbose:?}");
    }
    assert_eq!(verbose.out, cli.run(&["memory", "list"]).out);
    assert_eq!(cli.run(&["memory", "list", "-v", "-q"]).code, 2);
}
