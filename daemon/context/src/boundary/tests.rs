use serde_json::json;

use super::*;
use crate::testing::{call, image, list, message, result, say, settings};

fn cut(messages: &[Message], head_end: usize, budget: u64, last: usize) -> usize {
    tail_cut(messages, head_end, budget, last).cut
}

#[test]
fn the_head_counts_the_system_message_apart() {
    assert_eq!(head_size(&list("sua"), &settings(1_000, 3, 20)), 4);
    assert_eq!(head_size(&list("ua"), &settings(1_000, 3, 20)), 3);
    assert_eq!((head_size(&list("sua"), &settings(999, 3, 20)), head_size(&list("ua"), &settings(999, 3, 20))), (1, 0));
    assert_eq!(head_size(&list("su"), &settings(1, 0, 20)), 1);
    assert_eq!(head_size(&[], &settings(1, 0, 20)), 0);
    assert_eq!(head_end(&list("sucttua"), 3), 5);
    assert_eq!(head_end(&list("su"), 4), 2);
}

#[test]
fn a_tiny_budget_still_keeps_a_tail() {
    assert_eq!(cut(&list("uauauauauauaua"), 2, 10, 20), 6);
    let bulky = list(&format!("su{}", "CT".repeat(20)));
    let tail = bulky.len() - cut(&bulky, 2, 500, 20);
    assert!((3..20).contains(&tail), "{tail}");
    let small = list("suauauaua");
    assert!(cut(&small, 2, 10, 20) > 2);
}

#[test]
fn a_message_over_the_budget_is_kept_within_the_soft_limit() {
    let mut messages = list("uauauauaua");
    messages.push(say("assistant", &"x".repeat(2_360)));
    messages.extend(list("uauaua"));
    let at = cut(&messages, 1, 500, 1);
    assert!(at <= 10, "{at}");
    assert_eq!(cut(&messages, 1, 400, 1), 11);
}

#[test]
fn images_weigh_in_the_tail() {
    let mut messages = list("ua");
    messages.extend(
        (0..20).flat_map(|_| [message(&json!({"role": "user", "content": [image()]})), say("assistant", "ok")]),
    );
    let tail = messages.len() - cut(&messages, 1, 5_000, 3);
    assert!((3..=12).contains(&tail), "{tail}");
}

#[test]
fn a_group_is_never_parted() {
    let group = [list("ua"), vec![call(&["a", "b"]), result("a", "1"), result("b", "2")], list("u")].concat();
    for (at, expect) in [(3, 2), (4, 2), (5, 2), (2, 2), (1, 1), (0, 0), (6, 6), (9, 9)] {
        assert_eq!(align_backward(&group, at), expect, "{at}");
    }
}

#[test]
fn the_last_user_message_and_the_last_visible_reply_are_in_the_tail() {
    let run = list(&format!("suaua{}", "CT".repeat(30)));
    assert_eq!(cut(&run, 1, 100, 3), 3, "the user's last message");
    let run = list(&format!("suau{}", "CT".repeat(30)));
    assert_eq!(cut(&run, 4, 100, 3), 64 - 4, "no user, so the last call of any kind");
    let mut run = list("suau");
    run.push(say("assistant", "visible"));
    run.extend(list(&"ct".repeat(30)));
    assert_eq!(cut(&run, 4, 10, 3), 5, "never before the end of the head");
    let mut odd = list("suauuuuuu");
    odd.extend([say("assistant", "  "), say("assistant", "shown"), say("assistant", "")]);
    odd.extend(list(&"ct".repeat(9)));
    assert!(cut(&odd, 2, 10, 3) <= 10);
}

#[test]
fn a_handoff_with_the_users_role_is_no_user_message() {
    let mut run = list("sua");
    run.push(handoff::standalone(&handoff::with_frame("x"), Role::User));
    run.extend(list(&"ct".repeat(40)));
    assert!(cut(&run, 3, 100, 3) > 40);
}

#[test]
fn calls_in_flight_are_never_cut_off() {
    let mut run = list("suauauaua");
    run.push(call(&["x", "y"]));
    run.extend((0..12).map(|_| result("x", "done")));
    assert!(cut(&run, 2, 1, 1) <= 9);
    let at_head = [list("sua"), vec![call(&["x", "y"]), result("x", "1")]].concat();
    assert_eq!(cut(&at_head, 3, 1, 1), 3);
}

#[test]
fn a_call_behind_the_head_is_not_parted_from_its_results() {
    // The last messages of model and user are in the head or directly after it, so the cut would be after the
    // call.
    let mut run = list("suau");
    run.push(call(&["x", "y"]));
    run.extend([result("x", "1"), result("y", "2")]);
    run.extend(list(&"CT".repeat(20)));
    assert_eq!(cut(&run, 4, 1, 3), run.len() - 4);
    run[4] = message(&json!({"role": "assistant", "content": "I look.", "tool_calls": [
        {"id": "x", "function": {"name": "a", "arguments": "{}"}}, {"id": "y", "function": {"name": "a", "arguments": "{}"}}]}));
    assert_eq!(cut(&run, 4, 1, 3), 7);
    assert_eq!(cut(&run[..7], 4, 1, 3), 4, "nothing else follows");
}

#[test]
fn short_lists_have_an_answer() {
    for n in 0..6 {
        let messages = &list("uauaua")[..n];
        for head in 0..8 {
            let TailCut { cut, min_tail } = tail_cut(messages, head.min(n), 0, 20);
            assert!(cut <= n && min_tail <= n, "{n} {head}");
        }
    }
    let bare = [Message::parse("\"x\"").unwrap(), Message::parse("7").unwrap()];
    assert_eq!(cut(&bare, 0, 0, 0), 2);
}
