//! Commands with a fake daemon: their requests, their output and their exit codes.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "tests put files there as other programs do")]

mod context;
mod edit;
mod fake;
mod hermes;
mod outputs;
mod past;
mod recall;
mod sessions;
mod transfer;
mod usage;

use std::process::Output;

use fake::Fake;

/// Returns the exit code, standard output and standard error.
fn parts(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn pending_writes_are_listed_and_decided() {
    let fake = Fake::with_history(&[]);
    let (code, out, _) = parts(&fake.herma(&["memory", "pending"]));
    assert!(code == 0 && out.contains("0a1b2c3d  user") && out.contains("likes tea"), "{out}");
    let (code, out, _) = parts(&fake.herma(&["memory", "approve", "1"]));
    assert!(code == 0 && out.starts_with("1 done: Done."), "{out}");
    let (code, out, _) = parts(&fake.herma(&["memory", "approve", "--all"]));
    assert!(code == 4 && out.contains("2 failed: refused: full"), "{out}");
    let (code, out, _) = parts(&fake.herma(&["memory", "reject", "1", "2"]));
    assert_eq!((code, out.as_str()), (0, "1 rejected\n2 rejected\n"));
    for wrong in [&["memory", "approve"][..], &["memory", "reject", "1", "--all"]] {
        assert_eq!(fake.herma(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn changes_are_watched_until_the_daemon_goes_away() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["watch"]));
    assert_eq!((code, out.lines().count(), error.as_str()), (3, 3, "herma: the daemon went away\n"));
    assert!(out.contains("  output out_0  gone, over the quota: 7 B of terminal call_0, session s\n"), "{out}");
    assert!(out.contains("  default/user  revision 9, written\n"), "{out}");
    let (_, out, _) = parts(&fake.herma(&["watch", "--json", "--profile", "work"]));
    let line = "{\"topic\":\"memory.changed\",\"profile\":\"work\",\"target\":\"user\",\"revision\":9,\"cause\":\"write\",\"session\":null}\n";
    assert_eq!(out, line);
}

#[test]
fn a_connection_that_breaks_is_a_daemon_that_is_gone() {
    let fake = Fake::with_history(&[]);
    for command in [&["memory", "list"][..], &["session", "rm", "s", "--yes"], &["recall", "heron"]] {
        let (code, out, error) = parts(&fake.herma(&[&["--profile", "gone"], command].concat()));
        assert!(error.contains("the connection to the daemon broke"), "{command:?} {error}");
        assert_eq!((code, out.as_str()), (3, ""), "{command:?}");
    }
}

#[test]
fn profiles_and_snapshots_are_made() {
    let fake = Fake::with_history(&[]);
    for (arguments, expected) in [
        (&["profile", "create", "work"][..], "created work\n"),
        (&["profile", "list"], "profile  memory holds  user holds\ndefault  2,200 chars   1,375 chars\n"),
        (&["session", "refresh", "s1"], "the block\n"),
    ] {
        let (code, out, error) = parts(&fake.herma(arguments));
        assert_eq!((code, out.as_str()), (0, expected), "{arguments:?} {error}");
    }
}

#[test]
fn a_missing_profile_is_an_error_that_says_how_to_create_it() {
    let fake = Fake::with_history(&[]);
    for command in [&["memory", "list"][..], &["memory", "export"], &["memory", "edit", "user"]] {
        let (code, _, error) = parts(&fake.herma(&[&["--profile", "missing"], command].concat()));
        assert!(code == 1 && error.contains("`herma profile create missing`"), "{command:?} {error}");
    }
}

#[test]
fn poison_is_shown_only_on_request() {
    let fake = Fake::with_history(&[&["poison one"], &["poison one", "poison two"]]);
    for command in [
        &["list"][..],
        &["log", "user"],
        &["show", "user", "1"],
        &["show", "user", "2"],
        &["diff", "user"],
        &["diff", "user", "0"],
    ] {
        let command = [&["memory"], command].concat();
        let (code, out, _) = parts(&fake.herma(&command));
        assert!(code == 0 && out.contains("[BLOCKED]") && !out.contains("poison"), "{command:?} {out}");
        let (code, out, _) = parts(&fake.herma(&[&command[..], &["--raw"]].concat()));
        assert!(code == 0 && out.contains("poison") && !out.contains("[BLOCKED]"), "{command:?} {out}");
    }
    let (_, out, _) = parts(&fake.herma(&["memory", "export", "user", "--format", "md"]));
    assert_eq!(out, "poison one\n§\npoison two\n");
    let (_, out, _) = parts(&fake.herma(&["memory", "undo", "user"]));
    assert!(out.starts_with("- [BLOCKED]\n(1 entry unchanged)\n"), "{out}");
}
