//! What a backup has, in the order in which it is read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The conversations, which SQLite itself copies.
pub(super) const ARCHIVE: &str = "herma/archive.db";

/// The parts before the conversations. Journals come before the stores whose history they are, and the log of appends
/// before the conversations that it goes into: what is newer in a later part is found again, what is older is not.
const BEFORE: [&str; 8] = [
    "herma/journal",
    "memories",
    "profiles",
    "pending",
    "herma/files",
    "herma/config.toml",
    "herma/setup.json",
    "herma/archive.db-appends",
];

/// The parts after them.
const AFTER: [&str; 6] =
    ["herma/outputs", "herma/outputs.jsonl", "herma/queue", "herma/imports", "herma/clients", "herma/orphans"];

/// The folders of a profile that are herma's. The rest is the agent's.
const OF_PROFILE: [&str; 3] = ["memories", "pending", "herma"];

/// A deeper tree than a home has.
const DEPTH: usize = 12;

/// The files before and after the conversations, relative to the home.
pub(super) struct Parts {
    pub(super) before: Vec<PathBuf>,
    pub(super) after: Vec<PathBuf>,
}

impl Parts {
    /// Finds the files of a home. Links, sockets and what programs are writing at this moment are left out.
    pub(super) fn find(home: &Path) -> io::Result<Self> {
        let files = |parts: &[&str]| {
            let mut found = Vec::new();
            for part in parts {
                look(home, Path::new(part), 0, &mut found)?;
            }
            Ok::<_, io::Error>(found)
        };
        Ok(Self { before: files(&BEFORE)?, after: files(&AFTER)? })
    }
}

fn look(home: &Path, part: &Path, depth: usize, found: &mut Vec<PathBuf>) -> io::Result<()> {
    let path = home.join(part);
    let kind = match fs::symlink_metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        kind => kind?.file_type(),
    };
    if kind.is_file() {
        if !is_draft(part) {
            found.push(part.to_owned());
        }
        return Ok(());
    }
    if !kind.is_dir() || depth == DEPTH {
        return Ok(());
    }
    let mut names: Vec<_> =
        fs::read_dir(&path)?.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>()?;
    names.sort();
    for name in names {
        let is_foreign =
            part.parent() == Some(Path::new("profiles")) && !OF_PROFILE.iter().any(|own| name.to_str() == Some(own));
        if !is_foreign {
            look(home, &part.join(name), depth + 1, found)?;
        }
    }
    Ok(())
}

/// Returns whether a file is what a program writes before it gives it its name.
fn is_draft(part: &Path) -> bool {
    let name = part.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.ends_with(".tmp") || name.ends_with(".lock") || name.starts_with(".herma.")
}
