//! The common parts of writes, and the simple ones: add, replace, remove, batch and a model's call.

use std::path::{Path, PathBuf};

use herma_base::{CliContext, Common, Failure, out};
use herma_client::protocol::Json;
use herma_client::protocol::guard::Finding;
use herma_client::protocol::memory::{
    AddParams, BatchParams, HOST_BOUND, Operation, RemoveParams, ReplaceParams, ToolParams, WriteResult,
};

use super::{Store, named};

// The options of every write.
#[derive(Debug, clap::Args)]
pub(crate) struct Writing {
    /// Refuse unless the store is at this revision
    #[arg(long, value_name = "REVISION")]
    pub(super) expected_revision: Option<u64>,
    /// The name of the writer
    #[arg(long, value_name = "NAME", default_value = "cli")]
    pub(super) agent: String,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  herma memory add user \"prefers metric units\"\n  herma memory add --host-bound memory \"gcc 14 is in /opt/gcc\""
)]
pub(crate) struct Add {
    /// The store
    store: Store,
    /// The entry; - for standard input
    content: String,
    /// Bind the entry to this machine: it begins with [host-bound], and is never shared with other hosts
    #[arg(long)]
    host_bound: bool,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  herma memory replace user metric \"prefers imperial units\"")]
pub(crate) struct Replace {
    /// The store
    store: Store,
    /// The number of the entry in `herma memory list`, or a part of it that no other entry has
    #[arg(value_name = "ENTRY")]
    old_text: String,
    /// The new text; - for standard input
    content: String,
    /// Continue even if an entry is longer than the whole limit
    #[arg(long)]
    allow_drift: bool,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  herma memory remove user imperial\n  herma memory remove user 2")]
pub(crate) struct Remove {
    /// The store
    store: Store,
    /// The number of the entry in `herma memory list`, or a part of it that no other entry has
    #[arg(value_name = "ENTRY")]
    old_text: String,
    /// Continue even if an entry is longer than the whole limit
    #[arg(long)]
    allow_drift: bool,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  echo '[{\"action\":\"remove\",\"old_text\":\"old\"},{\"action\":\"add\",\"content\":\"new\"}]' | herma memory batch memory -"
)]
pub(crate) struct Batch {
    /// The store
    store: Store,
    /// A file with a JSON list of operations; - for standard input
    file: PathBuf,
    /// Allow operations that leave the store empty
    #[arg(long)]
    allow_empty: bool,
    /// Continue even if an entry is longer than the whole limit
    #[arg(long)]
    allow_drift: bool,
    #[command(flatten)]
    writing: Writing,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  herma memory tool '{\"action\":\"add\",\"target\":\"user\",\"content\":\"likes tea\"}'"
)]
pub(crate) struct Tool {
    /// The arguments of the model's call, as JSON
    arguments: String,
}

pub(super) fn add(context: &CliContext<'_>, arguments: &Add) -> Result<(), Failure> {
    let text = out::text_or_input(&arguments.content)?;
    let content = if arguments.host_bound && !text.trim().is_empty() && !text.starts_with(HOST_BOUND) {
        format!("{HOST_BOUND} {}", text.trim_start())
    } else {
        text
    };
    let params = AddParams {
        target: arguments.store.into(),
        content,
        session: None,
        agent: Some(arguments.writing.agent.clone()),
        expected_revision: arguments.writing.expected_revision,
    };
    conclude(context, &context.connect()?.memory_add(params)?)
}

pub(super) fn replace(context: &CliContext<'_>, arguments: &Replace) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let entry = named::resolve(context, &mut client, arguments.store.into(), &arguments.old_text)?;
    let params = ReplaceParams {
        target: arguments.store.into(),
        old_text: entry.old_text,
        content: out::text_or_input(&arguments.content)?,
        session: None,
        agent: Some(arguments.writing.agent.clone()),
        expected_revision: arguments.writing.expected_revision.or(entry.revision),
        allow_drift: Some(arguments.allow_drift),
    };
    conclude(context, &client.memory_replace(params)?)
}

pub(super) fn remove(context: &CliContext<'_>, arguments: &Remove) -> Result<(), Failure> {
    let mut client = context.connect()?;
    let entry = named::resolve(context, &mut client, arguments.store.into(), &arguments.old_text)?;
    let params = RemoveParams {
        target: arguments.store.into(),
        old_text: entry.old_text,
        session: None,
        agent: Some(arguments.writing.agent.clone()),
        expected_revision: arguments.writing.expected_revision.or(entry.revision),
        allow_drift: Some(arguments.allow_drift),
    };
    conclude(context, &client.memory_remove(params)?)
}

