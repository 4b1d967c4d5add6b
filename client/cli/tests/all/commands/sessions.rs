//! `herma session …`.

use std::io::Write;
use std::process::Stdio;

use herma_client::protocol::Request;
use serde_json::{Value, json};

use super::fake::Fake;
use super::parts;

#[test]
fn sessions_are_listed_page_by_page_and_shown() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["session", "list"]));
    assert!(code == 0 && out.lines().count() == 3 && out.contains("Herma") && error.is_empty(), "{out} {error}");
    let (_, _, error) = parts(&fake.herma(&["session", "list", "--limit", "2", "--raw"]));
    assert_eq!(error, "herma: there may be more: add --page 2\n");
    fake.herma(&["session", "list", "--before", "1790000000.25"]);
    let Some(Request::SessionList(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.before, params.limit, params.raw), (Some(1_790_000_000.25), Some(50), Some(false)));
    let (code, out, _) = parts(&fake.herma(&["session", "show", "s"]));
    assert!(code == 0 && out.contains("title        Herma\n"), "{out}");
}

#[test]
fn a_list_of_before_is_shown_and_brought_back() {
    let fake = Fake::with_history(&[]);
    let lines = "{ \"role\": \"user\", \"content\": \"one\" }\n{ \"role\": \"user\", \"content\": \"two\" }\n";
    let (code, out, error) = parts(&fake.herma(&["session", "show", "s", "--generation", "2"]));
    assert_eq!((code, out.as_str()), (0, lines), "{error}");
    assert!(error.contains("would be undone") && error.contains("the list of generation 2"), "{error}");
    let (code, out, error) = parts(&fake.herma(&["compress", "--undo", "--session", "s"]));
    assert!(code == 0 && out.contains("undone    cmp_1_3\n") && error.is_empty(), "{out} {error}");
    let Some(Request::ContextUndo(asked)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((asked.generation, asked.messages, asked.dry_run), (None, None, None));
    let (_, out, _) = parts(&fake.herma(&["compress", "--undo", "--session", "s", "--plan", "--messages"]));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()[1]["content"], "two");
    let Some(Request::ContextUndo(asked)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!(asked.dry_run, Some(true));
    let (_, out, _) = parts(&fake.herma(&["compress", "--undo", "--session", "s", "--json"]));
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["undone"], json!(["cmp_1_3"]));
    for wrong in [
        &["compress"][..],
        &["compress", "--undo"],
        &["compress", "--undo", "--session", "s", "--force"],
        &["compress", "--generation", "1", "--session", "s", "x.json"],
    ] {
        assert_eq!(fake.herma(wrong).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn chains_are_followed() {
    let fake = Fake::with_history(&[]);
    for (arguments, expected) in [
        (&["session", "tip", "s"][..], "s-tip\n"),
        (&["session", "resume-target", "s"], "s\n"),
        (&["session", "next-title", "Herma"], "Herma #2\n"),
    ] {
        let (code, out, error) = parts(&fake.herma(arguments));
        assert_eq!((code, out.as_str()), (0, expected), "{arguments:?} {error}");
    }
}

#[test]
fn what_is_known_of_a_session_is_sent() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["session", "update", "s", "--title", "Trip", "--branch", "main"]));
    assert_eq!((code, out.as_str()), (0, "updated s\n"), "{error}");
    let Some(Request::SessionUpdate(asked)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((asked.title.as_deref(), asked.branch.as_deref(), asked.model), (Some("Trip"), Some("main"), None));
}

#[test]
fn messages_are_appended_from_a_list_or_from_lines() {
    let fake = Fake::with_history(&[]);
    let file = fake.folder.path().join("messages");
    for text in ["[{\"role\":\"user\"}, {\"role\": \"tool\"}]", "{\"role\":\"user\"}\n\n{\"role\": \"tool\"}\n"] {
        std::fs::write(&file, text).unwrap();
        let arguments = ["session", "append", "s", file.to_str().unwrap(), "--position", "40"];
        let (code, out, error) = parts(&fake.herma(&arguments));
        assert_eq!((code, out.as_str()), (0, "s is kept up to message 42\n"), "{error}");
        let Some(Request::SessionAppend(params)) = fake.state().last.take() else { panic!("nothing was asked") };
        let texts: Vec<&str> = params.messages.iter().map(|message| message.get()).collect();
        assert_eq!(texts, ["{\"role\":\"user\"}", "{\"role\": \"tool\"}"]);
    }
    let mut herma = fake.command(&["session", "append", "s", "-", "--generation", "1", "--json"]);
    let mut child = herma.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"[]").unwrap();
    let (code, _, error) = parts(&child.wait_with_output().unwrap());
    let value: Value = serde_json::from_str(&error).unwrap();
    assert_eq!((code, &value["error"]["data"]), (1, &json!({ "generation": 0, "position": 2 })));
}

#[test]
fn locks_end_with_an_answer() {
    let fake = Fake::with_history(&[]);
    for (arguments, expected) in [
        (&["lock", "s", "me"][..], (0, "me has the lock of s\n")),
        (&["lock", "s", "you", "--ttl", "7"], (1, "another holder has the lock of s\n")),
        (&["unlock", "s", "me"], (0, "me released s\n")),
        (&["unlock", "s", "you"], (1, "you does not have the lock of s\n")),
        (&["lock-holder", "s"], (0, "agent-7\n")),
        (&["lock-holder", "t"], (1, "nobody\n")),
        (&["lock", "s", "me", "--ttl", "0"], (2, "")),
    ] {
        let (code, out, error) = parts(&fake.herma(&[&["session"], arguments].concat()));
        assert_eq!((code, out.as_str()), expected, "{arguments:?} {error}");
    }
    let (code, out, error) = parts(&fake.herma(&["session", "lock", "s", "you", "--json"]));
    assert_eq!((code, out.as_str(), error.as_str()), (1, "{\n  \"ok\": false\n}\n", ""));
}

#[test]
fn nothing_is_removed_without_a_yes() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["session", "rm", "s"]));
    assert!(code == 2 && out.is_empty() && error.contains("--yes"), "{error}");
    assert!(fake.state().last.is_none(), "it was asked for");
    let (code, out, error) = parts(&fake.herma(&["session", "rm", "none", "s", "--yes"]));
    assert_eq!((code, out.as_str()), (1, "removed s: 1,200 messages, 1 output, 1.5 KiB\n"));
    assert_eq!(error, "herma: none: there is no such thing\n");
}
