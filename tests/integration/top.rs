//! `herma top` in a real terminal of 80 by 24 cells: tmux.

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Terminal, cli_program};
use serde_json::json;

/// Starts `herma top` in a terminal. Returns `None` if there is no tmux.
fn start(home: &Home, environment: &str) -> Option<Terminal> {
    let herma = cli_program();
    let home = home.path().display();
    Terminal::start(&format!("exec env {environment} {} --home {home} --no-spawn top", herma.display()))
}

#[test]
fn the_daemon_is_watched_and_looked_into() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "会議", "agent": "coder", "context_length": 200_000 }));
    raw.result("context.record_usage", &json!({ "session": "会議", "usage": { "prompt_tokens": 100_000 } }));
    raw.result("memory.add", &json!({ "target": "user", "content": "Prefers metric units." }));
    let Some(terminal) = start(&home, "") else { return };
    let screen = terminal.shows("会議");
    for part in ["default/memory", "default/user", "21/1,375 chars", " 50 %", "archive ok", "coder"] {
        assert!(screen.contains(part), "{part} in\n{screen}");
    }
    home.write_store(Target::User, b"Prefers miles.");
    terminal.shows("changed by another program");
    terminal.key("Enter");
    terminal.shows("threshold");
    terminal.key("Escape");
    terminal.shows("default/user");
    terminal.key("Tab");
    terminal.key("Down");
    terminal.key("Enter");
    terminal.shows("1  Prefers miles.");
    terminal.key("l");
    terminal.shows("+ Prefers metric units.");
    daemon.kill();
    terminal.shows("no answer");
    let _daemon = Daemon::start(&home);
    terminal.shows("journal of default/user");
    terminal.key("Escape");
    terminal.shows("store default/user");
    terminal.key("q");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn without_colours_everything_is_still_told() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let Some(terminal) = start(&home, "NO_COLOR=1") else { return };
    terminal.shows("default/user");
    let painted = terminal.tmux(&["capture-pane", "-p", "-e"]);
    assert!(painted.contains("░░░░░░░░░░"), "{painted}");
    for colour in 31..=37 {
        assert!(!painted.contains(&format!("\u{1b}[{colour}m")), "{painted:?}");
    }
}
