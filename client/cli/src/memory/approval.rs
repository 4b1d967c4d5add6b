//! `herma memory pending`, `herma memory approve`, `herma memory reject`, `herma memory queued`.

use herma_base::{CliContext, Common, Failure, out};
use herma_client::protocol::memory::{
    ApproveParams, ApproveResult, Decided, PendingParams, PendingWrite, QueuedParams, RejectParams,
};
use serde_json::Value;

use super::editor::{self, Draft};
use super::{log, name, write};

/// The column headings of a table of writes.
const HEAD: [&str; 6] = ["id", "store", "time", "action", "who", "what"];

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  herma memory pending\n  herma memory pending --full")]
pub(crate) struct Pending {
    /// Print each write in full
    #[arg(long)]
    full: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  herma memory queued --full")]
pub(crate) struct Queued {
    /// Print each write in full
    #[arg(long)]
    full: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "`herma memory pending` lists them with their ids. An id that is unknown is an error, and nothing is done.\n--edit opens the text in $VISUAL, else $EDITOR, else vi; the guard and the limits hold for it, too.\n\nExamples:\n  herma memory approve 0a1b2c3d 4e5f6071\n  herma memory approve 0a1b2c3d --edit\n  herma memory approve --of-agent codex\n  herma memory approve --all"
)]
pub(crate) struct Approve {
    #[command(flatten)]
    chosen: Chosen,
    /// Write this text instead of the requested one
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["all", "of_session", "of_agent"])]
    content: Option<String>,
    /// Edit the text first
    #[arg(long, conflicts_with_all = ["content", "all", "of_session", "of_agent"])]
    edit: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "`herma memory pending` lists them with their ids. An id that is unknown is an error, and nothing is done.\n\nExamples:\n  herma memory reject 0a1b2c3d\n  herma memory reject --of-session claude-code:1f2e\n  herma memory reject --all"
)]
pub(crate) struct Reject {
    #[command(flatten)]
    chosen: Chosen,
}

#[derive(Debug, clap::Args)]
#[group(required = true, multiple = true)]
pub(crate) struct Chosen {
    /// The ids of the writes
    #[arg(value_name = "ID", conflicts_with_all = ["all", "of_session", "of_agent"])]
    ids: Vec<String>,
    /// All waiting writes
    #[arg(long, conflicts_with_all = ["of_session", "of_agent"])]
    all: bool,
    /// Those that this session requested
    #[arg(long, value_name = "ID")]
    of_session: Option<String>,
    /// Those that this agent requested
    #[arg(long, value_name = "NAME")]
    of_agent: Option<String>,
}

impl Chosen {
    fn ids(&self) -> Option<Vec<String>> {
        (!self.ids.is_empty()).then(|| self.ids.clone())
    }

    fn all(&self) -> Option<bool> {
        self.all.then_some(true)
    }
}

pub(super) fn pending(context: &CliContext<'_>, arguments: &Pending) -> Result<(), Failure> {
    let result = context.connect()?.memory_pending(PendingParams {})?;
    out::show(context.common, &result, |result| match result.pending.as_slice() {
        [] => "No writes wait for approval. They do with `memory.approval = true` in config.toml.".into(),
        waiting if arguments.full => waiting.iter().map(in_full).collect::<Vec<_>>().join("\n"),
        waiting => table(context.common, waiting),
    })
}

pub(super) fn queued(context: &CliContext<'_>, arguments: &Queued) -> Result<(), Failure> {
    let result = context.connect()?.memory_queued(QueuedParams {})?;
    out::show(context.common, &result, |result| match result.queued.as_slice() {
        [] => "No writes wait for the shared database.".into(),
        waiting if arguments.full => waiting.iter().map(in_full).collect::<Vec<_>>().join("\n"),
        waiting => {
            let rows: Vec<[String; 6]> = waiting.iter().map(row).collect();
            out::table(HEAD, &rows)
        }
    })
}

pub(super) fn approve(context: &CliContext<'_>, arguments: &Approve) -> Result<(), Failure> {
    let Approve { chosen, content, edit } = arguments;
    let content = if *edit { Some(edited(context, &chosen.ids)?) } else { content.clone() };
    let params = ApproveParams {
        ids: chosen.ids(),
        all: chosen.all(),
        session: chosen.of_session.clone(),
        agent: chosen.of_agent.clone(),
        content,
    };
    let result = context.connect()?.memory_approve(params)?;
    out::show(context.common, &result, |result| approved(context.common, result))?;
    if result.failed.is_empty() { Ok(()) } else { Err(Failure::Refused) }
}

