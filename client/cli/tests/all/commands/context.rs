//! `herma context classify`, `cache-control` and `check`.

use herma_client::protocol::Request;
use herma_client::protocol::context::cache_control::Ttl;

use super::fake::Fake;
use super::parts;

#[test]
fn an_error_says_what_helps() {
    let fake = Fake::with_history(&[]);
    let input = "kind               input too long\nwhat helps         compress, and call again\nwindow             32,768 tokens, less than was believed\nnext usual window  64,000 tokens, a guess\n";
    let answer = "kind                 answer too long\nwhat helps           call again with fewer tokens for the answer\nleft for the answer  1,200 tokens\n";
    let other = "kind        something else\nwhat helps  a compression does not help\n";
    for (text, expected) in [("too long", input), ("answer", answer), ("-x", other)] {
        let (code, out, error) = parts(&fake.herma(&["context", "classify", "--status", "400", "--", text]));
        assert_eq!((code, out.as_str()), (0, expected), "{error}");
    }
    let arguments = ["context", "classify", "too long", "--json", "--current", "128000", "--session", "s"];
    let (_, out, _) = parts(&fake.herma(&arguments));
    assert!(out.contains("\"kind\": \"input_too_long\""), "{out}");
    let Some(Request::ContextClassifyError(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.current, params.status, params.session.as_deref()), (Some(128_000), None, Some("s")));
    assert_eq!(fake.herma(&["context", "classify", "x", "--status", "7"]).status.code(), Some(2));
}

#[test]
fn marked_messages_are_printed_as_they_came() {
    let fake = Fake::with_history(&[]);
    let file = fake.folder.path().join("conversation.json");
    std::fs::write(&file, "[{ \"role\":\"user\" }, 1.0]").unwrap();
    let file = file.to_str().unwrap();
    let (code, out, error) = parts(&fake.herma(&["context", "cache-control", file, "--ttl", "1h", "--native"]));
    assert_eq!((code, out.as_str()), (0, "[{ \"role\":\"user\" },\n1.0]\n"), "{error}");
    let Some(Request::ContextCacheControl(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.ttl, params.native), (Some(Ttl::OneHour), Some(true)));
    let (_, out, _) = parts(&fake.herma(&["context", "cache-control", file, "--json"]));
    assert!(out.contains("\"messages\""), "{out}");
    assert_eq!(fake.herma(&["context", "cache-control", file, "--ttl", "2h"]).status.code(), Some(2));
}

#[test]
fn a_check_says_why() {
    let fake = Fake::with_history(&[]);
    for (tokens, first, lines) in [
        ("10", "compress now  no: below the threshold\n", 3),
        ("1500", "compress now  no: the summarizer failed a moment ago\n", 4),
        (
            "70000",
            "compress now  yes: over the threshold\ntokens        70,000 of 64,000\nwindow        76 % full\n",
            3,
        ),
    ] {
        let (code, out, error) = parts(&fake.herma(&["context", "check", "--session", "s", "--tokens", tokens]));
        assert!(code == 0 && out.starts_with(first) && out.lines().count() == lines, "{out} {error}");
    }
    let (_, out, _) = parts(&fake.herma(&["context", "check", "--session", "s", "--json"]));
    assert!(out.contains("\"reason\": \"over_threshold\""), "{out}");
    let Some(Request::ContextCheck(params)) = fake.state().last.take() else { panic!("nothing was asked") };
    assert_eq!((params.session.as_str(), params.tokens), ("s", None));
}

#[test]
fn what_is_opened_or_closed_changes_the_list_that_is_printed() {
    let fake = Fake::with_history(&[]);
    let file = fake.folder.path().join("list.json");
    std::fs::write(&file, r#"[{"n":1},{"n":2}]"#).unwrap();
    let file = file.to_str().unwrap();
    // The fake daemon opens the list itself before its second message, and closes the first one.
    let (code, out, error) = parts(&fake.herma(&["context", "open", "s", "nod_1_0", "--list", file, "--messages"]));
    assert_eq!((code, out.as_str()), (0, "[{\"n\":1},\n{\"n\":1},\n{\"n\":2},\n{\"n\":2}]\n"), "{error}");
    assert!(error.contains("opened    nod_1_0"), "{error}");
    let (code, out, error) = parts(&fake.herma(&["context", "fold", "s", "nod_1_0", "--list", file, "--messages"]));
    assert_eq!((code, out.as_str()), (0, "[{\"n\":2}]\n"), "{error}");
    let (code, out, _) = parts(&fake.herma(&["context", "fold", "s", "nod_1_0"]));
    assert!(code == 0 && out.starts_with("closed    nod_1_0\nmessages  0..1\n"), "{out}");
    let (_, out, _) = parts(&fake.herma(&["context", "open", "s", "nod_1_0", "--json"]));
    assert!(out.contains("\"at\": 1"), "{out}");
    assert_eq!(fake.herma(&["context", "open", "s", "nod_1_0", "--messages"]).status.code(), Some(2));
}

#[test]
fn a_sub_task_is_opened_and_closed_in_words() {
    let fake = Fake::with_history(&[]);
    let (code, out, error) = parts(&fake.herma(&["context", "episode", "s", "open", "find the leak"]));
    assert_eq!((code, out.as_str()), (0, "\"find the leak ☕\" is open\nalso open: the release\n"), "{error}");
    let (_, out, _) = parts(&fake.herma(&["context", "episode", "s", "close", "find the leak", "--outcome", "found"]));
    assert!(out.starts_with("\"find the leak ☕\" is closed; the next compression takes its messages out"), "{out}");
    assert!(out.contains("41 of 31,000 tokens"), "{out}");
    assert_eq!(fake.herma(&["context", "episode", "s", "end", "find the leak"]).status.code(), Some(2));
}
