//! What people see: commands at several widths of a terminal, in a pipe, in an ASCII locale and without colours. The
//! files in `looks/` have the output as it was when somebody last looked at it. `HERMA_BLESS=1` writes them again.

mod steady;

use std::fs;
use std::path::{Path, PathBuf};

use herma_tests::{Daemon, Home, Raw, cli, python};
use serde_json::json;

/// Runs each command of a view, on a pseudo-terminal with so many columns or in a pipe. Prints the outputs as JSON.
const RUN: &str = r#"
import fcntl, json, os, pty, signal, struct, subprocess, sys, termios
view = json.loads(sys.argv[1])

def on_a_terminal(arguments):
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, view["columns"], 0, 0))
        os.chdir(view["folder"])
        # One that waits for an answer ends.
        signal.alarm(20)
        os.execvpe(arguments[0], arguments, view["environment"])
    seen = b""
    while True:
        try:
            read = os.read(terminal, 65536)
        except OSError:
            break
        if not read:
            break
        seen += read
    os.waitpid(child, 0)
    return seen.replace(b"\r\n", b"\n")

def in_a_pipe(arguments):
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL, "cwd": view["folder"]}
    return subprocess.run(arguments, env=view["environment"], **both).stdout

run = on_a_terminal if view["columns"] else in_a_pipe
print(json.dumps([run(command).decode(errors="replace") for command in view["commands"]]))
"#;

/// How the commands are run.
const VIEWS: [View; 7] = [
    View { name: "60", columns: Some(60), environment: &[] },
    View { name: "80", columns: Some(80), environment: &[] },
    View { name: "120", columns: Some(120), environment: &[] },
    View { name: "200", columns: Some(200), environment: &[] },
    View { name: "pipe", columns: None, environment: &[] },
    View { name: "ascii", columns: Some(80), environment: &[("LC_ALL", "C")] },
    View { name: "no-color", columns: Some(80), environment: &[("NO_COLOR", "1")] },
];

/// The commands: a line each, with their arguments between single spaces.
const COMMANDS: &str = include_str!("looks/commands.txt");

/// Commands whose outputs are not kept, and why.
const OTHERS: [(&str, &str); 16] = [
    ("daemon run", "runs until it is stopped"),
    ("daemon start", "starts a process that the test would not end"),
    ("daemon restart", "starts a process that the test would not end"),
    ("daemon stop", "ends the daemon that the other commands need"),
    ("top", "draws a screen, which is tested in a terminal"),
    ("view", "serves a page, which tests/view looks at"),
    ("watch", "runs until it is stopped"),
    ("mcp", "speaks a protocol"),
    ("hook", "speaks a protocol"),
    ("proxy codex", "runs until it is stopped"),
    ("proxy anthropic", "runs until it is stopped"),
    ("proxy openai", "runs until it is stopped"),
    ("proxy run", "runs another program"),
    ("completions", "prints a script for a shell"),
    ("upgrade", "tells how this very program was installed"),
    ("man", "prints a page for man"),
];

struct View {
    name: &'static str,
    columns: Option<usize>,
    environment: &'static [(&'static str, &'static str)],
}

fn filled() -> (Home, Daemon) {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let talk = json!([
        { "role": "user", "content": "Where does the walrus live? I ask because the map of the Arctic is old." },
        { "role": "assistant", "content": "On the ice. See docs/map.md, and the section about the far north of it." },
    ]);
    let wide = "Déjà vu: 北極の地図 is a title that is much longer than any table of a narrow terminal has room for";
    let first = "claude-code:5f2a77d1-walrus";
    let keep = |raw: &mut Raw, session: &str, title: &str| {
        let opened = json!({ "session": session, "title": title, "agent": "claude-code", "cwd": "/home/ann/arctic" });
        raw.result("session.open", &opened);
        raw.result("context.configure", &json!({ "session": session, "context_length": 200_000 }));
        raw.result("session.append", &json!({ "session": session, "generation": 0, "position": 0, "messages": talk }));
    };
    keep(&mut raw, first, "Find the walrus");
    raw.result("constraint.add", &json!({ "session": first, "text": "never use tabs" }));
    let usage = json!({ "prompt_tokens": 1200, "completion_tokens": 80 });
    raw.result("context.record_usage", &json!({ "session": first, "usage": usage }));
    for entry in ["likes tea", "lives by the sea, in a house whose windows look north, which matters for the light"] {
        raw.result("memory.add", &json!({ "target": "user", "content": entry, "agent": "cli" }));
    }
    let content =
        format!("{}thread 'main' panicked at src/main.rs:7\n{}", "line\n".repeat(20_000), "line\n".repeat(20_000));
    raw.result("output.admit", &json!({ "session": first, "tool": "terminal", "id": "call_1", "content": content }));
    for (name, text) in [
        ("talk.json", talk.to_string()),
        ("note.txt", "Use the key sk-abcdefghijklmnopqrstuvwxyz123456 of ~/.ssh/config.\n".to_owned()),
        ("changes.json", json!([{ "action": "add", "content": "reads maps" }]).to_string()),
        ("runs.jsonl", json!({ "conversations": [{ "from": "human", "value": "Where?" }] }).to_string()),
    ] {
        fs::write(home.path().join(name), text).unwrap();
    }
    // The newest session is the first one of a list.
    keep(&mut raw, "codex:0b1e-map", wide);
    (home, daemon)
}

