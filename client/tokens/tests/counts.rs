//! The program on the command line. (That this file is here also makes `cargo test --workspace`
//! build the program, which a test of `herma trajectory` needs.)
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "tests put files there as other programs do")]

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn count(tokenizer: &Path, lines: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_herma-tokens"));
    command.arg(tokenizer).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that refuses its tokenizer reads nothing.
    drop(child.stdin.take().unwrap().write_all(lines.as_bytes()));
    child.wait_with_output().unwrap()
}

#[test]
fn each_line_is_answered_with_the_tokens_of_its_texts() {
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = folder.path().join("tokenizer.json");
    let words = r#"{"version":"1.0","truncation":null,"padding":null,"added_tokens":[],"normalizer":null,
        "pre_tokenizer":{"type":"Whitespace"},"post_processor":null,"decoder":null,
        "model":{"type":"WordLevel","vocab":{"[UNK]":0},"unk_token":"[UNK]"}}"#;
    std::fs::write(&tokenizer, words).unwrap();
    let output = count(&tokenizer, "[\"one two\",\"\",\"a\\nb c\"]\n[]\n");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(0), b"[2,0,3]\n[]\n".as_slice()));
}

#[test]
fn what_is_no_tokenizer_and_no_line_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let tokenizer = folder.path().join("tokenizer.json");
    let output = count(&tokenizer, "");
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && words.contains("no tokenizer: No such file"), "{words}");
}