pub(super) fn batch(context: &CliContext<'_>, arguments: &Batch) -> Result<(), Failure> {
    let params = BatchParams {
        target: arguments.store.into(),
        operations: read_operations(&arguments.file)?,
        allow_empty: Some(arguments.allow_empty),
        session: None,
        agent: Some(arguments.writing.agent.clone()),
        expected_revision: arguments.writing.expected_revision,
        allow_drift: Some(arguments.allow_drift),
    };
    conclude(context, &context.connect()?.memory_batch(params)?)
}

pub(super) fn tool(context: &CliContext<'_>, arguments: &Tool) -> Result<(), Failure> {
    let arguments = Json::parse(arguments.arguments.clone()).map_err(|error| Failure::File(error.to_string()))?;
    conclude(context, &context.connect()?.memory_tool(ToolParams { arguments, session: None, agent: None })?)
}

fn read_operations(file: &Path) -> Result<Vec<Operation>, Failure> {
    let text = out::read_input(file)?;
    serde_json::from_str(&text)
        .map_err(|error| Failure::File(format!("{} is no JSON array of operations: {error}", file.display())))
}

/// Prints the result of a write. A refused write is an error.
pub(super) fn conclude(context: &CliContext<'_>, result: &WriteResult) -> Result<(), Failure> {
    out::show(context.common, result, |result| written(context.common, result))?;
    if result.success { Ok(()) } else { Err(Failure::Refused) }
}

/// Describes the result of a write.
pub(super) fn written(common: &Common, result: &WriteResult) -> String {
    let mut lines = Vec::new();
    lines.extend(result.message.clone());
    lines.extend(result.error.as_ref().map(|error| format!("refused: {error}")));
    lines.extend(result.removed_entry.as_ref().map(|entry| format!("was: {entry}")));
    lines.extend(result.replaced_entry.as_ref().map(|entry| format!("was: {entry}")));
    for entry in result.matches.iter().flatten() {
        lines.push(format!("could be: {entry}"));
    }
    lines.extend(result.remediation.clone());
    lines.extend(result.warnings.iter().flatten().map(warning));
    if let (Some(usage), Some(revision)) = (&result.usage, result.revision) {
        lines.push(format!("{usage}, revision {revision}"));
    }
    if let (Some(true), Some(id)) = (result.staged, &result.pending_id) {
        let approve = common.command(&format!("memory approve {id}"));
        lines.push(format!("it waits for approval as {id}: {approve}"));
    }
    if result.queued_id.is_some() {
        lines.push(format!("what waits for the shared database: {}", common.command("memory queued")));
    }
    lines.extend(waiting(common, result.pending_count));
    lines.join("\n")
}

fn warning(finding: &Finding) -> String {
    format!("warning: {} at chars {} to {}", finding.id, finding.start, finding.end)
}

/// Returns a note if writes wait for approval.
pub(super) fn waiting(common: &Common, count: Option<u64>) -> Option<String> {
    let count = count.filter(|count| *count > 0)?;
    let (writes, wait) = if count == 1 { ("write", "waits") } else { ("writes", "wait") };
    let look = common.command("memory pending");
    Some(format!("{} {writes} {wait} for approval: {look}", out::thousands(count)))
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::guard::Severity;

    use super::*;

    fn common(profile: Option<&str>) -> Common {
        Common { profile: profile.map(str::to_owned), ..Common::default() }
    }

    #[test]
    fn a_write_is_told_in_words() {
        let warning = Finding { id: "invisible".into(), start: 1, end: 2, folded: false, severity: Severity::Warn };
        for (result, expected) in [
            (
                WriteResult {
                    success: true,
                    message: Some("Entry added.".into()),
                    usage: Some("1% — 3/2,200 chars".into()),
                    revision: Some(4),
                    warnings: Some(vec![warning]),
                    ..WriteResult::default()
                },
                "Entry added.\nwarning: invisible at chars 1 to 2\n1% — 3/2,200 chars, revision 4",
            ),
            (
                WriteResult {
                    success: true,
                    message: Some("Staged.".into()),
                    staged: Some(true),
                    pending_id: Some("0a1b2c3d".into()),
                    pending_count: Some(2),
                    ..WriteResult::default()
                },
                "Staged.\nit waits for approval as 0a1b2c3d: herma memory approve 0a1b2c3d\n2 writes wait for approval: herma memory pending",
            ),
            (
                WriteResult {
                    error: Some("too full".into()),
                    matches: Some(vec!["a".into()]),
                    ..WriteResult::default()
                },
                "refused: too full\ncould be: a",
            ),
        ] {
            assert_eq!(written(&common(None), &result), expected);
        }
    }

    #[test]
    fn waiting_writes_are_counted_and_their_profile_named() {
        assert_eq!(waiting(&common(None), None), None);
        assert_eq!(waiting(&common(None), Some(0)), None);
        let words = waiting(&common(Some("work")), Some(1));
        assert_eq!(words.as_deref(), Some("1 write waits for approval: herma --profile work memory pending"));
    }
}
