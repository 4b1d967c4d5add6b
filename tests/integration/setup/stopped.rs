//! A setup that ends in the middle: stopped by its user, killed at any step, or out of disk space there.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use herma_tests::{CommandOutput, Daemon, Need, Terminal, cli_program};

use super::User;

/// What a setup and its undo do to files.
const CALLS: &str = "?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat,?mkdir,mkdirat,fsync,fdatasync";

/// What a full disk does not allow.
const GROWING: &str = "?rename,?renameat,renameat2,?link,linkat,?mkdir,mkdirat,fsync,fdatasync";

type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// More steps than a command has.
const STEPS: usize = 200;

/// More than one that writes the plugin of Hermes has, and those of which each is tried at its beginning and its end.
const MANY_STEPS: usize = 2_000;
const FEW_STEPS: usize = 20;

const INSTALL: [&str; 5] = ["setup", "--yes", "--no-import", "--agent", "claude-code"];

const UNDO: [&str; 5] = ["setup", "--undo", "--yes", "--agent", "claude-code"];

impl User {
    /// Returns a user of Claude Code and the user's files; `None` without strace.
    fn under_strace() -> Option<(Self, Files)> {
        Need::Strace.is_met().then(Self::with_claude_code)
    }

    fn with_claude_code() -> (Self, Files) {
        let user = Self::new();
        user.has_claude_code("2.1.332");
        let files = user.files();
        (user, files)
    }

    /// Checks that all files are what they were.
    fn assert_same(&self, before: &Files, when: &str) {
        assert_same(&self.files(), before, when);
    }

    /// Runs a command with a fault, as `Cli` does it.
    fn run_with_fault(&self, arguments: &[&str], calls: &str, fault: &str, number: usize) -> Option<CommandOutput> {
        self.cli().run_with_fault(arguments, calls, fault, number)
    }
}

fn assert_same(now: &Files, before: &Files, when: &str) {
    let paths: BTreeSet<_> = before.keys().chain(now.keys()).collect();
    let texts = |files: &Files, path| {
        files.get(path).map(|file| file.as_ref().map(|text| String::from_utf8_lossy(text).into_owned()))
    };
    for path in paths {
        assert_eq!(texts(now, path), texts(before, path), "{when}: {path:?}");
    }
}

#[test]
fn a_setup_that_is_killed_at_any_step_can_be_undone_or_go_on() {
    let Some((user, before)) = User::under_strace() else { return };
    let _daemon = Daemon::start(&user.home);
    let mut steps = (1..STEPS).take_while(|number| {
        let killed = user.run_with_fault(&INSTALL, CALLS, "signal=KILL", *number);
        drop(user.run(&UNDO).done());
        user.assert_same(&before, &format!("killed at step {number}, then undone"));
        killed.is_some()
    });
    assert!(steps.by_ref().count() > 8);
    let mut steps = (1..STEPS).take_while(|number| {
        drop(user.run(&INSTALL).done());
        let killed = user.run_with_fault(&UNDO, CALLS, "signal=KILL", *number);
        drop(user.run(&UNDO).done());
        user.assert_same(&before, &format!("the undo was killed at step {number}"));
        killed.is_some()
    });
    assert!(steps.by_ref().count() > 8);
    user.run_with_fault(&INSTALL, CALLS, "signal=KILL", 8).unwrap();
    drop(user.run(&INSTALL).done());
    let doctor = user.run(&["doctor"]);
    assert!(doctor.out.contains("hooks are installed"), "{doctor:?}");
}

