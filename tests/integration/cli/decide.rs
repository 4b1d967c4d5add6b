//! Approving writes, profiles, sessions and watching.

use herma_tests::eventually;

use super::*;

#[test]
fn writes_that_wait_are_listed_approved_and_rejected() {
    let home = Home::configured("[memory]\napproval = true\n");
    let daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    assert_eq!(
        cli.run(&["memory", "pending"]).done(),
        "No writes wait for approval. They do with `memory.approval = true` in config.toml.\n"
    );
    let out = cli.run(&["memory", "add", "user", "likes tea", "--agent", "coder"]).done();
    let id = cli.run(&["memory", "pending", "--json"]).json()["pending"][0]["id"].as_str().unwrap().to_owned();
    assert!(out.contains(&format!("herma memory approve {id}")), "{out}");
    let out = cli.run(&["memory", "pending"]).done();
    let row = out.lines().nth(1).unwrap();
    assert!(row.starts_with(&format!("{id}  user ")) && row.contains("coder") && row.ends_with("likes tea"), "{out}");
    assert!(cli.run(&["memory", "pending", "--full"]).done().contains("\"content\":\"likes tea\""));
    assert!(cli.run(&["memory", "list"]).done().contains("1 write waits for approval: herma memory pending"));
    let unknown = cli.run(&["memory", "approve", &id, "00000000"]);
    assert!(unknown.code == 1 && unknown.err.contains("no write \"00000000\" waits"), "{unknown:?}");
    assert_eq!(home.entries(Target::User), [""; 0]);
    // Each command opens its own connection, so a person may approve a write that was staged here.
    let out = cli.run(&["memory", "approve", &id]).done();
    assert!(out.starts_with(&format!("{id} done: ")), "{out}");
    assert_eq!(home.entries(Target::User), ["likes tea"]);

    drop(cli.run(&["memory", "remove", "user", "tea"]).done());
    drop(cli.run(&["memory", "remove", "user", "likes"]).done());
    let ran = cli.run(&["memory", "approve", "--all"]);
    assert!(ran.code == 4 && ran.out.contains(" done: ") && ran.out.contains(" failed: refused: "), "{ran:?}");
    let id = cli.run(&["memory", "pending", "--json"]).json()["pending"][0]["id"].as_str().unwrap().to_owned();
    drop(daemon);
    let _daemon = Daemon::start(&home);
    assert_eq!(cli.run(&["memory", "reject", &id]).done(), format!("{id} rejected\n"));
    assert_eq!(cli.run(&["memory", "reject", "--all"]).done(), "nothing waited for approval\n");
    for wrong in [["memory", "approve"].as_slice(), &["memory", "reject"], &["memory", "reject", &id, "--all"]] {
        assert_eq!(cli.run(wrong).code, 2, "{wrong:?}");
    }
}

#[test]
fn profiles_are_made_listed_and_used() {
    let home = Home::configured("[memory.profiles.work]\nuser_limit = 20\n");
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    let missing = cli.run(&["--profile", "work", "memory", "list"]);
    assert!(missing.code == 1 && missing.err.contains("herma profile create work"), "{missing:?}");
    assert_eq!(cli.run(&["profile", "create", "work"]).done(), "created work\n");
    assert_eq!(cli.run(&["profile", "create", "work", "--json"]).json(), json!({ "created": false }));
    let out = cli.run(&["profile", "list"]).done();
    let rows: Vec<&str> = out.lines().skip(1).collect();
    assert!(
        rows[0].starts_with("default  2,200 chars") && rows[1].starts_with("work ") && rows[1].ends_with("20 chars"),
        "{out}"
    );
    assert_eq!(cli.run(&["profile", "create", "../x"]).code, 1);
    drop(cli.run(&["--profile", "work", "memory", "add", "user", "at work"]).done());
    assert_eq!(cli.run(&["memory", "add", "user", "x", "--profile", "work", "--expected-revision", "0"]).code, 1);
    assert_eq!(cli.run(&["--profile", "work", "memory", "add", "user", "longer than that"]).code, 4);
    assert_eq!(home.entries(Target::User), [""; 0]);
}

#[test]
fn a_session_s_blocks_are_printed_and_renewed() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    drop(cli.run(&["memory", "add", "user", "one"]).done());
    let opened = cli.run(&["session", "open", "s"]).done();
    drop(cli.run(&["memory", "add", "user", "two"]).done());
    let frozen = cli.run(&["session", "snapshot", "s"]).done();
    assert!(opened.starts_with("opened s, generation 0") && opened.ends_with(&frozen), "{opened}");
    assert!(frozen.ends_with("one\n"), "{frozen}");
    let renewed = cli.run(&["session", "refresh", "s"]).done();
    assert!(renewed.ends_with("one\n§\ntwo\n"), "{renewed}");
    assert_eq!(cli.run(&["session", "snapshot", "s"]).done(), renewed);
    let unknown = cli.run(&["session", "refresh", "nobody"]);
    assert!(unknown.code == 1 && unknown.err.contains("no session \"nobody\""), "{unknown:?}");
}

#[test]
fn changes_are_watched_until_the_daemon_ends() {
    let home = Home::new();
    let mut daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    drop(cli.run(&["profile", "create", "work"]).done());
    let mut all = cli.start(&["watch", "--json"]);
    let mut work = cli.start(&["watch", "--profile", "work"]);
    eventually("both to watch", || {
        let count = cli.run(&["status", "--json"]).json()["requests"]["by_method"]["subscribe"]["count"].as_u64();
        (count == Some(2)).then_some(())
    });
    drop(cli.run(&["memory", "add", "user", "one"]).done());
    drop(cli.run(&["--profile", "work", "memory", "add", "memory", "two"]).done());
    drop(cli.run(&["memory", "undo", "user"]).done());
    home.write_store(Target::User, b"by hand");
    for (profile, target, revision, cause) in [
        ("default", "user", 1, "write"),
        ("work", "memory", 1, "write"),
        ("default", "user", 2, "undo"),
        ("default", "user", 3, "external"),
    ] {
        let line: Value = serde_json::from_str(&all.line()).unwrap();
        let mut expected = json!({
            "topic": "memory.changed", "profile": profile, "target": target, "revision": revision, "cause": cause, "session": null,
        });
        if cause != "external" {
            expected["agent"] = "cli".into();
        }
        assert_eq!(line, expected);
    }
    let line = work.line();
    assert!(line.contains("work/memory") && line.contains("revision 1, written"), "{line}");
    daemon.terminate();
    assert!(daemon.ended().success());
    assert_eq!((all.ended(), work.ended()), (Some(3), Some(3)));
    assert_eq!((all.line_now(), work.line_now()), (None, None));
}
