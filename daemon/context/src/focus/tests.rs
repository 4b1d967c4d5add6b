use super::*;
use crate::testing::{list, say, settings};

#[test]
fn the_newest_three_user_messages_oldest_first() {
    let messages = [
        say("user", "one"),
        say("user", "two"),
        say("assistant", "no"),
        say("user", " three\n\nlines "),
        say("user", "   "),
        say("user", &handoff::with_frame("old")),
        say("user", "four"),
    ];
    let focus = auto(&messages, Redaction::On).unwrap();
    assert_eq!(focus, "Recent user focus:\n- two\n- three lines\n- four");
}

#[test]
fn items_and_the_whole_are_bounded() {
    let long = vec![say("user", &"x".repeat(261)); 3];
    let focus = auto(&long, Redaction::On).unwrap();
    assert_eq!(focus.chars().count(), 700);
    assert!(focus.ends_with('…'));
    let first = focus.lines().nth(1).unwrap();
    assert_eq!(first.chars().count(), 2 + 260);
    assert!(first.ends_with('…'));
}

#[test]
fn an_explicit_topic_wins_and_off_is_off() {
    let messages = list("suaua");
    let settings = settings(1_000, 3, 20);
    let topic = Focus::Topic(" the parser ".to_owned());
    assert_eq!(resolve(&topic, &messages, &settings).as_deref(), Some("the parser"));
    let secret = resolve(&Focus::Topic("key ghp_0123456789abcdefghij".to_owned()), &messages, &settings);
    assert_eq!(secret.as_deref(), Some("key ghp_01...ghij"));
    assert_eq!(resolve(&Focus::Off, &messages, &settings), None);
    assert!(resolve(&Focus::Auto, &messages, &settings).is_some());
    assert_eq!(resolve(&Focus::Auto, &list("sac"), &settings), None);
}