/// Runs all commands as a person sees them.
fn seen(home: &Home, view: &View) -> Vec<String> {
    let program = cli::program().display().to_string();
    let path = home.path().display().to_string();
    let whole = |command: &str| -> Vec<String> {
        let words = command.split(' ').filter(|word| !word.is_empty());
        [program.as_str(), "--no-spawn", "--home", &path].into_iter().chain(words).map(str::to_owned).collect()
    };
    let mut environment =
        json!({ "PATH": "/nowhere", "TERM": "xterm", "PAGER": "cat", "LC_ALL": "C.UTF-8", "HOME": path });
    for (name, value) in view.environment {
        environment[name] = json!(value);
    }
    let commands: Vec<Vec<String>> = commands().map(whole).collect();
    let asked = json!({ "columns": view.columns, "folder": path, "environment": environment, "commands": commands });
    let outputs: Vec<String> = serde_json::from_str(&python::run(RUN, &[&asked.to_string()])).unwrap();
    outputs.iter().map(|text| steady::steady(text, &path)).collect()
}

/// Returns the arguments of each command. The first one is `herma` alone.
fn commands() -> impl Iterator<Item = &'static str> {
    std::iter::once("").chain(COMMANDS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')))
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("integration/cli/looks").join(format!("{name}.txt"))
}

#[test]
fn every_command_looks_as_it_was_last_seen() {
    let mut wrong = Vec::new();
    for view in &VIEWS {
        // What is a minute old looks different.
        let (home, _daemon) = filled();
        let mut all = String::new();
        for (command, output) in commands().zip(seen(&home, view)) {
            all.push_str(&format!("$ herma {command}\n{output}\n"));
        }
        let path = file(view.name);
        if std::env::var_os("HERMA_BLESS").is_some() {
            fs::write(&path, &all).unwrap();
        }
        let known = fs::read_to_string(&path).unwrap_or_default();
        let differs = known.lines().zip(all.lines()).find(|(known, now)| known != now);
        if known != all {
            wrong.push(format!("{}: {differs:#?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}\nlook at it, and run the test with HERMA_BLESS=1", wrong.join("\n"));
}

#[test]
fn no_command_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new();
    drop(cli::Cli::new(&home).run(&["man", "--dir", folder.path().to_str().unwrap()]).done());
    let pages = fs::read_dir(folder.path()).unwrap().map(|page| page.unwrap().file_name().into_string().unwrap());
    let pages: Vec<String> =
        pages.filter_map(|page| page.strip_suffix(".1")?.strip_prefix("herma-").map(str::to_owned)).collect();
    let is_group = |page: &str| pages.iter().any(|other| other.starts_with(&format!("{page}-")));
    let named: Vec<String> =
        commands().chain(OTHERS.map(|(name, _)| name)).map(|line| line.replace(' ', "-")).collect();
    let is_named = |page: &str| named.iter().any(|line| line == page || line.starts_with(&format!("{page}-")));
    let left_out: Vec<&String> = pages.iter().filter(|page| !is_group(page) && !is_named(page)).collect();
    assert!(pages.len() > 100 && left_out.is_empty(), "add them to looks/commands.txt: {left_out:?}");
}
