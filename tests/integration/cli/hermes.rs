//! `herma hermes`: the plugin in the home of an agent.

use std::path::Path;

use herma_tests::{Cli, Home};
use serde_json::json;

#[test]
fn the_plugin_is_installed_named_and_loaded_and_goes_again() {
    let home = Home::new();
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../client/python/src");
    let cli = Cli::new(&home).with("PYTHONPATH", package.to_str().unwrap());
    let check = || cli.run(&["hermes", "check", "--json"]);
    assert_eq!((check().code, &check().json()["installed"]), (1, &json!(false)));
    let installed = cli.run(&["hermes", "install"]).done();
    assert!(installed.contains("context:\n  engine: herma"), "{installed}");
    let folder = home.path().join("plugins/context_engine/herma");
    let loads = "import sys, herma.hermes; sys.path.insert(0, sys.argv[1]); import herma_plugin; herma_plugin.register";
    let copy = home.path().join("herma_plugin.py");
    std::fs::copy(folder.join("__init__.py"), copy).unwrap();
    let ran = std::process::Command::new("python3")
        .args(["-c", loads, home.path().to_str().unwrap()])
        .env("PYTHONPATH", &package)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    assert_eq!((check().code, &check().json()["engine"]), (1, &json!(null)));

    std::fs::write(home.path().join("config.yaml"), "context:\n  engine: compressor\n").unwrap();
    assert_eq!(check().json()["engine"], "compressor");
    std::fs::write(home.path().join("config.yaml"), "context:\n  engine: herma\n").unwrap();
    assert_eq!((check().code, &check().json()["in_use"]), (0, &json!(true)));
    let without = Cli::new(&home).run(&["hermes", "check", "--python", "/no/python", "--json"]);
    assert_eq!((without.code, &without.json()["package"]), (1, &json!(null)));

    std::fs::write(folder.join("plugin.yaml"), "older").unwrap();
    assert_eq!(check().json()["current"], false);
    drop(cli.run(&["hermes", "install"]).done());
    assert_eq!(check().json()["current"], true);
    let removed = cli.run(&["hermes", "uninstall"]).done();
    assert!(removed.contains("still names it") && !folder.exists(), "{removed}");
}
