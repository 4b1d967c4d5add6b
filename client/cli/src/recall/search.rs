//! `herma recall QUERY`.

use herma_base::out::{self, Mark, MarkedText};
use herma_base::{CliContext, Failure};
use herma_client::protocol::recall::{Hit, Kind, Scope, SearchParams};

use super::{Arguments, LIMIT, MOST};

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let limit = arguments.limit.unwrap_or(LIMIT);
    let kinds: Vec<Kind> = arguments.kind.iter().copied().map(Into::into).collect();
    let params = SearchParams {
        query: arguments.query.join(" "),
        session: arguments.session.clone(),
        kinds: Some(kinds).filter(|kinds| !kinds.is_empty()),
        since: arguments.since,
        until: arguments.until,
        limit: Some(limit),
        scope: arguments.everywhere.then_some(Scope::Everywhere),
    };
    let result = context.connect()?.recall_search(params)?;
    if let Some(notice) = result.notice.as_ref().filter(|_| !context.common.json) {
        out::note(context.common, notice);
    }
    if context.common.json {
        out::json(&result)?;
    } else if result.hits.is_empty() {
        out::note(context.common, "nothing was found");
    } else {
        describe(&result.hits, Mark::or(Mark::Quotes)).print()?;
        if result.more {
            let advice = if limit < MOST { "raise --limit, or add a word" } else { "add a word" };
            out::note(context.common, &format!("there are more; {advice}"));
        }
    }
    if result.hits.is_empty() { Err(Failure::No) } else { Ok(()) }
}

/// Returns two lines for each hit: its origin, and the text around it.
fn describe(hits: &[Hit], mark: Mark) -> MarkedText {
    let mut text = MarkedText::new(mark);
    for hit in hits {
        let kind = match hit.kind {
            Kind::Message => "message",
            Kind::Output => "output",
            Kind::Memory => "memory",
        };
        let session = hit.session.as_deref().unwrap_or("-");
        let role = hit.role.as_deref().unwrap_or("-");
        let host = hit.host.as_ref().map(|host| format!("  on {host}")).unwrap_or_default();
        text.push(&format!("{}  {kind}  {session}  {role}  {}{host}\n    ", hit.handle, out::local_time(hit.time)));
        // Each char is replaced by one char, so that the positions of the hit stay valid.
        text.push_found(&hit.snippet.replace(['\n', '\r', '\t'], " "), hit.start, hit.end);
        text.push("\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_is_what_it_is_and_the_text_round_it() {
        let hit = |kind, session: Option<&str>, role: Option<&str>| Hit {
            handle: "h_1".into(),
            kind,
            session: session.map(str::to_owned),
            agent: None,
            source: None,
            role: role.map(str::to_owned),
            time: 0.0,
            snippet: "grüße\nthe heron\there".into(),
            start: 10,
            end: 15,
            score: 1.0,
            node: None,
            host: None,
        };
        let then = out::local_time(0.0);
        assert_eq!(
            describe(&[hit(Kind::Message, Some("s"), Some("user")), hit(Kind::Memory, None, None)], Mark::Quotes)
                .text(),
            format!(
                "h_1  message  s  user  {then}\n    grüße the »heron« here\n\
                 h_1  memory  -  -  {then}\n    grüße the »heron« here\n"
            )
        );
    }
}
