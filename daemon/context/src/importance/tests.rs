#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::testing::{call_of, result, say};

fn scored(messages: &[Message]) -> Vec<(u32, Vec<Reason>)> {
    importance(messages).into_iter().map(|one| (one.score, one.reasons)).collect()
}

#[test]
fn what_refers_to_a_message_makes_it_important() {
    use Reason::*;
    let list = [
        say("system", "see src/main.rs"),
        say("user", "Which orders are late?"),
        call_of("1", "list_orders", "{}"),
        result("1", "order A-1177 late\norder B-2044 late\norder C-3099 in time\n"),
        call_of("2", "get_order", r#"{"order_id": "A-1177"}"#),
        result("2", "A-1177 for dora_l_12, 250 dollars"),
        call_of("3", "get_user", r#"{"user": "dora_l_12", "sum": 250}"#),
        result("3", "She is known since long."),
        say("user", "No, I meant the other one."),
        say("assistant", "We decided to ask again."),
        say("user", "thanks"),
    ];
    assert_eq!(
        scored(&list),
        [
            (0, vec![]),
            (0, vec![]),
            (0, vec![]),
            // Two names that occur nowhere else.
            (14, vec![Used, OnlyPlace]),
            (0, vec![]),
            (13, vec![Used]),
            (0, vec![]),
            (0, vec![]),
            (30, vec![Correction]),
            (20, vec![Decision]),
            (0, vec![]),
        ]
    );
}

#[test]
fn an_error_is_open_until_a_call_of_its_kind_goes_well() {
    let run = |id: &str, command: &str| call_of(id, "run", &format!(r#"{{"command": "{command}"}}"#));
    let list = [
        run("1", "pytest -q"),
        result("1", "1 failed in 0.07s"),
        run("2", "cargo test"),
        result("2", "error: no such package"),
        run("3", "pytest -q tests"),
        result("3", r#"{"output": "2 passed", "error": null}"#),
    ];
    let scores: Vec<u32> = scored(&list).into_iter().map(|(score, _)| score).collect();
    assert_eq!(scores, [0, 0, 0, OPEN_ERROR, 0, 0]);
}

#[test]
fn a_score_has_an_end() {
    let names: Vec<String> = (0..400).map(|at| format!("order_{at}_x")).collect();
    let list = [result("1", &names.join(" ")), call_of("2", "get", &format!(r#"{{"all": "{}"}}"#, names.join(" ")))];
    assert_eq!(scored(&list)[0].0, MOST_USED);
}

proptest::proptest! {
    #[test]
    fn every_message_has_a_score_whatever_it_is(texts in proptest::collection::vec("\\PC{0,80}", 0..20)) {
        let list: Vec<Message> = texts.iter().enumerate().map(|(at, text)| match at % 3 {
            0 => say("user", text),
            1 => call_of(text, text, text),
            _ => result(text, text),
        }).collect();
        let scores = importance(&list);
        proptest::prop_assert_eq!(scores.len(), list.len());
        proptest::prop_assert!(scores.iter().all(|one| one.score <= MOST && (one.score > 0) != one.reasons.is_empty()));
    }
}
