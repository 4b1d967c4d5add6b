//! A compaction, before and after side by side: the messages that left the list, and the handoff in their place.

use herma_client::protocol::recall::{Compression, DescribeParams, ExpandParams};
use herma_client::protocol::session::messages::{Kept, MessagesParams};
use herma_client::{Client, ClientError};
use http::StatusCode;
use maud::{Markup, html};

use crate::daemon::{Daemon, ViewError};
use crate::page::{Page, Section};
use crate::parts;
use crate::request::{Params, address};

/// The tokens of the messages that are shown at once.
const TOKENS: u64 = 12_000;

/// The beginning of the message with a handoff.
const HANDOFF: &str = "[CONTEXT COMPACTION";

/// The messages of the person that are looked at in one request.
const MESSAGES: u64 = 1_000;

/// The seconds by which the clock of an agent may differ from the daemon's.
const CLOCK_S: f64 = 1.0;

/// The sections of a handoff by the beginnings of their headings: the rules of the user, the state of the work, exact names.
const MARKED: [(&str, &str); 6] = [
    ("Standing", "rules"),
    ("Constraints", "rules"),
    ("Active State", "state"),
    ("Historical In-Progress", "state"),
    ("Exact References", "references"),
    ("Relevant Files", "references"),
];

pub(crate) fn page(daemon: &Daemon, params: &Params) -> Result<Page, ViewError> {
    let [session, handle] = ["session", "handle"].map(|name| params.get(name).map(str::to_owned));
    let (Some(session), Some(handle)) = (session, handle) else {
        return Err(ViewError::wrong("a compaction is named by its session and its handle"));
    };
    let from = params.get("from").unwrap_or(&handle).to_owned();
    let asked = ExpandParams {
        handle: from.clone(),
        before: Some(0),
        tokens: Some(TOKENS),
        messages: Some(false),
        ..ExpandParams::default()
    };
    let compressions = daemon.ask(|client| client.recall_describe(DescribeParams { session: session.clone() }))?;
    let missing = || ViewError::new(StatusCode::NOT_FOUND, "the session has no such compaction");
    let one = compressions.compressions.iter().find(|one| one.handle == handle).ok_or_else(missing)?;
    let (found, kept) =
        daemon.ask(|client| Ok((client.recall_expand(asked.clone())?, message(client, &session, one)?)))?;
    // The summary alone has no rules and names: they are added where it becomes a message.
    let text = kept.as_deref().unwrap_or(&one.summary);
    let next = found
        .next
        .as_deref()
        .map(|next| address("/compaction", &[("session", &session), ("handle", &handle), ("from", next)]));
    let body = html! {
        p {
            (parts::session(&session, "Back to the session")) ". Generation " (one.generation) ", " (parts::time(one.time)) ": "
            (parts::number(one.messages)) " messages with " (parts::number(one.chars)) " chars became "
            (parts::number(text.chars().count() as u64)) " chars."
        }
        p.key-line {
            span.key { i.rules {} "rules" } span.key { i.state {} "state" } span.key { i.references {} "references" }
        }
        div.sides {
            section aria-label="Before" {
                h2 { "Before: what left the list" }
                @for item in &found.items {
                    article.message {
                        @let role = item.role.as_deref().unwrap_or_default();
                        p.who { strong { (role) } }
                        @if role == "tool" { details { summary { (parts::line(&item.text)) } pre.text { (item.text) } } }
                        @else { pre.text { (item.text) } }
                    }
                }
                @if let Some(next) = next { nav.pages aria-label="Pages" { a rel="next" href=(next) { "what follows" } } }
            }
            section aria-label="After" {
                h2 { "After: the handoff in its place" }
                (handoff(text))
            }
        }
    };
    Ok(Page::new(Section::Sessions, format!("Compaction {}", one.generation), body))
}

/// Returns the message with which a list goes on after a compaction, if it was kept.
fn message(client: &mut Client, session: &str, compaction: &Compression) -> Result<Option<String>, ClientError> {
    let mut asked = MessagesParams {
        session: session.to_owned(),
        first: Some(0),
        limit: Some(MESSAGES),
        roles: Some(vec!["user".into()]),
        whole: None,
    };
    loop {
        let page = client.session_messages(asked.clone())?;
        let may_be = |one: &&Kept| one.time + CLOCK_S >= compaction.time && one.text.starts_with(HANDOFF);
        for found in page.messages.iter().filter(may_be) {
            let whole = ExpandParams {
                handle: found.handle.clone(),
                before: Some(0),
                after: Some(0),
                messages: Some(false),
                ..ExpandParams::default()
            };
            let text = client.recall_expand(whole)?.items.pop().map(|item| item.text);
            // It says under which handle the messages are that it stands for.
            if let Some(text) = text.filter(|text| text.contains(&compaction.handle)) {
                return Ok(Some(text));
            }
        }
        let next = page.first + page.messages.len() as u64;
        if page.messages.is_empty() || next >= page.total {
            return Ok(None);
        }
        asked.first = i64::try_from(next).ok();
    }
}

/// Returns a handoff by its sections.
fn handoff(summary: &str) -> Markup {
    html! {
        @for part in sections(summary) {
            @let (heading, text) = part;
            @let class = MARKED.iter().find(|(begin, _)| heading.starts_with(begin)).map(|(_, class)| *class);
            section class=[class] {
                @if !heading.is_empty() { h3 { (heading) } }
                pre.text { (text) }
            }
        }
    }
}

/// Cuts a text at its headings. The first part may have none.
fn sections(text: &str) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let (mut heading, mut begin) = ("", 0);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if let Some(next) = line.strip_prefix("## ") {
            found.push((heading, text[begin..at].trim()));
            (heading, begin) = (next.trim(), at + line.len());
        }
        at += line.len();
    }
    found.push((heading, text[begin..].trim()));
    found.retain(|(heading, text)| !heading.is_empty() || !text.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handoff_is_cut_at_its_headings() {
        let text = "[CONTEXT]\n## Goal\nfix it\n\n## Standing Constraints\n- never push\n## Empty\n";
        assert_eq!(
            sections(text),
            [("", "[CONTEXT]"), ("Goal", "fix it"), ("Standing Constraints", "- never push"), ("Empty", "")]
        );
        assert_eq!(sections("## A"), [("A", "")]);
        assert_eq!(sections("plain"), [("", "plain")]);
        assert_eq!(sections(""), []);
        let shown = handoff("## Standing <b>\n<script>").into_string();
        assert!(shown.contains("class=\"rules\"") && shown.contains("&lt;script&gt;"), "{shown}");
    }
}
