#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::testing::{call, result, say};

fn handoff(role: Role) -> Message {
    handoff::standalone(&handoff::with_frame("what was done"), role)
}

fn part(id: &str, first: u64, messages: Vec<Message>) -> OpenedPart {
    OpenedPart { id: id.into(), numbers: first..first + 5, messages, gaps: Vec::new(), marks: Marks::default() }
}

fn texts(list: &[Message]) -> Vec<String> {
    list.iter().map(|message| message.text().chars().take(12).collect()).collect()
}

/// Inserts a part into a list as the daemon does.
fn open(list: &[Message], mut new: OpenedPart, others: &[OpenedPart]) -> (Vec<Message>, OpenedPart) {
    let at = place(list, new.numbers.start, others).unwrap();
    let before = at.checked_sub(1).and_then(|before| list.get(before));
    new.marks = Marks::between(before, &new.messages, list.get(at));
    let mut list = list.to_vec();
    list.splice(at..at, new.block());
    (list, new)
}

#[test]
fn marks_stand_where_two_messages_of_one_role_would_meet() {
    let (user, model) = (say("user", "u"), say("assistant", "a"));
    for (before, inside, behind, wanted) in [
        (&user, vec![user.clone(), model.clone()], &user, (Some(Role::Assistant), None)),
        (&user, vec![model.clone(), user.clone()], &user, (None, Some(Role::Assistant))),
        (&model, vec![user.clone(), model.clone()], &user, (None, None)),
        (&model, vec![model.clone()], &model, (Some(Role::User), Some(Role::User))),
        (&user, vec![call(&["1"]), result("1", "x")], &user, (None, Some(Role::Assistant))),
        (&user, vec![call(&["1"]), result("1", "x")], &model, (None, None)),
    ] {
        let marks = Marks::between(Some(before), &inside, Some(behind));
        assert_eq!((marks.before, marks.behind), wanted);
    }
    assert_eq!(Marks::between(None, &[], None), Marks::default());
}

#[test]
fn parts_stand_behind_the_handoff_in_the_order_of_the_conversation() {
    let base = [say("system", "s"), say("user", "u"), handoff(Role::Assistant), say("user", "now")];
    let one = part("nod_1", 10, vec![say("user", "one"), say("assistant", "two")]);
    let other = part("nod_2", 3, vec![say("user", "three"), handoff(Role::Assistant), say("user", "four")]);
    let (list, one) = open(&base, one, &[]);
    let (list, other) = open(&list, other, std::slice::from_ref(&one));
    let begun = texts(&list);
    assert_eq!(begun[3..], ["three", "[CONTEXT COM", "four", "[End of what", "one", "two", "now"].map(str::to_owned));
    let parts = [one, other];
    assert_eq!(with_parts(&base, &parts), list);
    let found: Vec<_> = find(&list, &parts).into_iter().map(|(part, range)| (part.id.as_str(), range)).collect();
    assert_eq!(found, [("nod_2", 3..7), ("nod_1", 7..9)]);
    // A message with calls into which the handoff was merged comes after the parts, with its results.
    let into = handoff::merged(&handoff::with_frame("done"), &call(&["1"]));
    let calls = [say("system", "s"), say("user", "u"), into, result("1", "x")];
    assert_eq!(place(&calls, 0, &[]), Some(2));
    // A user message into which the handoff was merged comes after the parts.
    let into = handoff::merged(&handoff::with_frame("done"), &say("user", "now"));
    let base = [say("system", "s"), say("assistant", "a"), into];
    let (list, one) = open(&base, part("nod_1", 10, vec![say("user", "one"), say("assistant", "two")]), &[]);
    let (list, _) = open(&list, part("nod_2", 3, vec![say("user", "x"), say("assistant", "y")]), &[one]);
    assert_eq!(texts(&list)[..6], ["s", "a", "x", "y", "one", "two"].map(str::to_owned));
}

#[test]
fn what_is_not_there_is_not_found() {
    let base = [say("user", "u"), handoff(Role::Assistant), say("user", "now")];
    assert!(find(&base, &[part("a", 0, Vec::new()), part("b", 0, vec![say("user", "other")])]).is_empty());
    assert_eq!(place(&[say("user", "u")], 0, &[]), None);
}
