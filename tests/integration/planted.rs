//! herma does not use files that belong to other users, that they can write, or that replace its own files.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use herma_tests::cli::Cli;
use herma_tests::{Daemon, Home, Need, kind};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

/// A user id that is neither root nor any user of this machine.
const OTHER: u32 = 54_321;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn names(home: &Home) -> Vec<String> {
    let entries = fs::read_dir(home.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

/// Checks that a daemon does not start, and reports these words.
#[track_caller]
fn assert_refused(home: &Home, words: &[&str]) {
    let exit = Daemon::refused(home);
    assert_eq!(exit.code, Some(1), "{exit:?}");
    assert!(words.iter().all(|word| exit.words.contains(word)), "{words:?}: {exit:?}");
}

#[test]
fn root_makes_nothing_in_another_users_home() {
    if !Need::Root.is_met() {
        return;
    }
    let home = Home::new();
    chown(home.path(), Some(OTHER), Some(OTHER)).unwrap();
    assert_refused(&home, &["belongs to user 54321", "sudo -u '#54321'"]);
    assert_eq!(names(&home), [""; 0]);
    // A home that root would create in another user's folder is refused, too.
    let below = Command::new(herma_tests::daemon::program()).arg("--home").arg(home.path().join(".hermes")).output();
    let below = below.unwrap();
    assert_eq!((below.status.code(), names(&home)), (Some(1), Vec::new()), "{below:?}");
    let ran = Cli::new(&home).run(&["doctor", "--json"]);
    assert!(ran.code == 1 && ran.out.contains("belongs to user 54321"), "{ran:?}");
}

/// Commands that create files in a home, each with its standard input.
const MAKING: [(&[&str], &str); 9] = [
    (&["hook", "claude-code", "session-start"], r#"{"session_id":"a","source":"startup"}"#),
    (&["hook", "codex", "stop"], r#"{"session_id":"a"}"#),
    (&["proxy", "codex", "--upstream", "http://127.0.0.1:1/v1", "--listen", "127.0.0.1:0"], ""),
    (&["proxy", "anthropic", "--listen", "127.0.0.1:0"], ""),
    (&["proxy", "run", "--", "true"], ""),
    (&["config", "init"], ""),
    (&["hooks", "install", "claude-code", "--yes"], ""),
    (&["hooks", "uninstall", "claude-code", "--yes"], ""),
    (&["memory", "add", "user", "said by root"], ""),
];

#[test]
fn no_command_of_root_makes_anything_in_another_users_home_or_folder() {
    if !Need::Root.is_met() {
        return;
    }
    let all = |path: &Path| {
        let found = Command::new("find").arg(path).args(["-mindepth", "1"]).output().unwrap();
        String::from_utf8(found.stdout).unwrap()
    };
    for (arguments, input) in MAKING {
        let home = Home::new();
        chown(home.path(), Some(OTHER), Some(OTHER)).unwrap();
        let user = Home::new();
        let run = |home: &Home| {
            let cli = Cli::new(home).with("HOME", user.path().to_str().unwrap()).with("CLAUDE_CONFIG_DIR", "");
            cli.run_with(arguments, input)
        };
        let ran = run(&home);
        assert_eq!((all(home.path()).as_str(), ran.out.as_str()), ("", ""), "{arguments:?}: {ran:?}");
        // A folder that another user put into a world-writable home, with links in it.
        let home = Home::new();
        mode(home.path(), 0o1777);
        let (folder, behind) = (home.path().join("herma"), Home::new());
        fs::create_dir_all(folder.join("clients")).unwrap();
        for client in ["claude-code", "codex"] {
            symlink(behind.path(), folder.join("clients").join(client)).unwrap();
        }
        chown(&folder, Some(OTHER), Some(OTHER)).unwrap();
        let before = all(home.path());
        let ran = run(&home);
        assert_eq!((all(behind.path()).as_str(), all(home.path())), ("", before), "{arguments:?}: {ran:?}");
    }
    let home = Home::new();
    chown(home.path(), Some(OTHER), Some(OTHER)).unwrap();
    let mut hermad = Command::new(herma_tests::daemon::program());
    let ran = hermad.arg("--home").arg(home.path()).arg("--init-config").output().unwrap();
    assert_eq!((ran.status.code(), names(&home)), (Some(1), Vec::new()), "{ran:?}");
}

#[test]
fn root_can_ask_another_users_daemon() {
    if !Need::Root.is_met() {
        return;
    }
    let home = Home::new();
    chown(home.path(), Some(OTHER), Some(OTHER)).unwrap();
    let daemon = Daemon::start_as(&home, OTHER);
    let cli = Cli::new(&home);
    assert_eq!(cli.run(&["memory", "add", "user", "said by root"]).code, 0);
    assert_eq!(cli.run(&["memory", "list", "--json"]).json()["user"]["entries"], json!(["said by root"]));
    drop(daemon);
}

#[test]
fn a_folder_or_configuration_of_others_is_not_used() {
    let home = Home::new();
    let folder = home.path().join("herma");
    fs::create_dir(&folder).unwrap();
    mode(&folder, 0o777);
    assert_refused(&home, &["everybody may write in it", "chmod 700"]);
    mode(&folder, 0o755);
    let config = folder.join("config.toml");
    fs::write(&config, "[log]\nlevel = \"info\"\n").unwrap();
    mode(&config, 0o666);
    assert_refused(&home, &["config.toml", "everybody may write it", "chmod 600"]);
    mode(&config, 0o644);
    drop(Daemon::start(&home));
    if Need::Root.is_met() {
        chown(&config, Some(OTHER), None).unwrap();
        assert_refused(&home, &["config.toml", "belongs to user 54321"]);
        fs::remove_file(&config).unwrap();
        chown(&folder, Some(OTHER), None).unwrap();
        assert_refused(&home, &["herma", "belongs to user 54321"]);
    }
}

#[test]
fn no_file_is_written_through_a_link() {
    let target = Home::new();
    let target = target.path().join("precious");
    for name in ["hermad.lock", "hermad.log"] {
        let home = Home::new();
        fs::create_dir(home.path().join("herma")).unwrap();
        fs::write(&target, "precious").unwrap();
        symlink(&target, home.path().join("herma").join(name)).unwrap();
        assert_refused(&home, &[name, "it is a link"]);
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious");
    }
    for name in ["archive.db", "outputs.jsonl"] {
        let home = Home::new();
        fs::create_dir(home.path().join("herma")).unwrap();
        fs::write(&target, "precious").unwrap();
        symlink(&target, home.path().join("herma").join(name)).unwrap();
        let daemon = Daemon::start(&home);
        let mut raw = daemon.raw();
        let opened = raw.call("session.open", &json!({ "session": "s" }));
        let output = json!({ "session": "s", "tool": "t", "id": "c", "content": "text", "threshold": 0 });
        let admitted = raw.call("output.admit", &output);
        assert_eq!(kind(&opened) == "unavailable", name == "archive.db", "{opened} {admitted}");
        assert_eq!(fs::read_to_string(&target).unwrap(), "precious", "{name}");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_file_stops_nothing() {
    for name in
        ["hermad.lock", "hermad.log", "config.toml", "archive.db", "outputs.jsonl", "journal/default/memory.jsonl"]
    {
        let home = Home::new();
        let path = home.path().join("herma").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        if name.starts_with("hermad.") || name == "config.toml" {
            assert_refused(&home, &[name]);
        } else {
            let mut daemon = Daemon::start(&home);
            drop(daemon.raw().result("status", &json!({})));
            drop(daemon.raw().call("memory.add", &json!({ "target": "memory", "content": "x" })));
            daemon.terminate();
            assert_eq!(daemon.ended().code(), Some(0), "{name}");
        }
        let cli = Cli::new(&home);
        for command in [&["status"][..], &["doctor"], &["daemon", "stop"], &["daemon", "status"]] {
            assert!(cli.run(command).code < 4, "{name} {command:?}");
        }
    }
}
