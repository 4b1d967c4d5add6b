//! A conversation as a person reads it: turns, with tool calls and outputs folded, and what left the list.

use herma_base::out;
use herma_client::protocol::recall::{Compression, DescribeParams, ExpandParams};
use herma_client::protocol::session::chain::Row;
use herma_client::protocol::session::chain::ShowParams;
use herma_client::protocol::session::messages::{Kept, MessagesParams};
use maud::{Markup, html};

use crate::daemon::{Daemon, ViewError};
use crate::page::{Frame, Page, Section};
use crate::parts;
use crate::request::{Params, address};

/// The messages of a page.
const MESSAGES: u64 = 60;

/// The compactions that are listed.
const COMPACTIONS: usize = 50;

/// The tokens of a long message that are shown at once.
const TOKENS: u64 = 12_000;

pub(crate) fn page(daemon: &Daemon, params: &Params, frame: &Frame) -> Result<Page, ViewError> {
    let id = params.get("id").ok_or_else(|| ViewError::wrong("no session is named"))?;
    let first = params.number("first").and_then(|first| i64::try_from(first).ok());
    let (row, compressions, page) = daemon.ask(|client| {
        let row = client.session_show(ShowParams { session: id.to_owned() })?;
        let compressions = client.recall_describe(DescribeParams { session: id.to_owned() })?.compressions;
        // The newest page, if none is named.
        let first = first.unwrap_or(-i64::try_from(MESSAGES).unwrap_or(60));
        let asked = MessagesParams {
            session: id.to_owned(),
            first: Some(first),
            limit: Some(MESSAGES),
            ..MessagesParams::default()
        };
        Ok((row, compressions, client.session_messages(asked)?))
    })?;
    let at = |first: u64| address("/session", &[("id", id), ("first", &first.to_string())]);
    let earlier = (page.first > 0).then(|| at(page.first.min(page.total).saturating_sub(MESSAGES)));
    let next = page.first.saturating_add(page.messages.len() as u64);
    let later = (next < page.total).then(|| at(next));
    let body = html! {
        (facts(&row))
        (parts::search("/search", "In this conversation", "", &[("session", id)]))
        @if !compressions.is_empty() { (compactions(id, &compressions, frame)) }
        h2 #conversation { "Conversation" }
        @if page.messages.is_empty() { (parts::empty("No message is kept.")) }
        @else { p.quiet { "Messages " (page.first + 1) " to " (next) " of " (parts::number(page.total)) } }
        (parts::pages("Pages", earlier.as_deref(), later.as_deref()))
        @for turn in turns(&page.messages) { (turn_of(id, turn)) }
        (parts::pages("Pages, below", earlier.as_deref(), later.as_deref()))
    };
    let title = parts::name(row.title.as_deref(), &row.preview, &row.session);
    Ok(Page::new(Section::Sessions, title, body))
}

fn facts(row: &Row) -> Markup {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let ended = row.ended_at.map(|time| format!("{}, {}", out::local_time(time), text(&row.end_reason)));
    let facts = [
        ("id", row.session.clone()),
        ("agent", text(&row.agent)),
        ("model", text(&row.model)),
        ("folder", text(&row.cwd)),
        ("branch", text(&row.branch)),
        ("imported from", text(&row.source)),
        ("began", out::local_time(row.started_at)),
        ("ended", ended.unwrap_or_default()),
        ("model calls", parts::number(row.usage.calls)),
        ("tokens", parts::number(row.usage.total)),
    ];
    html! {
        dl.facts {
            @for (name, value) in facts { @if !value.is_empty() { div { dt { (name) } dd { (value) } } } }
            @if let Some(parent) = &row.parent { div { dt { "parent" } dd { (parts::session(parent, parent)) } } }
            @if let Some(share) = parts::fill(row) { div { dt { "window" } dd { (parts::bar(share, &format!("{:.0} %", share * 100.0))) } } }
        }
    }
}

/// Returns the newest compaction that is not undone.
pub(crate) fn newest(compressions: &[Compression]) -> Option<&Compression> {
    compressions.iter().rev().find(|one| one.back_to.is_none() && one.undone.is_none())
}

fn compactions(id: &str, compressions: &[Compression], frame: &Frame) -> Markup {
    let last = newest(compressions);
    let first = compressions.len().saturating_sub(COMPACTIONS);
    html! {
        section {
            h2 { "Compactions" }
            @if first > 0 { p.quiet { "The newest " (COMPACTIONS) " of " (compressions.len()) "." } }
            ol.compactions {
                @for one in &compressions[first..] {
                    li {
                        a href=(address("/compaction", &[("session", id), ("handle", &one.handle)])) {
                            @match one.back_to {
                                Some(generation) => { "undone, back to generation " (generation) }
                                None => { (parts::number(one.messages)) " messages left the list" }
                            }
                        }
                        " " (parts::time(one.time))
                        @if let Some(generation) = one.undone { span.quiet { " undone by generation " (generation) } }
                        @if last.is_some_and(|last| last.handle == one.handle) {
                            (frame.button("/session/undo", &[("session", id), ("handle", &one.handle)], "Undo", "Undo the newest compaction"))
                        }
                    }
                }
            }
        }
    }
}

