//! `herma compress --undo`, and the list of a generation for `herma session show`.

use herma_base::{CliContext, Failure, out};
use herma_client::Client;
use herma_client::protocol::Json;
use herma_client::protocol::context::undo::{UndoParams, UndoResult};

/// The form in which the result is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Show {
    /// The report for people.
    Report,
    /// The list as JSON. The report goes to standard error.
    List,
    /// The list, one message per line. The report goes to standard error.
    Lines,
}

/// Restores a list, or only reads it, and prints it.
pub(crate) fn run(
    context: &CliContext<'_>,
    client: &mut Client,
    params: UndoParams,
    show: Show,
) -> Result<(), Failure> {
    let is_look = params.dry_run == Some(true);
    let result = client.context_undo(params)?;
    if context.common.json {
        return out::json(&result);
    }
    let report = report(&result, is_look);
    let texts: Vec<&str> = result.messages.iter().map(Json::get).collect();
    match show {
        Show::Report => out::line(&report),
        Show::List => {
            out::report_aside(context.common, &report);
            out::line(&format!("[{}]", texts.join(",\n")))
        }
        Show::Lines => {
            out::report_aside(context.common, &report);
            texts.iter().try_for_each(|text| out::line(text))
        }
    }
}

fn report(result: &UndoResult, is_look: bool) -> String {
    let messages = u64::try_from(result.messages.len()).unwrap_or(u64::MAX);
    let mut rows = Vec::new();
    if !result.undone.is_empty() {
        let name = if is_look { "would be undone" } else { "undone" };
        rows.push((name, result.undone.join(", ")));
    }
    rows.push((
        "messages",
        if result.undone.is_empty() {
            out::thousands(messages)
        } else {
            format!("{}, the last {} said since", out::thousands(messages), out::thousands(result.since))
        },
    ));
    let window = result.context_length.map_or(String::new(), |tokens| format!(" of {}", out::thousands(tokens)));
    rows.push(("tokens", format!("{}{window}", out::thousands(result.tokens))));
    if let Some(archived) = &result.archived {
        rows.push(("archived", format!("{} under {}", out::count_of(archived.messages, "message"), archived.handle)));
    }
    let restored = format!("the list of generation {}", result.restored);
    rows.push(("session", format!("{}, generation {}; {restored}", result.session, result.generation)));
    if let Some(threshold) = result.threshold.filter(|_| result.over_threshold) {
        let threshold = out::thousands(threshold);
        rows.push((
            "warning",
            format!("over the threshold of {threshold} tokens: the next check asks for a compression"),
        ));
    }
    out::columns(&rows)
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::context::Archived;

    use super::*;

    #[test]
    fn a_report_says_what_came_back_and_what_it_costs() {
        let message = || Json::parse("7".into()).unwrap_or_else(|error| panic!("{error}"));
        let result = UndoResult {
            session: "s".into(),
            generation: 3,
            restored: 1,
            undone: vec!["cmp_1_2".into()],
            archived: Some(Archived { handle: "cmp_1_3".into(), messages: 1 }),
            messages: vec![message(), message()],
            since: 1,
            tokens: 90_000,
            threshold: Some(50_000),
            context_length: Some(100_000),
            over_threshold: true,
            ..UndoResult::default()
        };
        let text = report(&result, false);
        for words in [
            "undone    cmp_1_2",
            "2, the last 1 said since",
            "90,000 of 100,000",
            "1 message under cmp_1_3",
            "s, generation 3; the list of generation 1",
            "over the threshold of 50,000 tokens",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
        assert!(report(&result, true).contains("would be undone"));
        let now = report(&UndoResult { undone: Vec::new(), over_threshold: false, ..result }, true);
        assert!(!now.contains("undone") && !now.contains("warning") && now.contains("messages  2\n"), "{now}");
    }
}
