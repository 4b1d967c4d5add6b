//! `herma shared export` and `herma shared import`. The daemon's program does the work, because it can reach the
//! database.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use herma_base::user_file::{Created, Draft};
use herma_base::{CliContext, Failure, out};
use serde::{Deserialize, Serialize};

use crate::config;

/// The bytes at the end of an export that are searched for its last line.
const TAIL: u64 = 4_096;

/// The name for standard input or output.
const STANDARD: &str = "-";

#[derive(Debug, clap::Args)]
pub(crate) struct Export {
    /// The file to write; standard output when left out or `-`
    file: Option<PathBuf>,
    /// Replace an existing file
    #[arg(long)]
    force: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// A file that `herma shared export` wrote; `-` for standard input
    file: PathBuf,
}

/// The number of rows of each table.
#[derive(Debug, Serialize, Deserialize)]
struct Rows {
    rows: BTreeMap<String, u64>,
}

pub(super) fn export(context: &CliContext<'_>, arguments: &Export) -> Result<(), Failure> {
    let Some(path) = arguments.file.as_ref().filter(|path| *path != Path::new(STANDARD)) else {
        return config::run_daemon(context, &["--shared-export"], Stdio::null(), Stdio::inherit()).map(drop);
    };
    let failed = |error: std::io::Error| Failure::File(format!("{}: {error}", path.display()));
    if path.exists() && !arguments.force {
        return Err(taken(path));
    }
    let mut draft = Draft::private(path)?;
    let handle = draft.file().try_clone().map_err(failed)?;
    config::run_daemon(context, &["--shared-export"], Stdio::null(), handle.into())?;
    let rows = last(draft.file()).map_err(failed)?;
    if draft.place(arguments.force)? == Created::Exists {
        return Err(taken(path));
    }
    out::show(context.common, &rows, |rows| format!("written: {}\n{}", path.display(), table(rows)))
}

fn taken(path: &Path) -> Failure {
    Failure::File(format!("{} exists; --force overwrites it", path.display()))
}

pub(super) fn import(context: &CliContext<'_>, arguments: &Import) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::File(format!("{}: {error}", arguments.file.display()));
    let input = if arguments.file == Path::new(STANDARD) {
        Stdio::inherit()
    } else {
        File::open(&arguments.file).map_err(failed)?.into()
    };
    let said = config::run_daemon(context, &["--shared-import"], input, Stdio::piped())?;
    let rows: Rows = serde_json::from_str(&said)
        .map_err(|error| Failure::File(format!("what was imported is not known: {error}")))?;
    out::show(context.common, &rows, |rows| format!("imported\n{}", table(rows)))
}

/// Returns the last line of an export, which has its numbers of rows.
fn last(file: &mut File) -> std::io::Result<Rows> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    BufReader::new(file).take(TAIL).read_to_end(&mut tail)?;
    let line = tail.lines().map_while(Result::ok).last().unwrap_or_default();
    serde_json::from_str(&line).map_err(std::io::Error::other)
}

fn table(rows: &Rows) -> String {
    let rows: Vec<[String; 2]> = rows.rows.iter().map(|(name, count)| [name.clone(), out::thousands(*count)]).collect();
    out::table(["table", "rows"], &rows)
}
