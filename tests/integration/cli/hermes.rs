//! `herma hermes`: the plugin in an agent's home.

use herma_tests::{Cli, Home};
use serde_json::json;

#[test]
fn the_plugin_brings_the_package_and_goes_again() {
    let home = Home::new();
    let cli = Cli::new(&home);
    let installed = cli.run(&["hermes", "install", "--write-config"]).done();
    assert!(installed.contains("written  context.engine: herma"), "{installed}");
    let folder = home.path().join("plugins/herma");
    let ran = std::process::Command::new("python3")
        .args(["-c", "import herma.hermes; print(herma.__file__)"])
        .env("PYTHONPATH", folder.join("lib"))
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(String::from_utf8_lossy(&ran.stdout).starts_with(folder.to_str().unwrap()));
    // No agent that could use the plugin is installed here.
    let check = cli.run(&["hermes", "check", "--python", "python3", "--json"]);
    assert_eq!((check.code, &check.json()["files"]["current"]), (1, &json!(true)));
    let removed = cli.run(&["hermes", "uninstall", "--write-config"]).done();
    assert!(!folder.exists(), "{removed}");
}
