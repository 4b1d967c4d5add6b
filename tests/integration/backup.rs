//! `herma backup` and `herma restore`: what was answered is in the file, and a damaged file changes nothing.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use herma_tests::{Cli, CommandOutput, Daemon, Home};
use serde_json::{Value, json};

/// Writes something of everything.
fn populate(cli: &Cli<'_>) {
    for words in ["Prefers metric units.", "Likes tea."] {
        drop(cli.run(&["memory", "add", "user", words]).done());
    }
    drop(cli.run(&["memory", "replace", "user", "metric", "Prefers miles."]).done());
    let said = json!([{ "role": "user", "content": "Where does the walrus live?" }]);
    assert_eq!(cli.run_with(&["session", "append", "trip", "-"], &said.to_string()).code, 0);
    let long: String = (1..50_000).map(|line| format!("line {line} of the heron\n")).collect();
    for id in ["one", "two"] {
        let ran = cli.run_with(&["output", "admit", "trip", "--id", id, "-"], &long);
        assert!(ran.out.contains("<persisted-output>"), "{ran:?}");
    }
}

/// Returns what a person finds in a home, without the path of the home, and without scores, which depend on all that is
/// kept.
fn look(cli: &Cli<'_>) -> Vec<Value> {
    [
        ["memory", "list", "--json"].as_slice(),
        &["memory", "log", "--json"],
        &["session", "show", "trip", "--json"],
        &["session", "read", "trip", "--json"],
        &["recall", "walrus", "--json"],
        &["recall", "heron", "--kind", "output", "--limit", "3", "--json"],
        &["output", "list", "--json"],
    ]
    .iter()
    .map(|words| {
        let mut found = cli.run(words).json();
        for list in ["hits", "outputs"] {
            for row in found.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
                let row = row.as_object_mut().unwrap();
                row.remove("score");
                row.remove("path");
            }
        }
        found
    })
    .collect()
}

fn refused(ran: &CommandOutput, words: &str) {
    assert!(ran.code == 1 && ran.err.contains(words), "{words}: {ran:?}");
}

#[test]
fn a_home_comes_back_from_one_file_that_was_made_while_others_wrote() {
    let home = Home::configured("[memory]\nmemory_limit = 3_000\n");
    let daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    populate(&cli);
    let before = look(&cli);
    let file = home.path().join("backup.tar");
    let file = file.to_str().unwrap();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut raw = daemon.raw();
            for position in 0.. {
                if done.load(Ordering::Relaxed) {
                    break;
                }
                let message = json!({ "role": "user", "content": format!("busy {position}") });
                let params = json!({ "session": "busy", "generation": 0, "position": position, "messages": [message] });
                raw.result("session.append", &params);
            }
        });
        let made = cli.run(&["backup", file]);
        done.store(true, Ordering::Relaxed);
        assert!(made.done().contains("backup.tar: "));
    });
    refused(&cli.run(&["backup", file]), "--force overwrites it");
    drop(cli.run(&["backup", file, "--force"]).done());
    let bytes = fs::read(file).unwrap();
    let line = b"line 49999 of the heron";
    let count = bytes.windows(line.len()).filter(|part| part == line).count();
    assert_eq!(count, 1, "identical outputs are in it once");

    let other = Home::new();
    let there = Cli::new(&other);
    assert!(there.run(&["restore", file, "--check"]).done().contains("whole: "));
    assert!(!other.path().join("herma").exists(), "a check changes nothing");
    assert!(there.run(&["restore", file]).done().contains("restored"));
    assert_eq!(
        fs::read(other.path().join("herma/config.toml")).unwrap(),
        fs::read(home.path().join("herma/config.toml")).unwrap()
    );
    let restored = Daemon::start(&other);
    assert_eq!(look(&there), before);
    drop(there.run(&["memory", "undo", "user"]).done());
    assert!(there.run(&["memory", "list"]).done().contains("metric"), "the history came, too");
    refused(&there.run(&["restore", file]), "a daemon serves");
    drop(there.run(&["daemon", "stop"]).done());
    drop(restored);
    refused(&there.run(&["restore", file]), "is not empty; --replace");
    let replaced = there.run(&["restore", file, "--replace", "--json"]).json();
    let aside = replaced["aside"].as_str().unwrap();
    assert!(Path::new(aside).join("herma/archive.db").exists(), "{aside}");
    let _again = Daemon::start(&other);
    assert_eq!(look(&there), before);
    fs::remove_dir_all(aside).unwrap();
}

#[test]
fn a_damaged_backup_is_refused_and_nothing_changes() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    populate(&cli);
    let file = home.path().join("backup.tar");
    drop(cli.run(&["backup", file.to_str().unwrap()]).done());
    let whole = fs::read(&file).unwrap();
    let place = whole.windows(6).position(|bytes| bytes == b"miles.").unwrap();
    let mut other = whole.clone();
    other[place] ^= 1;
    let newer = String::from_utf8_lossy(&whole[..2_048]).replace("\"backup\": 1", "\"backup\": 9").into_bytes();
    let newer = [newer.as_slice(), &whole[2_048..]].concat();
    for (name, bytes, words) in [
        ("a changed byte", other.as_slice(), "is damaged"),
        ("half of it", &whole[..whole.len() / 2], "cut off"),
        ("without its end", &whole[..whole.len() - 5_000], "cut off"),
        ("nothing", b"", "it is empty"),
        ("another file", b"not a tar at all", "cut off, or no backup"),
        ("a newer form", &newer, "which is newer"),
    ] {
        fs::write(&file, bytes).unwrap();
        let target = Home::new();
        let ran = Cli::new(&target).run(&["restore", file.to_str().unwrap()]);
        assert!(
            ran.code == 1 && ran.err.contains(words) && ran.err.contains("nothing was restored"),
            "{name}: {ran:?}"
        );
        assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0, "{name} left something");
        let left = fs::read_dir(target.path().parent().unwrap()).unwrap().flatten();
        let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(".herma-restore-")).count();
        assert_eq!(left, 0, "{name} left its folder");
    }
    let empty = Home::new();
    refused(&Cli::new(&empty).run(&["backup", file.to_str().unwrap(), "--force"]), "has nothing of herma's");
}
