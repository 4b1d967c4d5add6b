//! The list of skipped tests. `tests/skips` detects what a machine offers. In strict mode the list must not contain a
//! test that could have run.

use std::path::Path;
use std::process::{Command, Output};

use herma_tests::mounts::Mounts;
use herma_tests::{Daemon, Home, Injection, Need, Where};
use tempfile::TempDir;

/// Runs `tests/skips` with a list of its own.
fn skips(list: &TempDir, arguments: &[&str]) -> (Option<i32>, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("skips");
    let Output { status, stdout, .. } =
        Command::new(script).args(arguments).env("HERMA_SKIPPED", list.path().join("skipped")).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap())
}

#[test]
fn a_machine_has_what_the_tests_can_use_and_nothing_else() {
    let home = Home::new();
    assert_eq!(Need::Mounts.is_here(), Mounts::small(home.path(), 64 << 10).is_some());
    let daemon = Daemon::start(&home);
    let attached = Injection::try_attach(&daemon, Where::Everywhere, "fsync:error=EIO");
    assert_eq!(Need::Strace.is_here(), attached.is_ok(), "{attached:?}");
}

#[test]
fn what_was_skipped_is_listed_until_it_was_run() {
    let list = tempfile::tempdir().unwrap();
    assert_eq!(skips(&list, &["list", "--strict"]), (Some(0), "nothing was skipped\n".into()));
    for need in Need::ALL.map(Need::name) {
        assert_eq!(skips(&list, &["add", need, "one::test"]).0, Some(0));
    }
    let (code, out) = skips(&list, &["list"]);
    assert_eq!((code, out.matches("one::test").count()), (Some(0), Need::ALL.len()), "{out}");
    for need in Need::ALL.map(Need::name) {
        assert_eq!(skips(&list, &["drop", need, "one::test"]).0, Some(0));
    }
    assert_eq!(skips(&list, &["list"]), (Some(0), "nothing was skipped\n".into()));
}

#[test]
fn a_test_that_was_skipped_although_it_could_be_run_fails_the_strict_list() {
    for need in Need::ALL {
        let list = tempfile::tempdir().unwrap();
        skips(&list, &["add", need.name(), "one::test"]);
        let (code, out) = skips(&list, &["list", "--strict"]);
        let expected = Some(i32::from(need.is_here()));
        assert!(code == expected && out.contains("FAILED") == need.is_here(), "{need:?}: {out}");
    }
    let list = tempfile::tempdir().unwrap();
    skips(&list, &["add", "a-need-that-nobody-knows", "one::test"]);
    assert_eq!(skips(&list, &["list", "--strict"]).0, Some(1));
}
