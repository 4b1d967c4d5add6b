//! What people see: commands at several widths of a terminal, in a pipe, in an ASCII locale and without colours. The
//! files in `looks/` have the output as it was when somebody last looked at it. `HERMA_BLESS=1` writes them again.

use std::fs;
use std::path::{Path, PathBuf};

use herma_tests::{Daemon, Home, Raw, cli, python};
use serde_json::json;

/// Runs each command of a view, on a pseudo-terminal with so many columns or in a pipe. Prints the outputs as JSON.
const RUN: &str = r#"
import fcntl, json, os, pty, struct, subprocess, sys, termios
view = json.loads(sys.argv[1])

def on_a_terminal(arguments):
    child, terminal = pty.fork()
    if child == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 1000, view["columns"], 0, 0))
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
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL}
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

/// Commands whose output depends on what is kept and on nothing else.
const COMMANDS: [&str; 33] = [
    "",
    "session list",
    "session list --branch none",
    "session show @1",
    "session read @2",
    "session snapshot @2",
    "memory list",
    "memory list user",
    "memory log",
    "memory show user 1",
    "memory diff user 1 2",
    "memory pending",
    "memory remove user nothing",
    "memory show user 99",
    "files list",
    "files log",
    "profile list",
    "output list",
    "output search panicked -C 1",
    "output read 0000",
    "recall walrus",
    "recall nothingatall",
    "usage",
    "usage --by session",
    "usage --savings",
    "context status @2",
    "constraint list @2",
    "constraint list @1",
    "context pins @2",
    "session read nobody",
    "session read",
    "sesion list",
    "memory log --help",
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
    // The newest session is the first one of a list.
    keep(&mut raw, "codex:0b1e-map", wide);
    (home, daemon)
}

/// Runs all commands as a person sees them.
fn seen(home: &Home, view: &View) -> Vec<String> {
    let program = cli::program().display().to_string();
    let path = home.path().display().to_string();
    let whole = |command: &&str| -> Vec<String> {
        let words = command.split(' ').filter(|word| !word.is_empty());
        [program.as_str(), "--no-spawn", "--home", &path].into_iter().chain(words).map(str::to_owned).collect()
    };
    let mut environment =
        json!({ "PATH": "/usr/bin:/bin", "TERM": "xterm", "PAGER": "cat", "LC_ALL": "C.UTF-8", "HOME": path });
    for (name, value) in view.environment {
        environment[name] = json!(value);
    }
    let commands: Vec<Vec<String>> = COMMANDS.iter().map(whole).collect();
    let asked = json!({ "columns": view.columns, "environment": environment, "commands": commands });
    let outputs: Vec<String> = serde_json::from_str(&python::run(RUN, &[&asked.to_string()])).unwrap();
    outputs.iter().map(|text| steady(text, &path)).collect()
}

/// Replaces what differs from run to run by as many chars.
fn steady(text: &str, home: &str) -> String {
    let text = text.replace(home, "/home").replace('\u{1b}', "␛");
    let mut steady = String::new();
    for line in text.lines() {
        let line = mask(&mask(line, "out_", |byte| byte.is_ascii_hexdigit()), "c_", |byte| byte.is_ascii_hexdigit());
        // Entries of the memory are numbered with them, as soon as the index gets to them.
        let line = mask(&line, "msg_", |byte| byte.is_ascii_digit());
        // The version, which has the commit in a build of a clean tree.
        let line = match line.split_once(", home ") {
            Some((version, home)) if version.starts_with("herma  ") => format!("herma     0.1.0, home {home}"),
            _ => line,
        };
        // The daemon's age and memory.
        let line =
            if line.contains("running for ") { "daemon    running for 1 s, 1 MiB" } else { &without_dates(&line) };
        steady.push_str(line);
        steady.push('\n');
    }
    steady
}

/// Replaces the chars of a kind after each beginning by zeros.
fn mask(line: &str, beginning: &str, is_masked: impl Fn(u8) -> bool) -> String {
    let mut bytes = line.as_bytes().to_vec();
    let starts: Vec<usize> = line.match_indices(beginning).map(|(at, _)| at + beginning.len()).collect();
    for start in starts {
        bytes[start..].iter_mut().take_while(|byte| is_masked(**byte)).for_each(|byte| *byte = b'0');
    }
    String::from_utf8(bytes).unwrap()
}

/// Replaces the digits of dates and of the times behind them by zeros.
fn without_dates(line: &str) -> String {
    let is_date = |at: usize| {
        let date = line.as_bytes().get(at..at + 10);
        date.is_some_and(|date| date[4] == b'-' && date[7] == b'-' && date[8].is_ascii_digit())
    };
    let starts: Vec<usize> = line.match_indices("20").map(|(at, _)| at).filter(|at| is_date(*at)).collect();
    let mut bytes = line.as_bytes().to_vec();
    for start in starts {
        let moment = bytes[start..].iter_mut().take(19).take_while(|byte| b"0123456789-: ".contains(byte));
        moment.filter(|byte| byte.is_ascii_digit()).for_each(|byte| *byte = b'0');
    }
    String::from_utf8(bytes).unwrap()
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
        for (command, output) in COMMANDS.iter().zip(seen(&home, view)) {
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
