//! A daemon whose home is removed ends, and does not disturb the next daemon.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use herma_protocol::memory::Target;
use herma_tests::cli::Cli;
use herma_tests::{Daemon, Home};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// The documented limit is two seconds. The rest is for a busy machine.
const SOON: Duration = Duration::from_secs(8);

fn signal(daemon: &Daemon, signal: Signal) {
    let pid = i32::try_from(daemon.pid()).ok().and_then(Pid::from_raw).unwrap();
    kill_process(pid, signal).unwrap();
}

/// Removes a file or folder at once, even a folder in which the daemon is about to create files.
fn take_away(path: &Path) {
    let away = path.with_extension("away");
    fs::rename(path, &away).unwrap();
    drop(if away.is_dir() { fs::remove_dir_all(&away) } else { fs::remove_file(&away) });
}

#[test]
fn a_daemon_whose_home_is_gone_ends_by_itself() {
    for what in ["herma/hermad.lock", "herma/hermad.sock", "herma", ""] {
        let home = Home::new();
        let mut daemon = Daemon::start(&home);
        daemon.assert_serves();
        let path = if what.is_empty() { home.path().to_owned() } else { home.path().join(what) };
        take_away(&path);
        let since = Instant::now();
        assert_eq!(daemon.ended().code(), Some(0), "{what}");
        assert!(since.elapsed() < SOON, "{what}: {:?}", since.elapsed());
        drop(fs::create_dir(home.path()));
    }
}

#[test]
fn the_first_daemon_leaves_the_second_ones_socket_alone() {
    let home = Home::new();
    let mut first = Daemon::start(&home);
    let mut waiting = first.raw();
    take_away(&home.path().join("herma"));
    let second = Daemon::start(&home);
    assert_eq!(first.ended().code(), Some(0));
    assert!(home.socket().exists());
    second.assert_serves();
    drop(second.raw().result("memory.add", &json!({ "target": "user", "content": "kept" })));
    assert_eq!(home.entries(Target::User), ["kept"]);
    assert!(waiting.rest().is_empty(), "who was connected to the first one is let go");
    assert!(Cli::new(&home).run(&["status"]).code == 0);
}

#[test]
fn one_that_can_not_end_is_found_and_ended() {
    let home = Home::new();
    let mut first = Daemon::start(&home);
    signal(&first, Signal::STOP);
    fs::remove_dir_all(home.path().join("herma")).unwrap();
    let mut second = Daemon::start(&home);
    let cli = Cli::new(&home);
    let report = cli.run(&["doctor", "--json"]);
    assert_eq!(report.code, 1, "{report:?}");
    let found = report.json()["findings"].as_array().unwrap().clone();
    let words = format!("the daemon {} serves this home too", first.pid());
    let orphan = found.iter().find(|finding| finding["words"].as_str().unwrap().starts_with(&words)).unwrap();
    assert!(orphan["remedy"].as_str().unwrap().contains("herma daemon stop"), "{orphan}");
    std::thread::scope(|scope| {
        let stop = scope.spawn(|| cli.run(&["daemon", "stop", "--json"]));
        assert_eq!(second.ended().code(), Some(0));
        signal(&first, Signal::CONT);
        assert_eq!(first.ended().code(), Some(0));
        let told = stop.join().unwrap();
        assert_eq!(told.json()["stopped"], json!(true), "{told:?}");
    });
}
