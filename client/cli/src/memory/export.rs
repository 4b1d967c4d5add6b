//! `herma memory export`.

use clap::ValueEnum;
use herma_base::{CliContext, Failure, out};
use herma_client::protocol::memory::{ListParams, StoreView};
use serde::{Deserialize, Serialize};

use super::{Store, entries, view};

/// The format of an exported file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A JSON object with both stores
    Json,
    /// The plain file of one store
    Md,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Entries are printed as they are, those that the guard blocks too. `herma memory import` reads both formats.\n\nExamples:\n  herma memory export > stores.json\n  herma memory export user --format md > USER.md"
)]
pub(crate) struct Arguments {
    /// One store; both when left out
    #[arg(required_if_eq("format", "md"))]
    store: Option<Store>,
    /// The format
    #[arg(long, value_enum, default_value = "json")]
    format: Format,
}

/// The JSON file. An import leaves a store alone if the file doesn't name it.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct File {
    /// MEMORY.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) memory: Option<Stored>,
    /// USER.md.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user: Option<Stored>,
}

/// One store in the JSON file.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stored {
    /// The entries, unchanged.
    pub(super) entries: Vec<String>,
    /// The exported revision. An import ignores it.
    #[serde(default)]
    pub(super) revision: u64,
}

impl From<StoreView> for Stored {
    fn from(view: StoreView) -> Self {
        Self { entries: view.entries, revision: view.revision }
    }
}

pub(super) fn run(context: &CliContext<'_>, arguments: &Arguments) -> Result<(), Failure> {
    let params = ListParams { target: arguments.store.map(Into::into), raw: Some(true) };
    let result = view::ask(context, &mut context.connect()?, params)?;
    match arguments.format {
        Format::Json => out::json(&File { memory: result.memory.map(Into::into), user: result.user.map(Into::into) }),
        Format::Md => match result.memory.or(result.user) {
            Some(view) if !view.entries.is_empty() => out::page(&entries::join(&view.entries)),
            _ => Ok(()),
        },
    }
}
