//! A conversation in two parts, and the two parts as one valid list.

use crate::json;
use crate::message::{Content, Message, Role, fields};

/// What is between the texts of two messages that become one, escaped.
const BLANK_LINE: &str = r"\n\n";

/// Cuts a conversation before its `keep`-th latest user message (before its first one if there
/// are fewer; `keep` of 0 counts as 1). Nothing stays apart when there is no user message, or
/// nothing before it.
pub fn split(history: &[Message], keep: u64) -> (&[Message], &[Message]) {
    let keep = usize::try_from(keep.max(1)).unwrap_or(usize::MAX);
    let users = history.iter().enumerate().rev().filter(|(_, message)| message.is(Role::User));
    let at = users.map(|(at, _)| at).take(keep).last().filter(|at| *at > 0);
    history.split_at_checked(at.unwrap_or(history.len())).unwrap_or((history, &[]))
}

/// Puts two parts together. Where both the last message of the one and the first of the other
/// are of the user, or both of the assistant, they become one message if nothing is lost by it;
/// otherwise an empty message of the other role stands between them.
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

/// Two messages as one: both texts as they were sent, the fields of both. None if a content is
/// no string, the first one calls tools (what follows would be taken for their results), or both
/// have a field with different values.
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
