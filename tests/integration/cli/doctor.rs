//! `herma doctor` on healthy and on broken homes.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use herma_protocol::memory::Target;
use herma_tests::{Cli, Daemon, Home};
use serde_json::Value;

/// Returns the finding of a check whose words contain `part`.
fn finding<'a>(report: &'a Value, check: &str, part: &str) -> &'a Value {
    let all = report["findings"].as_array().unwrap();
    let is_it = |row: &&Value| row["check"] == check && row["words"].as_str().unwrap().contains(part);
    all.iter().find(is_it).unwrap_or_else(|| panic!("{check} {part} in {report}"))
}

#[test]
fn a_home_in_order_has_nothing_to_complain_of() {
    let home = Home::new();
    let _daemon = Daemon::start(&home);
    let cli = Cli::new(&home);
    let report = cli.run(&["doctor", "--json"]).json();
    assert_eq!(report["state"], "ok", "{report}");
    for check in ["home", "folder", "socket", "daemon", "store", "archive", "outputs", "locks", "summarizer", "space"] {
        assert_eq!(finding(&report, check, "")["state"], "ok", "{report}");
    }
    assert!(cli.run(&["doctor"]).done().ends_with("everything is in order\n"));
}

#[test]
fn what_is_wrong_is_told_with_what_to_do() {
    let home = Home::configured(
        "[summarizer]\nchain = [\"command\", \"extractive\"]\n[summarizer.command]\nargv = [\"/no/such\"]\n",
    );
    let _daemon = Daemon::start(&home);
    home.write_store(Target::Memory, b"\xff\xfe not text");
    std::fs::set_permissions(home.path().join("herma"), Permissions::from_mode(0o755)).unwrap();
    let held = home.hold(Target::User);
    let cli = Cli::new(&home);
    let ran = cli.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    for (check, part, state) in [
        ("folder", "others can use it", "warning"),
        ("store", "can't be read", "error"),
        ("summarizer", "there is no", "warning"),
        ("locks", "USER.md.lock is held by process", "warning"),
    ] {
        let row = finding(&report, check, part);
        assert!(row["state"] == state && row["remedy"].is_string(), "{row}");
    }
    drop(held);
}

#[test]
fn without_a_daemon_the_rest_is_looked_at() {
    let home = Home::configured("[memory]\nuser_limit = 0\n");
    let cli = Cli::new(&home);
    let ran = cli.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &finding(&report, "configuration", "user_limit")["state"]), (1, &"error".into()), "{report}");
    assert_eq!(finding(&report, "daemon", "none runs")["state"], "warning");
}

#[test]
fn a_password_that_others_can_read_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("password");
    std::fs::write(&path, "x").unwrap();
    let home = Home::configured(&format!(
        "[shared]\nurl = \"postgres://a@127.0.0.1:1/x\"\nhost = \"a\"\npassword_file = \"{}\"\n",
        path.display()
    ));
    let cli = Cli::new(&home);
    for (mode, state) in [(0o600, "ok"), (0o644, "warning")] {
        std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        let report: Value = serde_json::from_str(&cli.run(&["doctor", "--json"]).out).unwrap();
        assert_eq!(finding(&report, "password", "")["state"], state, "{mode:o}");
    }
    std::fs::remove_file(&path).unwrap();
    let report: Value = serde_json::from_str(&cli.run(&["doctor", "--json"]).out).unwrap();
    assert_eq!(finding(&report, "password", "")["state"], "error");
}

#[test]
fn what_stands_in_the_place_of_a_file_is_told() {
    let home = Home::new();
    let cli = Cli::new(&home);
    std::fs::create_dir(home.path().join("herma")).unwrap();
    std::fs::set_permissions(home.path().join("herma"), Permissions::from_mode(0o700)).unwrap();
    let at = |name: &str| home.path().join("herma").join(name);
    std::os::unix::fs::symlink("/etc/passwd", at("outputs.jsonl")).unwrap();
    std::fs::create_dir(at("archive.db")).unwrap();
    let _daemon = Daemon::start(&home);
    let report = cli.run(&["doctor", "--json"]).json();
    assert_eq!(report["state"], "error", "{report}");
    for (file, what) in [("outputs.jsonl", "outputs.jsonl is a link"), ("archive.db", "archive.db is no regular file")]
    {
        let told = finding(&report, "file", what);
        assert!(told["remedy"].as_str().unwrap().contains(file), "{told}");
    }
}
