//! A real terminal: tmux.

use std::process::Command;

use tempfile::TempDir;

use crate::{Need, eventually};

/// A terminal of 80 by 24 cells for one test. Dropping this value ends it.
#[derive(Debug)]
pub struct Terminal {
    folder: TempDir,
}

impl Terminal {
    /// Runs a command of the shell in a terminal. What it printed stays after its end. Returns `None` if there is no tmux.
    ///
    /// # Panics
    /// No folder can be made.
    #[must_use]
    pub fn start(command: &str) -> Option<Self> {
        if !Need::Tmux.is_met() {
            return None;
        }
        let terminal = Self { folder: tempfile::tempdir().unwrap() };
        let settings = terminal.folder.path().join("conf");
        std::fs::write(&settings, "set -g remain-on-exit on\n").unwrap();
        let settings = settings.to_str().unwrap();
        terminal.tmux(&["-f", settings, "new-session", "-d", "-x", "80", "-y", "24", command]);
        Some(terminal)
    }

    /// Gives tmux a command, and returns what it printed.
    ///
    /// # Panics
    /// There is no tmux any more.
    pub fn tmux(&self, arguments: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        tmux.arg("-S").arg(self.folder.path().join("socket")).args(arguments).env("TERM", "xterm-256color");
        String::from_utf8(tmux.output().expect("tmux, which this test needs").stdout).unwrap()
    }

    /// Presses a key.
    pub fn key(&self, key: &str) {
        self.tmux(&["send-keys", key]);
    }

    /// Types a text.
    pub fn text(&self, text: &str) {
        self.tmux(&["send-keys", "-l", text]);
    }

    /// Waits until the screen contains a text, and returns the screen.
    pub fn shows(&self, part: &str) -> String {
        eventually(&format!("{part} on the screen"), || {
            let screen = self.tmux(&["capture-pane", "-p"]);
            screen.contains(part).then_some(screen)
        })
    }

    /// Waits until the command has ended, and returns its exit code; `None` after a signal.
    pub fn end(&self) -> Option<i32> {
        let format = "#{pane_dead}/#{pane_dead_status}/#{pane_dead_signal}";
        let said = eventually("the end of the command", || {
            let said = self.tmux(&["display-message", "-p", format]);
            if said.trim_end() == "1//" {
                // tmux 3.3 may miss the end of its child. When another child ends, it notices both.
                self.tmux(&["run-shell", "true"]);
                return None;
            }
            said.starts_with('1').then_some(said)
        });
        said.split('/').nth(1).and_then(|code| code.parse().ok())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.tmux(&["kill-server"]);
    }
}
