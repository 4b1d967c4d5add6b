//! `herma memory …`.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use herma_client::protocol::Json;
use herma_client::protocol::memory::{
    AddParams, BatchParams, ListParams, ListResult, Operation, RemoveParams, ReplaceParams, SchemaParams, StoreView,
    Target, ToolParams, WriteResult,
};

use super::exit::Failure;
use super::{Session, out};

/// Which store.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(super) enum Store {
    /// MEMORY.md: the agent's own notes
    Memory,
    /// USER.md: who the user is
    User,
}

impl From<Store> for Target {
    fn from(store: Store) -> Self {
        match store {
            Store::Memory => Self::Memory,
            Store::User => Self::User,
        }
    }
}

/// What every write takes.
#[derive(Debug, clap::Args)]
pub(super) struct Writing {
    /// Refuse unless the store is at this revision
    #[arg(long, value_name = "REVISION")]
    expected_revision: Option<u64>,
    /// Who writes
    #[arg(long, value_name = "NAME", default_value = "cli")]
    agent: String,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// List the entries
    #[command(
        after_help = "Examples:\n  herma memory list\n  herma memory list user --json\n  herma memory list memory --raw"
    )]
    List {
        /// One store; both when left out
        store: Option<Store>,
        /// Show entries that the guard blocks as they are
        #[arg(long)]
        raw: bool,
    },
    /// Add an entry
    #[command(after_help = "Example:\n  herma memory add user \"prefers metric units\"")]
    Add {
        /// The store
        store: Store,
        /// The entry
        content: String,
        #[command(flatten)]
        writing: Writing,
    },
    /// Put another text in an entry's place
    #[command(after_help = "Example:\n  herma memory replace user metric \"prefers imperial units\"")]
    Replace {
        /// The store
        store: Store,
        /// The entry, or a part of it that no other entry has
        old_text: String,
        /// The new text
        content: String,
        /// Go ahead although an entry is longer than the whole limit
        #[arg(long)]
        allow_drift: bool,
        #[command(flatten)]
        writing: Writing,
    },
    /// Take an entry out
    #[command(after_help = "Example:\n  herma memory remove user imperial")]
    Remove {
        /// The store
        store: Store,
        /// The entry, or a part of it that no other entry has
        old_text: String,
        /// Go ahead although an entry is longer than the whole limit
        #[arg(long)]
        allow_drift: bool,
        #[command(flatten)]
        writing: Writing,
    },
    /// Apply several operations, all or none
    #[command(
        after_help = "Example:\n  echo '[{\"action\":\"remove\",\"old_text\":\"old\"},{\"action\":\"add\",\"content\":\"new\"}]' | herma memory batch memory -"
    )]
    Batch {
        /// The store
        store: Store,
        /// A file with a JSON list of operations; - for standard input
        file: PathBuf,
        /// The operations may leave the store empty
        #[arg(long)]
        allow_empty: bool,
        /// Go ahead although an entry is longer than the whole limit
        #[arg(long)]
        allow_drift: bool,
        #[command(flatten)]
        writing: Writing,
    },
    /// Do what a model's function call says
    #[command(
        after_help = "Example:\n  herma memory tool '{\"action\":\"add\",\"target\":\"user\",\"content\":\"likes tea\"}'"
    )]
    Tool {
        /// The arguments that the model gave, as JSON
        arguments: String,
    },
    /// Print the tool's function schema and the paragraph for the system prompt
    Schema,
}

pub(super) fn run(session: &Session<'_>, command: &Command) -> Result<(), Failure> {
    let mut client = session.connect()?;
    let result = match command {
        Command::List { store, raw } => {
            let result = client.memory_list(ListParams { target: store.map(Into::into), raw: Some(*raw) })?;
            return out::show(session.common, &result, list);
        }
        Command::Schema => {
            let result = client.memory_schema(SchemaParams {})?;
            return out::show(session.common, &result, |result| {
                format!("{}\n\n{}", result.tool.get(), result.guidance)
            });
        }
        Command::Add { store, content, writing } => client.memory_add(AddParams {
            target: (*store).into(),
            content: content.clone(),
            session: None,
            agent: Some(writing.agent.clone()),
            expected_revision: writing.expected_revision,
        })?,
        Command::Replace { store, old_text, content, allow_drift, writing } => {
            client.memory_replace(ReplaceParams {
                target: (*store).into(),
                old_text: old_text.clone(),
                content: content.clone(),
                session: None,
                agent: Some(writing.agent.clone()),
                expected_revision: writing.expected_revision,
                allow_drift: Some(*allow_drift),
            })?
        }
        Command::Remove { store, old_text, allow_drift, writing } => client.memory_remove(RemoveParams {
            target: (*store).into(),
            old_text: old_text.clone(),
            session: None,
            agent: Some(writing.agent.clone()),
            expected_revision: writing.expected_revision,
            allow_drift: Some(*allow_drift),
        })?,
        Command::Batch { store, file, allow_empty, allow_drift, writing } => client.memory_batch(BatchParams {
            target: (*store).into(),
            operations: operations(file)?,
            allow_empty: Some(*allow_empty),
            session: None,
            agent: Some(writing.agent.clone()),
            expected_revision: writing.expected_revision,
            allow_drift: Some(*allow_drift),
        })?,
        Command::Tool { arguments } => {
            let arguments = Json::parse(arguments.clone()).map_err(|error| Failure::File(error.to_string()))?;
            client.memory_tool(ToolParams { arguments, session: None, agent: None })?
        }
    };
    out::show(session.common, &result, written)?;
    if result.success { Ok(()) } else { Err(Failure::Refused) }
}

fn operations(file: &std::path::Path) -> Result<Vec<Operation>, Failure> {
    let text = out::read_input(file)?;
    serde_json::from_str(&text).map_err(|error| Failure::File(format!("{}: {error}", file.display())))
}

fn list(result: &ListResult) -> String {
    let mut text = String::new();
    for (name, view) in [("MEMORY.md", &result.memory), ("USER.md", &result.user)] {
        if let Some(view) = view {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(&store(name, view));
        }
    }
    text
}

fn store(name: &str, view: &StoreView) -> String {
    let over = if view.over_limit { ", over its limit" } else { "" };
    let mut text = format!("{name}  [{}, revision {}{over}]\n", view.usage, view.revision);
    if view.entries.is_empty() {
        text.push_str("  (no entries)\n");
    }
    for (at, entry) in view.entries.iter().enumerate() {
        text.push_str(&format!("{:>3}. {}\n", at + 1, entry.replace('\n', "\n     ")));
    }
    text
}

fn written(result: &WriteResult) -> String {
    let mut lines = Vec::new();
    lines.extend(result.message.clone());
    lines.extend(result.error.as_ref().map(|error| format!("refused: {error}")));
    lines.extend(result.removed_entry.as_ref().map(|entry| format!("was: {entry}")));
    lines.extend(result.replaced_entry.as_ref().map(|entry| format!("was: {entry}")));
    for entry in result.matches.iter().flatten() {
        lines.push(format!("could be: {entry}"));
    }
    lines.extend(result.remediation.clone());
    if let (Some(usage), Some(revision)) = (&result.usage, result.revision) {
        lines.push(format!("{usage}, revision {revision}"));
    }
    lines.join("\n")
}