#[test]
fn a_setup_of_hermes_that_is_killed_at_any_step_can_be_undone() {
    if !Need::Strace.is_met() {
        return;
    }
    let user = User::new();
    // A home that the caller names is that of the agent, too.
    fs::write(user.home.path().join("config.yaml"), "# mine\nmodel: x\ncontext:\n  engine: compressor\n").unwrap();
    let files = || {
        let mut files = Files::new();
        super::look(user.home.path(), &mut files);
        files.retain(|path, _| !path.starts_with(user.home.path().join("herma")));
        files
    };
    let before = files();
    let _daemon = Daemon::start(&user.home);
    let install = ["setup", "--yes", "--no-import", "--agent", "hermes"];
    let undo = ["setup", "--undo", "--yes", "--agent", "hermes"];
    let is_killed = |stopped: &[&str], number: usize| {
        if stopped == undo {
            drop(user.run(&install).done());
        }
        let killed = user.run_with_fault(stopped, CALLS, "signal=KILL", number);
        drop(user.run(&undo).done());
        assert_same(&files(), &before, &format!("{stopped:?} was killed at step {number}"));
        killed.is_some()
    };
    for stopped in [install.as_slice(), &undo] {
        // The plugin has many files, which are all written alike; what comes before and after them is killed at each step.
        let is_each = (1..FEW_STEPS).all(|number| is_killed(stopped, number));
        assert!(is_each, "{stopped:?} has fewer steps");
        let end = (FEW_STEPS..MANY_STEPS).step_by(FEW_STEPS).find(|number| !is_killed(stopped, *number)).unwrap();
        let killed = (end - FEW_STEPS..end).filter(|number| is_killed(stopped, *number)).count();
        assert!(killed > 0 && killed <= FEW_STEPS, "{stopped:?} has {end} steps or less");
    }
}

#[test]
fn a_full_disk_at_any_step_is_reported_and_nothing_is_half_written() {
    let Some((user, before)) = User::under_strace() else { return };
    let _daemon = Daemon::start(&user.home);
    for arguments in [&INSTALL, &UNDO] {
        let mut reported = 0;
        for number in 1..STEPS {
            if arguments == &UNDO {
                drop(user.run(&INSTALL).done());
            }
            let Some(ran) = user.run_with_fault(arguments, GROWING, "error=ENOSPC", number) else { break };
            let when = format!("{arguments:?} with a full disk at step {number}: {ran:?}");
            assert!(!ran.err.contains("panicked"), "{when}");
            let now = user.files();
            let cut =
                before.keys().find(|path| now.get(*path).is_none_or(|file| file.as_ref().is_some_and(Vec::is_empty)));
            assert_eq!(cut, None, "{when}");
            if ran.code != 0 {
                reported += 1;
                assert!(format!("{}{}", ran.out, ran.err).contains("No space left"), "{when}");
            }
            drop(user.run(&UNDO).done());
            user.assert_same(&before, &when);
        }
        assert!(reported > 4, "{reported} steps of {arguments:?} failed");
    }
}

#[test]
fn of_two_setups_at_once_one_waits_for_nobody_and_changes_nothing() {
    let user = User::new();
    user.has_claude_code("2.1.332");
    let _daemon = Daemon::start(&user.home);
    fs::create_dir_all(user.home.path().join("herma")).unwrap();
    let lock = fs::File::create(user.home.path().join("herma/setup.lock")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let before = user.files();
    let CommandOutput { code, err: words, .. } = user.run(&INSTALL);
    assert!(code == 1 && words.contains("another setup is running"), "{words}");
    user.assert_same(&before, "another setup was running");
    drop(lock);
    drop(user.run(&INSTALL).done());
}

#[test]
fn ctrl_c_says_what_was_done() {
    let (user, before) = User::with_claude_code();
    let _daemon = Daemon::start(&user.home);
    let environment: String = user.environment().iter().map(|(name, value)| format!("{name}='{value}' ")).collect();
    let (herma, home) = (cli_program(), user.home.path().display());
    let command = format!("exec env {environment} {} --home {home} --no-spawn setup", herma.display());
    let Some(terminal) = Terminal::start(&command) else { return };
    terminal.shows("[y/d/N]");
    terminal.key("d");
    terminal.key("Enter");
    terminal.shows("+");
    terminal.key("C-c");
    terminal.shows("herma: stopped; nothing was changed");
    assert_eq!(terminal.end(), None, "it ends by the signal");
    user.assert_same(&before, "stopped at the question");
}
