//! `herma memory export` and `herma memory import`.

use std::io::Write;
use std::process::{Output, Stdio};

use super::fake::Fake;
use super::parts;

fn import(fake: &Fake, text: &str, arguments: &[&str]) -> Output {
    let mut command = fake.command(&[&["memory", "import", "-"], arguments].concat());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

#[test]
fn what_was_exported_can_be_imported() {
    let from = Fake::with_history(&[&["one", "two\nlines"]]);
    let (_, json, _) = parts(&from.herma(&["memory", "export"]));
    let (_, plain, _) = parts(&from.herma(&["memory", "export", "user", "--format", "md"]));
    assert_eq!(plain, "one\n§\ntwo\nlines\n");
    for (text, arguments) in [(&json, &[][..]), (&json, &["user"]), (&plain, &["user"])] {
        let to = Fake::with_history(&[&["two\nlines", "three"]]);
        let (code, out, error) = parts(&import(&to, text, arguments));
        assert!(out.contains("user: 1 added, 1 was there already, 0 removed"), "{out}{error}");
        assert_eq!((code, to.entries()), (0, vec!["two\nlines".into(), "three".into(), "one".into()]));
    }
    assert_eq!(from.herma(&["memory", "export", "--format", "md"]).status.code(), Some(2));
}

#[test]
fn an_import_compares_with_what_the_guard_blocks_too() {
    let fake = Fake::with_history(&[&["one", "poison"]]);
    let (code, out, _) = parts(&import(&fake, "poison\n§\ntwo", &["user"]));
    assert!(code == 0 && out.starts_with("user: 1 added, 1 was there already, 0 removed\n"), "{out}");
    assert_eq!(fake.entries(), ["one", "poison", "two"]);
}

#[test]
fn an_import_can_replace_and_be_tried_first() {
    let fake = Fake::with_history(&[&["one", "two"]]);
    let (code, out, _) = parts(&import(&fake, "two\n§\nthree", &["user", "--replace", "--dry-run"]));
    assert_eq!(code, 0);
    assert_eq!(out, "user: 1 would be added, 1 was there already, 1 would be removed\n- one\n+ three\n");
    assert_eq!(fake.entries(), ["one", "two"]);
    let (code, ..) = parts(&import(&fake, "two\n§\nthree", &["user", "--replace"]));
    assert_eq!((code, fake.entries()), (0, vec!["two".into(), "three".into()]));
    let (code, ..) = parts(&import(&fake, "[]", &["user", "--replace"]));
    assert_eq!((code, fake.entries()), (0, vec![]));
}

#[test]
fn an_import_that_was_refused_or_overtaken_changes_nothing() {
    let fake = Fake::with_history(&[&["one"]]);
    fake.state().refusal = Some("too full".into());
    let (code, out, _) = parts(&import(&fake, "two", &["user"]));
    assert_eq!((code, out.as_str()), (4, "user: refused: too full\n"));
    let (code, out, _) = parts(&import(&fake, "[\"two\"]", &["user", "--json"]));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json[0]["target"], &json[0]["result"]["success"]), (4, &"user".into(), &false.into()));
    fake.state().refusal = None;
    fake.state().overtaken = true;
    let (code, out, error) = parts(&import(&fake, "two", &["user", "--replace"]));
    assert!(
        code == 1 && out.is_empty() && error.contains("user was changed meanwhile and left alone, import again"),
        "{error}"
    );
    assert_eq!(fake.entries(), ["one", "of another"]);
}

#[test]
fn a_file_that_can_t_be_used_is_an_error_before_any_request() {
    let fake = Fake::with_history(&[]);
    for (text, arguments, words) in [
        ("", &["user"][..], "-: it holds nothing"),
        ("two", &[], "-: name the store"),
        ("{\"mem\": 1}", &[], "-: it has neither \"memory\" nor \"user\""),
    ] {
        let (code, _, error) = parts(&import(&fake, text, arguments));
        assert!(code == 1 && error.contains(words), "{text:?} {error}");
    }
    let (code, _, error) = parts(&fake.herma(&["memory", "import", "/nowhere.json"]));
    assert!(code == 1 && error.contains("/nowhere.json: "), "{error}");
}
