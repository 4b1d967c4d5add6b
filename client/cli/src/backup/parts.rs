//! What a backup has, in the order in which it is read.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The conversations, which SQLite itself copies.
pub(super) const ARCHIVE: &str = "herma/archive.db";

/// The folders of a home that are herma's alone, and those of each profile. The rest of a home may be an agent's.
pub(super) const OWNED: [&str; 3] = ["herma", "memories", "pending"];

/// The folder with the other profiles.
pub(super) const PROFILES: &str = "profiles";

/// The parts that are read before the conversations. What a write goes through comes before where it arrives, so a write
/// that moves on meanwhile is in one of both: journals before stores, waiting writes before the stores that they change,
/// the log of appends before the conversations. What hooks and imports have sent comes before the conversations as well:
/// notes that are older than these send something twice, and newer ones would leave it out.
const BEFORE: [&str; 8] = [
    "herma/journal",
    "pending",
    "memories",
    "herma/files",
    "herma/config.toml",
    "herma/imports",
    "herma/clients",
    "herma/archive.db-appends",
];

/// The parts after them: outputs that conversations name, and what waits for other hosts.
const AFTER: [&str; 6] =
    ["herma/outputs", "herma/outputs.jsonl", "herma/shared.json", "herma/queue", "herma/setup.json", "herma/bin"];

/// A deeper tree than a home has.
const DEPTH: usize = 40;

/// Returns the parts before the conversations, those of each profile among them.
pub(super) fn before(home: &Path) -> io::Result<Vec<PathBuf>> {
    let mut parts: Vec<PathBuf> = BEFORE.iter().map(PathBuf::from).collect();
    let profiles = names(&home.join(PROFILES))?;
    // Waiting writes of all profiles come before their stores, as above.
    let of = |folder: &str| profiles.iter().map(|name| Path::new(PROFILES).join(name).join(folder)).collect::<Vec<_>>();
    parts.splice(1..1, of("pending"));
    parts.extend(of("memories"));
    Ok(parts)
}

/// Returns the parts after the conversations.
pub(super) fn after() -> Vec<PathBuf> {
    AFTER.iter().map(PathBuf::from).collect()
}

/// The files of a part.
#[derive(Debug, Default)]
pub(super) struct Listing {
    pub(super) files: BTreeSet<PathBuf>,
    /// Whether a file was renamed or removed while its folder was listed. Then files may be missing.
    pub(super) has_gaps: bool,
}

/// Returns the files of a part, sorted, as they are now. Links are followed. Sockets are left out, and so is what a
/// program writes before it gives it its name.
pub(super) fn list(home: &Path, part: &Path) -> io::Result<Listing> {
    let mut listing = Listing::default();
    if home.join(part).symlink_metadata().is_ok() {
        look(home, part, 0, &mut listing)?;
    }
    Ok(listing)
}

fn look(home: &Path, part: &Path, depth: usize, listing: &mut Listing) -> io::Result<()> {
    let path = home.join(part);
    let kind = match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // A link to nothing stays one.
            listing.has_gaps |= !path.is_symlink() && !is_draft(part);
            return Ok(());
        }
        kind => kind?.file_type(),
    };
    if kind.is_file() && !is_draft(part) {
        listing.files.insert(part.to_owned());
    }
    if !kind.is_dir() {
        return Ok(());
    }
    if depth == DEPTH {
        return Err(io::Error::other("its folders are too deep, or a link leads back into them"));
    }
    for name in names(&path)? {
        look(home, &part.join(name), depth + 1, listing)?;
    }
    listing.has_gaps |= !path.exists();
    Ok(())
}

/// Returns the names in a folder; none if it is missing.
fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => Ok(Vec::new()),
        entries => entries?.map(|entry| entry.map(|entry| entry.file_name())).collect(),
    }
}

/// Returns whether a file is what herma writes before it gives it its name. Names of a user's own files are not hidden.
fn is_draft(part: &Path) -> bool {
    let name = part.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.starts_with(".herma.") || name.starts_with('.') && name.ends_with(".tmp")
}
