//! The daemon under a service manager: unit files, a socket that is passed in, and readiness.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::Command;

use herma_tests::{Cli, Daemon, Home, Need, Raw, python};
use serde_json::{Value, json};

fn cli<'a>(home: &'a Home, config: &Path) -> Cli<'a> {
    Cli::new(home).with("XDG_CONFIG_HOME", config.to_str().unwrap())
}

#[test]
fn the_files_are_written_for_one_home_and_go_again() {
    let home = Home::new();
    let config = home.path().join("config");
    let cli = cli(&home, &config);
    assert_eq!(cli.run(&["service", "status"]).code, 1);
    let installed = cli.run(&["service", "install", "--no-start", "--json"]).json();
    let files: Vec<&str> = installed["files"].as_array().unwrap().iter().map(|file| file.as_str().unwrap()).collect();
    assert!(files.len() == 2 && files.iter().all(|file| file.starts_with(config.to_str().unwrap())), "{files:?}");
    let status = cli.run(&["service", "status", "--json"]).json();
    assert_eq!((&status["installed"], &status["current"]), (&json!(true), &json!(true)));
    // A second install changes nothing. Another home needs another name.
    drop(cli.run(&["service", "install", "--no-start"]).done());
    let other = Home::new();
    let refused = self::cli(&other, &config).run(&["service", "install", "--no-start"]);
    assert!(refused.code == 1 && refused.err.contains("--name"), "{refused:?}");
    drop(self::cli(&other, &config).run(&["service", "install", "--no-start", "--name", "other"]).done());
    verify(files[1]);
    drop(cli.run(&["service", "uninstall"]).done());
    assert!(files.iter().all(|file| !Path::new(file).exists()));
    assert!(config.join("systemd/user/other.service").exists());
    assert_eq!(cli.run(&["service", "uninstall"]).code, 1);
    assert_eq!(cli.run(&["service", "install", "--name", "../x"]).code, 2);
}

/// Checks the unit with systemd, if the machine has systemd.
fn verify(unit: &str) {
    if !Need::Systemd.is_met() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut analyze = Command::new("systemd-analyze");
    analyze.args(["--user", "verify", unit]).env("XDG_RUNTIME_DIR", folder.path());
    let ran = analyze.output().unwrap();
    let words = String::from_utf8_lossy(&ran.stderr);
    let about_it: Vec<&str> = words.lines().filter(|line| line.contains("herma")).collect();
    assert!(about_it.is_empty(), "{words}");
}

#[test]
fn a_file_of_somebody_else_is_left_alone() {
    let home = Home::new();
    let config = home.path().join("config");
    let unit = config.join("systemd/user/herma.service");
    std::fs::create_dir_all(unit.parent().unwrap()).unwrap();
    std::fs::write(&unit, "[Service]\n").unwrap();
    let refused = cli(&home, &config).run(&["service", "install", "--no-start"]);
    assert!(refused.code == 1 && refused.err.contains("did not write this file"), "{refused:?}");
    assert_eq!(cli(&home, &config).run(&["service", "uninstall"]).code, 1);
    assert_eq!(std::fs::read_to_string(&unit).unwrap(), "[Service]\n");
    assert!(!config.join("systemd/user/herma.socket").exists());
}

/// A minimal service manager. It listens, waits for a connection, starts the daemon with the socket, and waits until
/// the daemon is ready.
const MANAGER: &str = r#"
import os, select, socket, sys
program, home, path = sys.argv[1:4]
os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(8)
notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
notify.bind(home + "/notify")
print("listens", flush=True)
select.select([listener], [], [])
child = os.fork()
if child == 0:
    if listener.fileno() != 3:
        os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()), NOTIFY_SOCKET=home + "/notify")
    os.execv(program, [program, "--home", home])
notify.settimeout(20)
print(notify.recv(100).decode().strip(), flush=True)
print(notify.recv(100).decode().strip(), flush=True)
print("ended", os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), os.path.exists(path), flush=True)
"#;

#[test]
fn a_given_socket_is_served_and_stays() {
    use std::io::{BufRead, BufReader};
    let home = Home::new();
    let program = herma_tests::daemon_program();
    let arguments =
        [program.to_str().unwrap(), home.path().to_str().unwrap(), home.socket().to_str().unwrap()].map(str::to_owned);
    let mut manager = python::start(MANAGER, &arguments.each_ref().map(String::as_str));
    let mut lines = BufReader::new(manager.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(lines.next().unwrap(), "listens");
    // The daemon answers a request that was sent before it started.
    let mut raw = Raw::connect(&home.socket());
    assert_eq!(raw.result("memory.add", &json!({ "target": "user", "content": "kept" }))["success"], true);
    assert_eq!(lines.next().unwrap(), "READY=1");
    let refused = Daemon::refused(&home);
    assert_eq!(refused.code, Some(3), "a second daemon finds the home taken");
    raw.result("shutdown", &json!({}));
    assert_eq!(lines.next().unwrap(), "STOPPING=1");
    assert_eq!(lines.next().unwrap(), "ended 0 True");
    assert!(manager.wait().unwrap().success());
    assert_eq!(home.entries(herma_protocol::memory::Target::User), ["kept"]);
}

#[test]
fn a_path_that_would_add_lines_to_a_unit_is_refused_and_files_are_json_where_that_is_asked_for() {
    let home = Home::new();
    let run = |folder: &OsStr| {
        let mut command = Command::new(herma_tests::cli::program());
        command.args(["--json", "service", "install", "--print", "--home"]).arg(folder);
        let socket = home.path().join("s");
        command.arg("--socket").arg(socket).env("HERMAD", herma_tests::daemon::program()).env("HOME", home.path());
        command.env_remove("XDG_CONFIG_HOME").output().unwrap()
    };
    for (name, words) in [
        (&b"/tmp/a\nExecStartPre=/bin/x"[..], "control characters"),
        (b"/tmp/\xff", "no UTF-8"),
        (b"/tmp/a\x1b", "control"),
    ] {
        let ran = run(OsStr::from_bytes(name));
        let told = String::from_utf8(ran.stderr).unwrap();
        assert!(ran.status.code() == Some(1) && told.contains(words) && ran.stdout.is_empty(), "{told}");
    }
    let ran = run(home.path().as_os_str());
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(told["files"][0]["path"].is_string() && told["files"][0]["text"].is_string(), "{told}");
}
