//! `herma output list|search|rm|gc`: their output and exit codes.

use std::process::Command;

use herma_tests::{Cli, Daemon, Home};
use serde_json::json;

/// Spills a text and returns its handle.
fn spill(cli: &Cli<'_>, session: &str, id: &str, text: &str) -> String {
    let ran = cli.run_with(&["output", "admit", session, "--id", id, "--threshold", "0", "-", "--json"], text);
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.json()["handle"].as_str().unwrap().to_owned()
}

#[test]
fn outputs_are_listed_searched_and_removed() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    assert!(!cli.run(&["output", "list"]).done().contains("out_"));
    let one = spill(&cli, "s", "c1", "alpha\nbeta [x]\ngamma\n");
    let two = spill(&cli, "t", "c2", "beta too\n");
    let out = cli.run(&["output", "list"]).done();
    assert!(out.contains("c1") && out.contains("c2"), "{out}");
    let out = cli.run(&["output", "list", "--session", "t"]).done();
    assert!(!out.contains("c1") && out.contains("c2"), "{out}");

    for (arguments, expected) in [
        (["beta", "--session", "s"].as_slice(), format!("{one}:2:beta [x]\n")),
        (&["[x]"], format!("{one}:2:beta [x]\n")),
        (&["beta"], format!("{two}:1:beta too\n{one}:2:beta [x]\n")),
        (&["--regex", "^g.*a$"], format!("{one}:3:gamma\n")),
        (&["beta", "-C", "1", "--output", &one], format!("{one}-1-alpha\n{one}:2:beta [x]\n{one}-3-gamma\n")),
    ] {
        let ran = cli.run(&[&["output", "search"], arguments].concat());
        assert_eq!((ran.code, ran.out.as_str()), (0, expected.as_str()), "{arguments:?}: {ran:?}");
    }
    for (arguments, code) in [
        (["output", "search", "zebra"].as_slice(), 1),
        (&["output", "search", "(", "--regex"], 1),
        (&["output", "search"], 2),
        (&["output", "search", "x", "--output", "out_00000000000000000000"], 1),
        (&["output", "rm"], 2),
        (&["output", "read", "out_00000000000000000000"], 1),
        (&["output", "list", "--limit", "0"], 2),
    ] {
        let ran = cli.run(arguments);
        assert_eq!((ran.code, ran.out.as_str()), (code, ""), "{arguments:?}: {ran:?}");
    }
    // `read` accepts the places that `search` prints.
    let found = cli.run(&["output", "search", "gamma"]).done();
    let place = found.rsplit_once(':').unwrap().0;
    let read = cli.run(&["output", "read", place]);
    assert_eq!((read.code, read.out.as_str()), (0, "gamma\n"), "what is not the output's goes to standard error");

    let ran = cli.run(&["output", "rm", "out_00000000000000000000", &one]);
    assert!(ran.code == 1 && ran.err.starts_with("herma: "), "{ran:?}");
    assert!(!cli.run(&["output", "list"]).done().contains("c1"), "the other one is removed all the same");
    assert!(cli.run(&["output", "list", "--expired"]).done().contains("c1"));
    let ran = cli.run(&["output", "read", &one]);
    assert!(ran.code == 1 && ran.err.contains("removed"), "{ran:?}");
    drop(cli.run(&["output", "rm", &two]).done());
    assert!(home.outputs().is_empty());
}

#[test]
fn what_is_too_old_goes_when_it_is_asked_for() {
    let home = Home::configured("[output]\nttl = \"0s\"\n");
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    let handle = spill(&cli, "s", "c1", "alpha\n");
    let nothing = cli.run(&["output", "gc", "--dry-run", "--json"]);
    assert_eq!(nothing.json()["expired"], json!([]), "{nothing:?}");
    drop(cli.run(&["session", "close", "s"]).done());
    for dry in [cli.run(&["output", "gc", "--dry-run", "--json"]), cli.run(&["output", "gc", "--dry-run", "--json"])] {
        assert_eq!(dry.json()["expired"][0]["handle"], json!(handle), "{dry:?}");
    }
    assert_eq!(home.outputs().len(), 1);
    assert!(!cli.run(&["output", "gc", "--dry-run"]).done().is_empty());
    let gone = cli.run(&["output", "gc", "--json"]).json();
    assert_eq!((&gone["expired"][0]["reason"], &gone["freed"], &gone["files"]), (&json!("ttl"), &json!(6), &json!(0)));
    assert!(home.outputs().is_empty());
    assert_eq!(cli.run(&["output", "gc"]).code, 0);
}

#[test]
fn a_pipe_that_ends_early_is_no_error() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    spill(&cli, "s", "c1", &"needle in the hay\n".repeat(1000));
    let program = herma_tests::daemon::program().with_file_name("herma");
    for words in ["output search needle --limit 1000", "output read out --lines 1000", "session list --json"] {
        let words = words.replace(" out ", &format!(" {} ", home.path().join("herma/outputs/s/c1.txt").display()));
        let script = format!("\"$0\" --home \"$1\" --no-spawn {words} | head -n 1; echo ${{PIPESTATUS[0]}}");
        let ran = Command::new("bash").args(["-c", &script]).arg(&program).arg(home.path()).output().unwrap();
        let (out, err) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
        assert!(!err.contains("herma: ") && !err.contains("panicked"), "{words}: {err}");
        assert!(["0", "141"].contains(&out.lines().last().unwrap()), "{words}: {out}");
        assert_eq!(out.lines().count(), 2, "{words}: {out}");
    }
}