/// The role of the person's own messages, and of the model's.
const USER: &str = "user";
const ASSISTANT: &str = "assistant";

/// Cuts messages into turns: each begins with what the person said, but for the first one of a page.
fn turns(messages: &[Kept]) -> Vec<&[Kept]> {
    let begins = |(at, message): (usize, &Kept)| (at > 0 && message.role.as_deref() == Some(USER)).then_some(at);
    let mut at: Vec<usize> = vec![0];
    at.extend(messages.iter().enumerate().filter_map(begins));
    at.push(messages.len());
    at.windows(2).map(|pair| &messages[pair[0]..pair[1]]).filter(|turn| !turn.is_empty()).collect()
}

/// Returns a turn: what the person said, the steps of the model, folded, and its last words.
fn turn_of(id: &str, turn: &[Kept]) -> Markup {
    let has_role = |message: &Kept, role: &str| message.role.as_deref() == Some(role);
    let (said, rest) = turn.split_at(turn.first().filter(|first| has_role(first, USER)).map_or(0, |_| 1));
    let (steps, last) = match rest.split_last() {
        Some((last, steps)) if has_role(last, ASSISTANT) => (steps, Some(last)),
        _ => (rest, None),
    };
    html! {
        section.turn {
            @for message in said { (one(id, message)) }
            @if !steps.is_empty() {
                details.steps {
                    summary { (out::count_of(steps.len() as u64, "step")) ": " (parts::line(&steps[0].text)) }
                    @for message in steps { (one(id, message)) }
                }
            }
            @if let Some(last) = last { (one(id, last)) }
        }
    }
}

/// Returns a message. A long one of somebody else than the model is folded.
fn one(id: &str, message: &Kept) -> Markup {
    let role = message.role.as_deref().unwrap_or("unknown");
    let is_folded = message.chars.is_some() && role != ASSISTANT;
    let text = html! {
        pre.text { (message.text) }
        @if let Some(chars) = message.chars {
            p { a href=(address("/message", &[("handle", &message.handle)])) { "the whole message, " (parts::number(chars)) " chars" } }
        }
    };
    html! {
        article id=(message.handle) class=(if role == USER { "message user" } else { "message" }) {
            p.who {
                strong { (role) } " " (parts::time(message.time))
                @if let Some(handle) = &message.left_by {
                    " " a.left href=(address("/compaction", &[("session", id), ("handle", handle)])) { "left the list" }
                }
            }
            @if is_folded { details { summary { (parts::line(&message.text)) } (text) } } @else { (text) }
        }
    }
}

/// Returns the view of a single long message, part by part.
pub(crate) fn message(daemon: &Daemon, params: &Params) -> Result<Page, ViewError> {
    let handle = params.get("handle").ok_or_else(|| ViewError::wrong("no message is named"))?;
    let asked = ExpandParams {
        handle: handle.to_owned(),
        before: Some(0),
        after: Some(0),
        tokens: Some(TOKENS),
        messages: Some(false),
        ..ExpandParams::default()
    };
    let found = daemon.ask(|client| client.recall_expand(asked.clone()))?;
    let body = html! {
        @for item in &found.items {
            article.message {
                p.who {
                    strong { (item.role.as_deref().unwrap_or_default()) }
                    @if let Some(part) = &item.part {
                        " chars " (parts::number(part.start)) " to " (parts::number(part.end)) " of " (parts::number(part.chars))
                    }
                }
                pre.text { (item.text) }
            }
        }
        @if let Some(next) = &found.next { nav.pages aria-label="Pages" { a rel="next" href=(address("/message", &[("handle", next)])) { "what follows" } } }
    };
    Ok(Page::new(Section::Sessions, "Message", body))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_begins_with_the_person() {
        let said =
            |role: &str| Kept { role: Some(role.into()), text: "<b>".into(), handle: "h".into(), ..Kept::default() };
        let messages: Vec<Kept> =
            ["tool", "assistant", "user", "assistant", "tool", "assistant", "user", "user"].map(said).into();
        let lengths: Vec<usize> = turns(&messages).iter().map(|turn| turn.len()).collect();
        assert_eq!(lengths, [2, 4, 1, 1]);
        assert_eq!(turns(&[]), Vec::<&[Kept]>::new());
        let shown = turn_of("s", &messages[2..6]).into_string();
        assert!(shown.contains("2 steps: &lt;b&gt;") && !shown.contains("<b>"), "{shown}");
        assert_eq!(shown.matches("<article").count(), 4);
    }
}
