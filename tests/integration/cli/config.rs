//! `herma config`: the current values, their sources, and a new configuration file.

use herma_tests::{Cli, Home};

#[test]
fn a_file_is_begun_once_and_changes_nothing() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let before = cli.run(&["config", "show", "--json"]).json();
    assert_eq!(before["file"]["exists"], false);
    let written = cli.run(&["config", "init", "--json"]).json();
    let path = written["path"].as_str().unwrap();
    assert!(std::fs::read_to_string(path).unwrap().contains("#user_limit = 1375"));
    let after = cli.run(&["config", "show", "--json"]).json();
    assert_eq!((&after["settings"], &after["file"]["exists"]), (&before["settings"], &true.into()));
    std::fs::write(path, "[memory]\nuser_limit = 7\n").unwrap();
    let again = cli.run(&["config", "init"]);
    assert!(again.code == 1 && again.err.contains("left as it is"), "{again:?}");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "[memory]\nuser_limit = 7\n");
}

#[test]
fn every_value_is_shown_with_where_it_came_from() {
    let home = Home::configured("[memory]\nuser_limit = 7\n");
    let cli = Cli::new(&home).with("HERMA_LOG", "debug").with("HERMES_REDACT_SECRETS", "false");
    let shown = cli.run(&["config", "show"]).done();
    for line in ["user_limit = 7", "memory_limit = 2200", "redact = false", "level = \"debug\""] {
        assert!(shown.contains(line), "{line} in {shown}");
    }
    let source = |line: &str| {
        let row = shown.lines().find(|row| row.starts_with(line)).unwrap();
        row.rsplit("# ").next().unwrap().to_owned()
    };
    assert_eq!(source("user_limit"), "config.toml");
    assert_eq!(source("memory_limit"), "default");
    assert_eq!(source("redact"), "HERMES_REDACT_SECRETS");
    assert_eq!(source("level"), "HERMA_LOG");
    // The output is itself a valid configuration.
    let copy = home.path().join("copy.toml");
    std::fs::write(&copy, &shown).unwrap();
    assert_eq!(cli.run(&["config", "check", copy.to_str().unwrap()]).code, 0);
}

#[test]
fn a_check_names_the_mistake_and_the_place() {
    let home = Home::configured("[memory]\nuser_limt = 7\n");
    let cli = Cli::new(&home);
    let checked = cli.run(&["config", "check"]);
    assert!(checked.code == 1 && checked.err.contains("line 2") && checked.err.contains("user_limit"), "{checked:?}");
    let missing = cli.run(&["config", "check", "/nowhere/config.toml"]);
    assert!(missing.code == 1 && missing.err.contains("no such file"), "{missing:?}");
}
