//! The program `hermad`: its flags and how it ends.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "tests put files there as other programs do")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn hermad(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_hermad")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn it_prints_its_version() {
    let output = hermad(&["--version"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout).trim(), concat!("hermad ", env!("HERMA_VERSION")));
}

#[test]
fn it_prints_its_usage() {
    let output = hermad(&["--help"]);
    let help = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0));
    for words in ["--home", "--socket", "--check", "Examples:", "Exit codes:"] {
        assert!(help.contains(words), "{words} in {help}");
    }
}

#[test]
fn a_wrong_flag_ends_it_with_2() {
    let output = hermad(&["--homme", "/nowhere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("--home"), "{}", text(&output.stderr));
}

#[test]
fn a_bad_config_ends_it_with_1_and_names_file_line_and_nearest_key() {
    let home = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bad-config");
    let file = home.join("herma/config.toml");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "# a comment\n[memory]\nmemory_limits = 3000\n").unwrap();
    for check in [&[][..], &["--check"]] {
        let arguments: Vec<&str> =
            ["--home", home.to_str().unwrap()].into_iter().chain(check.iter().copied()).collect();
        let output = hermad(&arguments);
        let words = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{words}");
        for needed in [file.to_str().unwrap(), "line 3", "`memory_limit`"] {
            assert!(words.contains(needed), "{needed} in {words}");
        }
    }
    assert!(!home.join("herma/hermad.sock").exists());
}
