//! `herma top` in a real terminal of 80 by 24 cells: tmux.

use std::path::Path;
use std::process::Command;

use herma_protocol::memory::Target;
use herma_tests::{Daemon, Home, Need, daemon_program, eventually};
use serde_json::json;

/// A terminal for one test. Dropping this value ends it.
struct Terminal<'a> {
    socket: &'a Path,
}

impl<'a> Terminal<'a> {
    /// Starts `herma top` in a terminal. Returns `None` if there is no tmux.
    fn start(home: &Home, socket: &'a Path, environment: &str) -> Option<Self> {
        if !Need::Tmux.is_met() {
            return None;
        }
        let herma = daemon_program().with_file_name("herma");
        let command = format!("{environment} {} --home {} --no-spawn top", herma.display(), home.path().display());
        let terminal = Self { socket };
        terminal.tmux(&["-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24", &command]);
        Some(terminal)
    }

    fn tmux(&self, arguments: &[&str]) -> String {
        let ran =
            Command::new("tmux").arg("-S").arg(self.socket).args(arguments).env("TERM", "xterm-256color").output();
        let ran = ran.expect("tmux, which this test needs");
        String::from_utf8(ran.stdout).unwrap()
    }

    fn key(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Waits until the screen contains a text, and returns the screen.
    fn shows(&self, part: &str) -> String {
        eventually(&format!("{part} on the screen"), || {
            let screen = self.tmux(&["capture-pane", "-p"]);
            screen.contains(part).then_some(screen)
        })
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}

#[test]
fn the_daemon_is_watched_and_looked_into() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    raw.result("session.open", &json!({ "session": "会議", "agent": "coder", "context_length": 200_000 }));
    raw.result("context.record_usage", &json!({ "session": "会議", "usage": { "prompt_tokens": 100_000 } }));
    raw.result("memory.add", &json!({ "target": "user", "content": "Prefers metric units." }));
    let socket = home.path().join("tmux");
    let Some(terminal) = Terminal::start(&home, &socket, "") else { return };
    let screen = terminal.shows("会議");
    for part in ["default/memory", "default/user", "21/1,375 chars", "█████░░░░░  50 %", "archive ok", "coder"]
    {
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
    eventually("its end after q", || terminal.tmux(&["list-sessions"]).is_empty().then_some(()));
}

#[test]
fn without_colours_everything_is_still_told() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let socket = home.path().join("tmux");
    let Some(terminal) = Terminal::start(&home, &socket, "NO_COLOR=1") else { return };
    terminal.shows("default/user");
    let painted = terminal.tmux(&["capture-pane", "-p", "-e"]);
    assert!(painted.contains("░░░░░░░░░░"), "{painted}");
    for colour in 31..=37 {
        assert!(!painted.contains(&format!("\u{1b}[{colour}m")), "{painted:?}");
    }
}
