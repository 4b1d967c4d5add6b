//! `herma recall QUERY`.

use herma_base::out::{self, Mark, MarkedText};
use herma_base::{CliContext, Failure};
use herma_client::protocol::recall::{Hit, Kind, Neighbour, Scope, SearchParams};

use super::{Arguments, LIMIT, MOST};
use crate::names;

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let query = arguments.query.join(" ");
    if query.trim().is_empty() {
        return Err(Failure::Usage("the query is empty; give the words to search for".into()));
    }
    let limit = arguments.limit.unwrap_or(LIMIT);
    let kinds: Vec<Kind> = arguments.kind.iter().copied().map(Into::into).collect();
    let (mut client, session) = names::session::connect_any(context, arguments.session.as_deref())?;
    let params = SearchParams {
        query,
        session,
        kinds: Some(kinds).filter(|kinds| !kinds.is_empty()),
        since: arguments.since,
        until: arguments.until,
        limit: Some(limit),
        scope: arguments.everywhere.then_some(Scope::Everywhere),
        around: arguments.around,
        prompt_of: None,
        agent: arguments.place.agent.clone(),
        folder: arguments.place.folder()?,
    };
    let result = client.recall_search(params)?;
    if let Some(notice) = result.notice.as_ref().filter(|_| !context.common.json) {
        out::note(context.common, notice);
    }
    if context.common.json {
        out::json(&result)?;
    } else if result.hits.is_empty() {
        out::note(context.common, "nothing was found");
    } else {
        describe(&result.hits, Mark::or(Mark::Quotes)).print()?;
        if out::width().is_some() {
            out::note(context.common, &format!("read on: herma recall --expand {}", result.hits[0].handle));
        }
        if result.more {
            let advice = if limit < MOST { "raise --limit, or add a word" } else { "add a word" };
            out::note(context.common, &format!("there are more; {advice}"));
        }
    }
    if result.hits.is_empty() { Err(Failure::No) } else { Ok(()) }
}

/// Returns lines for each hit: its origin, its text, and the messages before and after it.
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
        match out::width() {
            // A person knows a session by its beginning, and a time by its age.
            Some(_) => {
                let session = names::session::short(session);
                let of = names::session::folder_name(hit.cwd.as_deref())
                    .map(|folder| format!("  in {folder}"))
                    .unwrap_or_default();
                text.push(&format!("{}  {}  {role}  {session}{of}{host}\n", hit.handle, out::when(hit.time)));
            }
            None => {
                text.push(&format!("{}  {kind}  {session}  {role}  {}{host}\n", hit.handle, out::local_time(hit.time)));
            }
        }
        hit.before.iter().for_each(|message| text.push(&neighbour(message)));
        text.push("    ");
        text.push_found(&one_line(&hit.snippet), hit.start, hit.end);
        text.push("\n");
        hit.after.iter().for_each(|message| text.push(&neighbour(message)));
    }
    text
}

fn neighbour(message: &Neighbour) -> String {
    format!("      {}: {}\n", message.role.as_deref().unwrap_or("-"), one_line(&message.snippet))
}

/// Replaces each char by one char, so that the positions of a hit stay valid.
fn one_line(text: &str) -> String {
    text.replace(['\n', '\r', '\t'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(kind: Kind, session: Option<&str>, role: Option<&str>) -> Hit {
        Hit {
            handle: "h_1".into(),
            kind,
            session: session.map(str::to_owned),
            agent: None,
            source: None,
            cwd: None,
            role: role.map(str::to_owned),
            time: 0.0,
            snippet: "grüße\nthe heron\there".into(),
            start: 10,
            end: 15,
            score: 1.0,
            node: None,
            host: None,
            before: Vec::new(),
            after: Vec::new(),
        }
    }

    #[test]
    fn the_messages_around_a_hit_stand_before_and_after_it() {
        let near = |role: Option<&str>, snippet: &str| Neighbour {
            handle: "n".into(),
            role: role.map(str::to_owned),
            snippet: snippet.into(),
        };
        let [before, after] = [near(Some("user"), "which\nbird?"), near(None, "oh")].map(|message| vec![message]);
        let hit = Hit { before, after, ..hit(Kind::Message, None, None) };
        let found = describe(&[hit], Mark::Quotes);
        let lines: Vec<&str> = found.text().lines().skip(1).collect();
        assert_eq!(lines, ["      user: which bird?", "    grüße the »heron« here", "      -: oh"]);
    }

    #[test]
    fn a_hit_is_what_it_is_and_the_text_round_it() {
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
