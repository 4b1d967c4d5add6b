//! Export and import of a whole shared space, through standard output and input, for `herma shared export` and
//! `import`.

use std::io::{BufWriter, Write};

use anyhow::Context;
use serde_json::json;

use crate::config::Config;
use crate::owners::sharing;

/// The number of rows between two progress messages.
const STEP: u64 = 10_000;

/// Writes the whole shared space of the configuration to standard output.
pub(crate) fn export(config: &Config) -> anyhow::Result<()> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    let mut progress = Progress::new();
    let write = |line: &str| {
        progress.one_more();
        out.write_all(line.as_bytes())?;
        out.write_all(b"\n")
    };
    runtime()?.block_on(database(config)?.export(write))?;
    out.flush().context("standard output")?;
    Ok(())
}

/// Imports the output of [`export`] into the shared space, and prints the number of rows of each table.
pub(crate) fn import(config: &Config) -> anyhow::Result<()> {
    let mut progress = Progress::new();
    let counts = runtime()?.block_on(database(config)?.import(std::io::stdin().lock(), |rows| progress.are(rows)))?;
    writeln!(std::io::stdout(), "{}", json!({ "rows": counts })).context("standard output")
}

fn database(config: &Config) -> anyhow::Result<std::sync::Arc<herma_shared::Database>> {
    let shared =
        config.shared.as_ref().context("nothing is shared: the configuration has no [shared] (see docs/sharing.md)")?;
    sharing::database(shared).map_err(anyhow::Error::msg)
}

fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().context("no runtime")
}

/// The progress, printed over and over at the start of the same line.
struct Progress {
    rows: u64,
    told: u64,
}

impl Progress {
    fn new() -> Self {
        Self { rows: 0, told: 0 }
    }

    fn one_more(&mut self) {
        self.are(self.rows + 1);
    }

    fn are(&mut self, rows: u64) {
        self.rows = rows;
        if rows >= self.told + STEP {
            self.told = rows;
            drop(write!(std::io::stderr(), "\r{rows} rows"));
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.told > 0 {
            drop(write!(std::io::stderr(), "\r\n"));
        }
    }
}
