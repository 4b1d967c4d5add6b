use proptest::prelude::*;

use super::*;
use crate::Message;
use crate::testing::{call, list, result, say};

fn message(raw: &str) -> Message {
    Message::parse(raw).unwrap()
}

fn raws(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(Message::raw).collect()
}

#[test]
fn arguments_are_a_number_of_exchanges_or_a_topic() {
    for (text, expect) in [
        ("here", 2),
        ("here 3", 3),
        ("  HERE   3 ", 3),
        ("here 3 please", 3),
        ("here nonsense", 2),
        ("here 2.5", 2),
        ("here 0", 1),
        ("here -4", 1),
        ("here 101", 100),
        ("here 99999999999999999999999", 100),
        ("up to here", 2),
        ("Up to here 7", 7),
        ("--keep 4", 4),
        ("--keep", 2),
        ("--keep=5", 5),
        ("--keep=", 2),
        ("--keep x", 2),
        ("-k 6", 6),
        ("-k", 2),
    ] {
        assert_eq!(parse(text), Arguments { partial: true, keep: expect, focus: None }, "{text}");
    }
    for text in ["the socket", "here are the facts", "up to", "up to there", "--keeper 3", "hereafter", "Über  alles"]
    {
        let focus = Some(text.to_owned());
        assert_eq!(parse(&format!(" {text}\n")), Arguments { partial: false, keep: 2, focus }, "{text}");
    }
    for text in ["", " \n\t"] {
        assert_eq!(parse(text), Arguments { partial: false, keep: 2, focus: None }, "{text:?}");
    }
}

#[test]
fn the_tail_begins_with_a_user_message() {
    for (letters, keep, head) in [
        ("", 2, 0),
        ("uaua", 1, 2),
        ("uaua", 2, 4),
        ("uauaua", 2, 2),
        ("suaua", 2, 1),
        ("suaua", 9, 1),
        ("suaua", u64::MAX, 1),
        ("suaua", 0, 3),
        ("saca", 1, 4),
        ("uuu", 1, 2),
        ("suactaua", 1, 6),
    ] {
        let history = list(letters);
        let (front, back) = split(&history, keep);
        assert_eq!(front.len(), head, "{letters} {keep}");
        assert_eq!([front, back].concat(), history, "{letters} {keep}");
    }
}

#[test]
fn two_texts_of_one_role_become_one() {
    let head = [message(r#"{ "role":"user","content":"a\u00e9","x":1.0 }"#)];
    let tail = [message(r#"{"role":"user","content":"\/b","y":[]}"#), say("assistant", "c")];
    let out = rejoin(&head, &tail);
    assert_eq!(out[0].raw(), r#"{ "role":"user","content":"a\u00e9\n\n\/b","x":1.0 , "y": []}"#);
    assert_eq!((out.len(), out[1].raw()), (2, tail[1].raw()));
    let calls = message(r#"{"role":"assistant","content":"b","tool_calls":[{"id":"1","function":{"name":"f"}}]}"#);
    let out = rejoin(&[say("assistant", "a")], &[calls, result("1", "x")]);
    assert_eq!((out.len(), out[0].tool_calls().len(), &*out[0].text()), (2, 1, "a\n\nb"));
}

#[test]
fn what_can_not_become_one_gets_a_bridge() {
    let text = |role: &str| say(role, "a");
    let parts = |role: &str| message(&format!(r#"{{"role":"{role}","content":[{{"type":"text","text":"a"}}]}}"#));
    let named = |name: &str| message(&format!(r#"{{"role":"user","content":"a","name":"{name}"}}"#));
    let cases = [
        (text("user"), parts("user"), "assistant"),
        (parts("assistant"), text("assistant"), "user"),
        (call(&["a"]), text("assistant"), "user"),
        (named("one"), named("other"), "assistant"),
    ];
    for (last, first, role) in cases {
        let out = rejoin(std::slice::from_ref(&last), std::slice::from_ref(&first));
        let bridge = format!(r#"{{"role": "{role}", "content": ""}}"#);
        assert_eq!(raws(&out), [last.raw(), &bridge, first.raw()]);
    }
    for (last, first) in [("user", "assistant"), ("tool", "tool"), ("system", "system"), ("tool", "user")] {
        let (last, first) = ([text(last)], [text(first)]);
        assert_eq!(rejoin(&last, &first), [&last[..], &first[..]].concat());
    }
    let one = [text("user")];
    assert_eq!((rejoin(&one, &[]), rejoin(&[], &one), rejoin(&[], &[])), (one.to_vec(), one.to_vec(), vec![]));
}

#[test]
fn a_person_is_told_what_happened() {
    let (long, short) = (list("suauauaua"), list("sua"));
    let same = [message(r#"{"role":"user","content":"a"}"#)];
    let equal = [message(r#"{ "content":"\u0061", "role":"user" }"#)];
    for (before, after, tokens, headline, line, has_note) in [
        (&long[..], &short[..], (70_000, 1_234), "Compressed: 9 → 3 messages", "~70,000 → ~1,234 tokens", false),
        (&long, &short, (999, 1_000_000), "Compressed: 9 → 3 messages", "~999 → ~1,000,000 tokens", true),
        (&short, &long, (10, 20), "Compressed: 3 → 9 messages", "~10 → ~20 tokens", false),
        (&same, &equal, (1_000, 1_000), "No changes from compression: 1 messages", "~1,000 tokens (unchanged)", false),
        (&same, &equal, (10, 11), "No changes from compression: 1 messages", "~10 → ~11 tokens", false),
        (&[], &[], (0, 0), "No changes from compression: 0 messages", "~0 tokens (unchanged)", false),
    ] {
        let told = feedback(before, after, tokens.0, tokens.1);
        assert_eq!(told.headline, headline);
        assert_eq!(told.token_line, format!("Approx request size: {line}"));
        assert_eq!((told.noop, told.note.is_some()), (headline.starts_with("No changes"), has_note), "{headline}");
    }
}

proptest! {
    #[test]
    fn any_text_is_understood(text in ".{0,60}") {
        let arguments = parse(&text);
        prop_assert!(KEEP.contains(&arguments.keep));
        prop_assert!(!arguments.partial || arguments.focus.is_none());
    }

    #[test]
    fn what_was_split_can_be_joined(letters in "s?[ua]{0,12}", keep in 0_u64..9) {
        let history = list(&letters);
        let (head, tail) = split(&history, keep);
        let joined = rejoin(head, tail);
        let text = |messages: &[Message]| messages.iter().map(|message| message.text().into_owned()).collect::<String>();
        prop_assert_eq!(text(&joined).replace("\n\n", ""), text(&history));
        prop_assert!(tail.is_empty() || !head.is_empty());
    }
}
