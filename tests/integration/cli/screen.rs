//! What is longer than a screen, and what goes on until a key ends it, in a real terminal of 80 by 24 cells: tmux.

use std::fmt::Write;

use herma_tests::{Daemon, Home, Need, Terminal, cli_program, eventually};
use serde_json::json;

/// Runs `herma` with a line of arguments in a terminal. Returns `None` if there is no tmux.
fn start(home: &Home, environment: &str, line: &str) -> Option<Terminal> {
    let (herma, home) = (cli_program(), home.path().display());
    let environment = format!("-u HERMA_PAGER -u PAGER -u LESS {environment}");
    Terminal::start(&format!("exec env {environment} {} --home {home} --no-spawn {line}", herma.display()))
}

/// Starts a daemon with a conversation, a store and an output that are longer than a screen. Returns the output's handle.
fn filled(home: &Home) -> (Daemon, String) {
    let daemon = Daemon::start(home);
    let mut raw = daemon.raw();
    let messages: Vec<_> =
        (1..=40).map(|number| json!({ "role": "user", "content": format!("line {number}") })).collect();
    raw.result("session.append", &json!({ "session": "talk", "generation": 0, "position": 0, "messages": messages }));
    let content = (1..=400).fold(String::new(), |mut text, number| {
        writeln!(text, "row {number}").unwrap();
        text
    });
    let admitted = json!({ "session": "talk", "tool": "t", "id": "c", "content": content, "threshold": 0 });
    let handle = raw.result("output.admit", &admitted)["handle"].as_str().unwrap().to_owned();
    for number in 1..=40 {
        raw.result("memory.add", &json!({ "target": "user", "content": format!("fact {number}"), "agent": "cli" }));
    }
    (daemon, handle)
}

#[test]
fn a_pager_shows_what_is_longer_than_the_screen() {
    let home = Home::new();
    let (_daemon, handle) = filled(&home);
    for (line, first, found, last) in [
        ("session read talk", "line 1\n", "line 33", "line 40"),
        (&format!("output read {handle} --lines 400"), "row 1\n", "row 333", "row 400"),
        ("memory list user", "1. fact 1\n", "fact 33", "fact 40"),
        ("memory log user --limit 100", "+fact 40", "fact 3", "+fact 1\n"),
        ("recall fact --limit 40", "fact", "fact 2", "fact"),
        ("config show", "[memory]", "embedder", "[log]"),
    ] {
        let Some(terminal) = start(&home, "", line) else { return };
        let screen = terminal.shows(first);
        assert!(first == last || !screen.contains(last), "{line} ends on the first screen:\n{screen}");
        terminal.text(&format!("/{found}"));
        terminal.key("Enter");
        terminal.shows(found);
        // The pager stays, and so does what waits for it. less drops keys that come right after an interrupt.
        terminal.key("C-c");
        eventually(&format!("{last} at the end of {line}"), || {
            terminal.key("G");
            terminal.tmux(&["capture-pane", "-p"]).contains(last).then_some(())
        });
        terminal.key("q");
        assert_eq!(terminal.end(), Some(0), "{line}");
    }
}

#[test]
fn lines_that_are_wrapped_count_as_many() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let long = format!("begin {} end-of-it", "word ".repeat(250));
    daemon.raw().result("memory.add", &json!({ "target": "user", "content": long }));
    daemon.raw().result("memory.add", &json!({ "target": "memory", "content": long }));
    let Some(terminal) = start(&home, "", "memory list") else { return };
    let screen = terminal.shows("USER.md");
    assert_eq!(screen.matches("end-of-it").count(), 1, "the rest is behind the screen:\n{screen}");
    terminal.key("G");
    terminal.shows("(END)");
    terminal.key("q");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn what_fits_needs_no_pager_and_a_pager_is_a_choice() {
    let home = Home::new();
    let _filled = filled(&home);
    for (environment, line) in [
        ("", "memory list memory"),
        ("PAGER=cat", "memory list user"),
        ("HERMA_PAGER=", "memory list user"),
        ("PAGER=no-such-pager", "memory list user"),
        ("TERM=dumb", "memory list user"),
        ("-u TERM", "memory list user"),
        ("", "memory list user --json"),
    ] {
        let Some(terminal) = start(&home, environment, line) else { return };
        assert_eq!(terminal.end(), Some(0), "{environment} {line}");
    }
}

#[test]
fn events_are_printed_as_they_happen_until_a_key_ends_it() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let Some(terminal) = start(&home, "", "-v watch") else { return };
    // The request is printed when it is answered.
    terminal.shows("subscribe");
    let mut raw = daemon.raw();
    raw.result("memory.add", &json!({ "target": "user", "content": "likes tea", "agent": "coder" }));
    let screen = terminal.shows("likes tea");
    assert!(screen.contains("coder"), "who did it:\n{screen}");
    raw.result("session.open", &json!({ "session": "walk", "title": "A walk" }));
    terminal.shows("A walk");
    terminal.key("C-c");
    assert_eq!(terminal.end(), None, "the signal ends it");
}

#[test]
fn every_shell_completes_a_line() {
    if !Need::Shells.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let opened = json!({ "session": "claude-code:5f2a77d1-walrus", "agent": "claude-code", "title": "The walrus" });
    daemon.raw().result("session.open", &opened);
    let program = cli_program();
    let folder = program.parent().unwrap().display();
    for (shell, load) in [
        ("bash --norc --noprofile", "source <(herma completions bash)"),
        ("zsh -f", "autoload -U compinit && compinit -D && source <(herma completions zsh)"),
        ("fish --no-config --private", "herma completions fish | source"),
    ] {
        let environment =
            format!("PATH={folder}:$PATH HERMA_HOME={} HOME={}", home.path().display(), home.path().display());
        let terminal =
            Terminal::start(&format!("exec env {environment} {shell}")).expect("tmux, which is part of the need");
        terminal.text(&format!("{load}; echo lo''aded"));
        terminal.key("Enter");
        terminal.shows("\nloaded");
        for (typed, expected) in [
            ("herma session read 5f", "herma session read 5f2a77d1-walrus"),
            ("herma sess", "herma session"),
            ("herma memory unl", "herma memory unl"),
            ("herma doc", "herma doctor"),
            ("herma session read 5f2a77d1-walrus --wh", "--whole"),
        ] {
            terminal.key("C-u");
            terminal.text(typed);
            terminal.key("Tab");
            let screen = terminal.shows(expected);
            assert!(!screen.contains("error") && !screen.contains("panicked"), "{shell}: {typed}\n{screen}");
        }
    }
}
