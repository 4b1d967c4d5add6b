use super::*;
use crate::testing::{list, say};

fn with_handoff(at: usize, text: &str) -> Vec<Message> {
    let mut messages = list("suauauauaua");
    messages.insert(at, say("user", text));
    messages
}

#[test]
fn the_newest_handoff_before_the_tail_says_what_is_covered() {
    let messages = with_handoff(4, &handoff::with_frame("## Goal\nold"));
    let turns = choose(&messages, 4, 8, None);
    assert_eq!(turns.previous.as_deref(), Some("## Goal\nold"));
    assert_eq!(turns.indexes, [5, 6, 7]);
    let held = choose(&messages, 4, 8, Some("held"));
    assert_eq!(held.previous.as_deref(), Some("held"));
}

#[test]
fn a_handoff_in_the_head_counts_too() {
    let messages = with_handoff(2, &handoff::with_frame("old"));
    let turns = choose(&messages, 4, 8, None);
    assert_eq!(turns.previous.as_deref(), Some("old"));
    assert_eq!(turns.indexes, [4, 5, 6, 7]);
}

#[test]
fn a_held_summary_without_a_handoff_is_of_another_session() {
    let turns = choose(&list("suauauaua"), 2, 6, Some("held"));
    assert_eq!(turns.previous, None);
    let in_tail = with_handoff(9, &handoff::with_frame("old"));
    assert_eq!(choose(&in_tail, 2, 8, Some("held")).previous, None);
}

#[test]
fn the_users_own_words_of_a_merged_handoff_are_a_turn() {
    let text = format!("{}\n\nplease go on", handoff::with_frame("old"));
    let messages = with_handoff(4, &text);
    let turns = choose(&messages, 4, 7, None);
    assert_eq!(turns.previous.as_deref(), Some("old"));
    assert_eq!(turns.indexes, [4, 5, 6]);
    assert_eq!(turns.turns[0].text(), "please go on");
    assert_eq!(turns.turns[0].role(), &Role::User);
    assert_eq!(choose(&messages, 5, 7, None).indexes, [5, 6], "in the head it stays where it is");
}
