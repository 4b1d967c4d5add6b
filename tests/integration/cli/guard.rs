//! Texts that the guard refuses, and how a person allows them.

use herma_tests::{Cli, Daemon, Home};
use serde_json::json;

#[test]
fn what_a_refusal_names_can_be_allowed_and_kept_out_again() {
    let home = Home::configured("# mine\n[log]\nlevel = \"info\"\n");
    let note = ["memory", "add", "user", "The key of the build host is ~/.ssh/id_build."];
    let cli = Cli::new(&home);
    let daemon = Daemon::start(&home);
    let refused = cli.run(&note);
    let said = format!("{}{}", refused.out, refused.err);
    assert!(refused.code == 4 && said.contains("~/.ssh"), "{refused:?}");
    assert!(said.contains("herma guard allow ssh_access"), "{refused:?}");
    let typo = cli.run(&["guard", "allow", "shh_access"]);
    assert!(typo.code == 1 && typo.err.contains("did you mean ssh_access"), "{typo:?}");
    let allowed = cli.run(&["guard", "allow", "ssh_access", "--json"]).json();
    assert_eq!((&allowed["id"], &allowed["severity"]), (&json!("ssh_access"), &json!("warn")));
    let typo = cli.run(&["guard", "block", "shh_access"]);
    assert!(typo.code == 1 && typo.err.contains("did you mean ssh_access"), "{typo:?}");
    daemon.kill();
    let daemon = Daemon::start(&home);
    assert_eq!(cli.run(&note).code, 0);
    assert!(cli.run(&["guard", "block", "ssh_access"]).done().contains("is kept out"));
    daemon.kill();
    let _daemon = Daemon::start(&home);
    assert_eq!(cli.run(&["memory", "add", "memory", "Another key is ~/.ssh/id_web."]).code, 4);
    let config = std::fs::read_to_string(home.path().join("herma/config.toml")).unwrap();
    assert!(config.starts_with("# mine\n[log]\nlevel = \"info\"\n"), "{config}");
}
