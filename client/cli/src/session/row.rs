//! `herma session show`.

use herma_base::{CliContext, Failure, out};
use herma_client::protocol::context::undo::UndoParams;
use herma_client::protocol::session::chain::{Row, ShowParams};

use crate::compress::undo;
use crate::names;

/// The most chars of the user's first message.
const PREVIEW: usize = 100;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "With --generation the session's list is printed as it was at that generation, one message a line, and what was said since behind it; that is the list that `herma compress --undo --generation` brings back.\n\nExamples:\n  herma session show my-session\n  herma session show my-session --generation 3 > before.jsonl"
)]
pub(crate) struct Show {
    /// The session: its id, the beginning of it, or @1 for the newest
    session: String,
    /// Print the list at this generation; the newest five before the current one are available
    #[arg(long, value_name = "N")]
    generation: Option<u64>,
}

pub(super) fn show(context: &CliContext<'_>, arguments: &Show) -> Result<(), Failure> {
    let (mut client, id) = names::session::connect(context, &arguments.session)?;
    if arguments.generation.is_some() {
        let params =
            UndoParams { session: id, generation: arguments.generation, dry_run: Some(true), ..UndoParams::default() };
        return undo::run(context, &mut client, params, undo::Show::Lines);
    }
    let result = client.session_show(ShowParams { session: id })?;
    out::show(context.common, &result, fields)
}

/// Returns `open`, or how the session ended.
pub(super) fn state(row: &Row) -> String {
    match (&row.end_reason, row.ended_at) {
        (Some(reason), _) => reason.clone(),
        (None, Some(_)) => "ended".into(),
        (None, None) => "open".into(),
    }
}

fn fields(row: &Row) -> String {
    let usage = &row.usage;
    let mut fields = vec![("session", row.session.clone()), ("profile", row.profile.clone())];
    let named = [
        ("title", &row.title),
        ("agent", &row.agent),
        ("model", &row.model),
        ("parent", &row.parent),
        ("folder", &row.cwd),
        ("branch", &row.branch),
        ("imported from", &row.source),
    ];
    fields.extend(named.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
    if let Some(window) = row.context_length {
        fields.push(("window", format!("{} tokens", out::thousands(window))));
    }
    if row.lineage_root != row.session {
        fields.push(("chain of", row.lineage_root.clone()));
    }
    let ended = row.ended_at.map_or(String::new(), |time| format!(" {}", out::local_time(time)));
    fields.extend([
        ("generation", row.generation.to_string()),
        ("started", out::local_time(row.started_at)),
        ("last active", out::local_time(row.last_active)),
        ("state", format!("{}{ended}", state(row))),
        ("messages", format!("{}, {} tool calls", out::thousands(row.messages), out::thousands(row.tool_calls))),
        (
            "tokens",
            format!(
                "{} in {} calls: {} prompt ({} cached), {} output",
                out::thousands(usage.total),
                out::thousands(usage.calls),
                out::thousands(usage.prompt),
                out::thousands(usage.cache_read),
                out::thousands(usage.output)
            ),
        ),
    ]);
    if !row.preview.is_empty() {
        fields.push(("begins", out::cut(&row.preview, PREVIEW)));
    }
    out::columns(&fields)
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::session::usage::Totals;

    use super::*;

    #[test]
    fn a_session_is_shown_with_what_is_known_of_it() {
        let row = Row {
            session: "s2".into(),
            title: Some("Herma #2".into()),
            profile: "default".into(),
            lineage_root: "s1".into(),
            messages: 1200,
            usage: Totals { calls: 3, prompt: 5000, cache_read: 1000, output: 70, total: 5070, ..Totals::default() },
            ..Row::default()
        };
        let then = out::local_time(0.0);
        assert_eq!(
            fields(&row),
            format!(
                "session      s2\nprofile      default\ntitle        Herma #2\nchain of     s1\ngeneration   0\n\
                 started      {then}\nlast active  {then}\nstate        open\nmessages     1,200, 0 tool calls\n\
                 tokens       5,070 in 3 calls: 5,000 prompt (1,000 cached), 70 output\n"
            )
        );
        let closed = Row { ended_at: Some(0.0), end_reason: Some("done".into()), preview: "hi\nyou".into(), ..row };
        let shown = fields(&closed);
        assert!(
            shown.contains(&format!("state        done {then}\n")) && shown.ends_with("begins       hi you\n"),
            "{shown}"
        );
    }
}
