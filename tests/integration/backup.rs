//! `herma backup` and `herma restore`: what was answered is in the file, and a damaged file changes nothing.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use herma_tests::{Cli, CommandOutput, Daemon, Home, Need, python};
use serde_json::{Value, json};

/// More steps than a restore has.
const STEPS: usize = 300;

/// What a restore does to files.
const PLACING: &str = "?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat,?mkdir,mkdirat,fsync,fdatasync";

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

/// Returns whether the sender is there. It is gone when its thread is done, and also when that panics.
fn is_open(end: &Receiver<()>) -> bool {
    matches!(end.try_recv(), Err(TryRecvError::Empty))
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
    std::thread::scope(|scope| {
        let (busy, end) = channel();
        let mut raw = daemon.raw();
        scope.spawn(move || {
            for position in (0..).take_while(|_| is_open(&end)) {
                let message = json!({ "role": "user", "content": format!("busy {position}") });
                let params = json!({ "session": "busy", "generation": 0, "position": position, "messages": [message] });
                raw.result("session.append", &params);
            }
        });
        let made = cli.run(&["backup", file]);
        drop(busy);
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
    refused(&there.run(&["restore", file]), "has data of herma already; --replace");
    fs::write(other.path().join("config.yaml"), "an agent's").unwrap();
    let replaced = there.run(&["restore", file, "--replace", "--json"]).json();
    let aside = replaced["aside"].as_str().unwrap();
    assert!(Path::new(aside).join("herma/archive.db").exists(), "{aside}");
    assert!(other.path().join("config.yaml").exists(), "what is an agent's stays");
    let _again = Daemon::start(&other);
    assert_eq!(look(&there), before);
}

#[test]
fn no_file_is_left_out_for_its_name_its_depth_or_its_link() {
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    let mut raw = daemon.raw();
    let deep = (0..15).map(|n| format!("d{n}")).collect::<Vec<_>>().join("/");
    for path in ["Cargo.lock", "notes.tmp", &format!("{deep}/deep.txt")] {
        let command = json!({ "command": "create", "path": format!("/memories/{path}"), "file_text": path });
        let answer = raw.call("files.tool", &json!({ "arguments": command }));
        assert_eq!(answer["result"]["is_error"], false, "{answer}");
    }
    drop(cli.run(&["memory", "add", "user", "Likes tea."]).done());
    let (store, elsewhere) = (home.path().join("memories/USER.md"), home.path().join("USER.real.md"));
    fs::rename(&store, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &store).unwrap();
    fs::create_dir_all(home.path().join("profiles/work/skills")).unwrap();
    fs::write(home.path().join("profiles/work/skills/own.md"), "an agent's").unwrap();
    let file = home.path().join("backup.tar");
    drop(cli.run(&["backup", file.to_str().unwrap()]).done());
    let other = Home::new();
    let there = Cli::new(&other);
    drop(there.run(&["restore", file.to_str().unwrap()]).done());
    assert!(!other.path().join("profiles").exists(), "what is an agent's is not in it");
    let _restored = Daemon::start(&other);
    let listed = there.run(&["files", "list", "--json"]).done();
    for path in ["Cargo.lock", "notes.tmp", "deep.txt"] {
        assert!(listed.contains(path), "{path}: {listed}");
    }
    assert!(there.run(&["memory", "list"]).done().contains("Likes tea."));
}

#[test]
fn other_programs_read_a_backup_and_find_it_whole() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    populate(&cli);
    let file = home.path().join("backup.tar");
    drop(cli.run(&["backup", file.to_str().unwrap()]).done());
    let folder = home.path().join("unpacked");
    fs::create_dir(&folder).unwrap();
    let script = r#"
        tar -xf "$1" && sha256sum --quiet --strict -c herma-backup.sums &&
        find . -type f | sed 's#^./##' | LC_ALL=C sort > ../found &&
        { cut -c67- herma-backup.sums; echo herma-backup.json; echo herma-backup.sums; } | LC_ALL=C sort > ../named &&
        diff ../found ../named
    "#;
    let ran =
        Command::new("sh").args(["-c", script, "sh", file.to_str().unwrap()]).current_dir(&folder).output().unwrap();
    assert!(ran.status.success() && ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
    let asked = "import sqlite3, sys\nprint(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchall())";
    let answer = python::run(asked, &[folder.join("herma/archive.db").to_str().unwrap()]);
    assert_eq!(answer.trim(), "[('ok',)]");
}

#[test]
fn what_is_renamed_while_a_backup_runs_is_in_it() {
    if !Need::Strace.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    let mut raw = daemon.raw();
    let tool = |raw: &mut herma_tests::Raw, command: &Value| {
        let answer = raw.call("files.tool", &json!({ "arguments": command }));
        assert_eq!(answer["result"]["is_error"], false, "{answer}");
    };
    for number in 0..40 {
        let path = format!("/memories/m/{number:02}.txt");
        tool(&mut raw, &json!({ "command": "create", "path": path, "file_text": format!("text {number}") }));
    }
    let file = home.path().join("backup.tar");
    std::thread::scope(|scope| {
        let (busy, end) = channel();
        scope.spawn(move || {
            // A folder has one of two names, and its files are in it all the time.
            for names in [["m", "a"], ["a", "m"]].into_iter().cycle().take_while(|_| is_open(&end)) {
                let [from, to] = names.map(|name| format!("/memories/{name}"));
                tool(&mut raw, &json!({ "command": "rename", "old_path": from, "new_path": to }));
            }
        });
        // Between the list of files and each of them is time for a rename.
        let slow = ["strace", "-f", "-o", "/dev/null", "-e", "inject=openat:delay_enter=500"];
        let mut whole = 0;
        for _ in 0..30 {
            if whole == 3 {
                break;
            }
            let made = Cli::new(&home).under(&slow).run(&["backup", file.to_str().unwrap(), "--force"]);
            let other = Home::new();
            let there = Cli::new(&other);
            // One that could not get a whole list says so.
            assert!(made.code == 0 || made.err.contains("changes all the time"), "{made:?}");
            if made.code == 0 {
                whole += 1;
                drop(there.run(&["restore", file.to_str().unwrap()]).done());
                let _restored = Daemon::start(&other);
                let listed = there.run(&["files", "list", "--json"]).done();
                let missing = (0..40).find(|number| !listed.contains(&format!("/{number:02}.txt")));
                assert_eq!(missing, None, "{listed}");
            }
        }
        drop(busy);
        assert!(whole > 0, "no backup got a whole list");
    });
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
        // The home of an agent that others may look into.
        fs::set_permissions(target.path(), Permissions::from_mode(0o755)).unwrap();
        let ran = Cli::new(&target).run(&["restore", file.to_str().unwrap()]);
        assert!(
            ran.code == 1 && ran.err.contains(words) && ran.err.contains("nothing was restored"),
            "{name}: {ran:?}"
        );
        assert_eq!(fs::read_dir(target.path()).unwrap().count(), 0, "{name} left something");
        assert_eq!(fs::metadata(target.path()).unwrap().permissions().mode() & 0o777, 0o755, "{name}");
        let left = fs::read_dir(target.path().parent().unwrap()).unwrap().flatten();
        let left = left.filter(|entry| entry.file_name().to_string_lossy().starts_with(".herma-restore-")).count();
        assert_eq!(left, 0, "{name} left its folder");
    }
    refused(&cli.run(&["backup", "/nowhere/herma.tar"]), "there is no folder /nowhere\n");
    let empty = Home::new();
    refused(&Cli::new(&empty).run(&["backup", file.to_str().unwrap(), "--force"]), "has nothing of herma's");
}

#[test]
fn a_restore_that_is_killed_or_fails_at_any_step_loses_nothing_and_can_be_given_again() {
    if !Need::Strace.is_met() {
        return;
    }
    let home = Home::new();
    let daemon = Daemon::start(&home);
    drop(Cli::new(&home).run(&["memory", "add", "user", "Likes tea."]).done());
    let file = home.path().join("backup.tar");
    drop(Cli::new(&home).run(&["backup", file.to_str().unwrap()]).done());
    drop(daemon);
    let restore = ["restore", file.to_str().unwrap(), "--replace"];
    for fault in ["signal=KILL", "error=ENOSPC"] {
        let steps = (1..STEPS).find(|number| {
            let other = Home::new();
            fs::create_dir(other.path().join("memories")).unwrap();
            fs::write(other.path().join("memories/USER.md"), "Likes coffee.").unwrap();
            let ran = Cli::new(&other).run_with_fault(&restore, PLACING, fault, *number);
            let stores = walk(other.path()).into_iter().filter(|path| path.ends_with("memories/USER.md"));
            let texts: Vec<String> = stores.map(|path| fs::read_to_string(path).unwrap_or_default()).collect();
            assert!(texts.iter().any(|text| text.contains("coffee")), "{fault} at {number}: {texts:?}");
            if ran.as_ref().is_some_and(|ran| ran.code != 0) {
                drop(Cli::new(&other).run(&restore).done());
            }
            let names = walk(other.path()).into_iter().filter(|path| path.to_string_lossy().contains("herma-restore"));
            assert_eq!(names.count(), 0, "{fault} at {number} left what it unpacked");
            let now = fs::read_to_string(other.path().join("memories/USER.md")).unwrap();
            assert!(now.contains("tea"), "{fault} at {number}: {now}");
            ran.is_none()
        });
        assert!(steps.is_some_and(|steps| steps > 10), "{fault}: {steps:?}");
    }
}

/// Returns all files in a folder.
fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
