use super::*;
use crate::fingerprint::Fingerprint;
use crate::testing::{list, say};

fn with_handoff(at: usize, text: &str) -> Vec<Message> {
    let mut messages = list("suauauauaua");
    messages.insert(at, say("user", text));
    messages
}

#[test]
fn the_newest_handoff_before_the_tail_says_what_is_covered() {
    let messages = with_handoff(4, &handoff::with_frame("## Goal\nold"));
    let turns = choose(&messages, 4, 8, Earlier::default());
    assert_eq!(turns.previous.as_deref(), Some("## Goal\nold"));
    assert_eq!(turns.indexes, [5, 6, 7]);
    let held = choose(&messages, 4, 8, Earlier { held: Some("held"), ..Earlier::default() });
    assert_eq!(held.previous.as_deref(), Some("held"));
}

#[test]
fn a_handoff_in_the_head_counts_too() {
    let messages = with_handoff(2, &handoff::with_frame("old"));
    let turns = choose(&messages, 4, 8, Earlier::default());
    assert_eq!(turns.previous.as_deref(), Some("old"));
    assert_eq!(turns.indexes, [4, 5, 6, 7]);
}

#[test]
fn a_held_summary_without_a_handoff_is_of_another_session() {
    let turns = choose(&list("suauauaua"), 2, 6, Earlier { held: Some("held"), ..Earlier::default() });
    assert_eq!(turns.previous, None);
    let in_tail = with_handoff(9, &handoff::with_frame("old"));
    assert_eq!(choose(&in_tail, 2, 8, Earlier { held: Some("held"), ..Earlier::default() }).previous, None);
}

#[test]
fn the_users_own_words_of_a_merged_handoff_are_a_turn() {
    let text = format!("{}\n\nplease go on", handoff::with_frame("old"));
    let messages = with_handoff(4, &text);
    let turns = choose(&messages, 4, 7, Earlier::default());
    assert_eq!(turns.previous.as_deref(), Some("old"));
    assert_eq!(turns.indexes, [4, 5, 6]);
    assert_eq!(turns.turns[0].text(), "please go on");
    assert_eq!(turns.turns[0].role(), &Role::User);
    assert_eq!(choose(&messages, 5, 7, Earlier::default()).indexes, [5, 6], "in the head it stays where it is");
}

#[test]
fn scattered_handoffs_cover_what_stood_at_their_own_places() {
    let mut messages = list("suauauauaua");
    let heading = handoff::SectionKind::UserMessages.heading();
    let handoff =
        |body: &str, section: &str| say("user", &handoff::with_frame(&format!("{body}\n\n{heading}\n{section}")));
    messages.insert(6, handoff("late", "two"));
    messages.insert(3, handoff("early", "one"));
    let scattered = Earlier { held: Some("late"), is_scattered: true };
    let turns = choose(&messages, 2, 10, scattered);
    assert_eq!(turns.previous.as_deref(), Some("early\n\nlate"));
    assert_eq!(turns.indexes, [2, 4, 5, 6, 8, 9]);
    assert_eq!(turns.carried.len(), 1);
    assert_eq!(turns.carried[0].text, "one\ntwo");
    let one = choose(&messages, 2, 10, Earlier { is_scattered: false, ..scattered });
    assert_eq!((one.previous.as_deref(), one.indexes), (Some("late"), vec![8, 9]));
}

#[test]
fn the_calls_of_a_message_that_a_handoff_was_put_in_front_of_are_a_turn() {
    let mut messages = list("suauct");
    messages[4] = handoff::merged(&handoff::with_frame("old"), &messages[4].clone());
    let turns = choose(&messages, 4, 6, Earlier::default());
    assert_eq!(turns.indexes, [4, 5]);
    assert_eq!(Fingerprint::of(&turns.turns[0]), Fingerprint::of(&list("suauct")[4]));
    assert!(turns.turns[0].text().is_empty());
}