pub(super) fn reject(context: &CliContext<'_>, arguments: &Reject) -> Result<(), Failure> {
    let chosen = &arguments.chosen;
    let params = RejectParams {
        ids: chosen.ids(),
        all: chosen.all(),
        session: chosen.of_session.clone(),
        agent: chosen.of_agent.clone(),
    };
    let result = context.connect()?.memory_reject(params)?;
    out::show(context.common, &result, |result| match result.rejected.as_slice() {
        [] => "nothing waited for approval".into(),
        ids => ids.iter().map(|id| format!("{id} rejected")).collect::<Vec<_>>().join("\n"),
    })
}

/// Returns the text of a waiting write as its user edited it.
fn edited(context: &CliContext<'_>, ids: &[String]) -> Result<String, Failure> {
    let [id] = ids else { return Err(Failure::Usage("--edit is for one id".into())) };
    let waiting = context.connect()?.memory_pending(PendingParams {})?.pending;
    let write = waiting.iter().find(|write| write.id == *id);
    let write = write.ok_or_else(|| Failure::File(format!("no write {id:?} waits for approval; nothing was done")))?;
    let payload: Value = serde_json::from_str(write.payload.get()).unwrap_or_default();
    let text = payload.get("content").and_then(Value::as_str);
    let text = text.ok_or_else(|| Failure::File(format!("the write {id} has no text to edit; nothing was done")))?;
    let draft = Draft::new(name(write.target), text)?;
    editor::open(draft.path())?;
    draft.text()
}

fn table(common: &Common, waiting: &[PendingWrite]) -> String {
    let rows: Vec<[String; 6]> = waiting.iter().map(row).collect();
    let approve = common.command("memory approve ID");
    format!("{}do one: {approve}; see all of it: {}", out::table(HEAD, &rows), common.command("memory pending --full"))
}

fn row(waiting: &PendingWrite) -> [String; 6] {
    [
        waiting.id.clone(),
        name(waiting.target).to_owned(),
        out::when(waiting.created_at),
        waiting.action.clone(),
        log::who(&waiting.agent, &waiting.session),
        waiting.summary.clone(),
    ]
}

fn in_full(waiting: &PendingWrite) -> String {
    format!("{}\n{}\n", row(waiting).join("  "), waiting.payload.get())
}

fn approved(common: &Common, result: &ApproveResult) -> String {
    let shown = |how: &str, decided: &Decided| {
        let words = write::written(common, &decided.result);
        format!("{} {how}: {}", decided.id, words.replace('\n', "\n         "))
    };
    let done = result.approved.iter().map(|decided| shown("done", decided));
    let lines: Vec<String> = done.chain(result.failed.iter().map(|decided| shown("failed", decided))).collect();
    if lines.is_empty() { "nothing waited for approval".into() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::Json;
    use herma_client::protocol::memory::{Target, WriteResult};

    use super::*;

    fn waiting() -> PendingWrite {
        PendingWrite {
            id: "0a1b2c3d".into(),
            target: Target::User,
            action: "add".into(),
            summary: "add to user:\nlikes tea".into(),
            created_at: 0.0,
            session: None,
            agent: Some("coder".into()),
            payload: Json::parse("{\"content\":\"likes tea\"}".into()).unwrap(),
        }
    }

    #[test]
    fn waiting_writes_become_a_table() {
        let text = table(&Common::default(), &[waiting()]);
        let time = out::local_time(0.0);
        assert_eq!(
            text.lines().nth(1),
            Some(format!("0a1b2c3d  user   {time}  add     coder  add to user: likes tea").as_str()),
            "{text}"
        );
        assert!(in_full(&waiting()).contains("\n{\"content\":\"likes tea\"}\n"));
    }

    #[test]
    fn each_decision_is_told() {
        let decided = |id: &str, result| Decided { id: id.into(), result };
        let done = WriteResult { success: true, message: Some("Entry added.".into()), ..WriteResult::default() };
        let refused =
            WriteResult { error: Some("too full".into()), matches: Some(vec!["a".into()]), ..WriteResult::default() };
        let result = ApproveResult { approved: vec![decided("1", done)], failed: vec![decided("2", refused)] };
        assert_eq!(
            approved(&Common::default(), &result),
            "1 done: Entry added.\n2 failed: refused: too full\n         could be: a"
        );
        let nothing = ApproveResult { approved: vec![], failed: vec![] };
        assert_eq!(approved(&Common::default(), &nothing), "nothing waited for approval");
    }
}
