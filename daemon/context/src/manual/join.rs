//! Splits a conversation in two parts, and joins them into one valid list.

use crate::json;
use crate::message::{Content, Message, Role, fields};

/// The separator between the texts of two merged messages, escaped.
const BLANK_LINE: &str = r"\n\n";

/// Splits a conversation before its `keep`-th latest user message (before its first one if there are fewer;
/// `keep` of 0 counts as 1). The second part is empty if there is no user message, or nothing before it.
pub fn split(history: &[Message], keep: u64) -> (&[Message], &[Message]) {
    let keep = usize::try_from(keep.max(1)).unwrap_or(usize::MAX);
    let users = history.iter().enumerate().rev().filter(|(_, message)| message.is(Role::User));
    let at = users.map(|(at, _)| at).take(keep).last().filter(|at| *at > 0);
    history.split_at_checked(at.unwrap_or(history.len())).unwrap_or((history, &[]))
}

/// Joins two parts. If the messages at the joint are both of the user, or both of the assistant, they become
/// one message, provided that nothing is lost. Otherwise an empty message of the other role goes between
/// them.
pub fn rejoin(head: &[Message], tail: &[Message]) -> Vec<Message> {
    let (Some((last, before)), Some((first, after))) = (head.split_last(), tail.split_first()) else {
        return [head, tail].concat();
    };
    let bridge = match last.role() {
        _ if last.role() != first.role() => None,
        Role::User => Some(Role::Assistant),
        Role::Assistant => Some(Role::User),
        _ => None,
    };
    let Some(bridge) = bridge else { return [head, tail].concat() };
    let between = match merged(last, first) {
        Some(one) => vec![one],
        None => vec![last.clone(), empty(&bridge), first.clone()],
    };
    [before, &between, after].concat()
}

fn empty(role: &Role) -> Message {
    Message::compose(&[("role", json::encode(role.as_str())), ("content", json::encode(""))])
}

/// Merges two messages: both texts as sent, the fields of both. Returns `None` if a content is not a string,
/// if the first one calls tools (the next message would be taken for their results), or if both have a field
/// with different values.
fn merged(last: &Message, first: &Message) -> Option<Message> {
    let (Content::Text(one), Content::Text(other)) = (last.content(), first.content()) else {
        return None;
    };
    if !last.tool_calls().is_empty() {
        return None;
    }
    let has = fields(last.raw());
    let mut more = Vec::new();
    for (key, value) in fields(first.raw()) {
        let name = json::decode(key);
        if matches!(&*name, "role" | "content") {
            continue;
        }
        match has.iter().find(|(known, _)| json::decode(known) == name) {
            Some((_, known)) if *known == value => {}
            Some(_) => return None,
            None => more.push((key, value)),
        }
    }
    let one = last.slice(*one).strip_suffix('"')?;
    let other = first.slice(*other).strip_prefix('"')?;
    let unquoted: Vec<(&str, &str)> =
        more.iter().map(|(key, value)| (key.trim_start_matches('"').trim_end_matches('"'), *value)).collect();
    Some(last.with_content(&format!("{one}{BLANK_LINE}{other}"), &unquoted))
}
