//! The revision file of an earlier version, `<target>.revision.json`: a counter and the hash of the counted text. The
//! journal has replaced it. A new journal continues from that counter.

use std::path::Path;

use herma_disk::DiskError;
use herma_disk::file;
use serde::Deserialize;

use crate::hash::hash;

/// Largest file that is read, in bytes.
const LIMIT: u64 = 4096;

#[derive(Debug, Deserialize)]
struct Revision {
    revision: u64,
    sha256: String,
}

/// Returns a text's revision according to the counter next to `journal`, or 0 if there is no counter.
pub(crate) fn revision(journal: &Path, text: &str) -> Result<u64, DiskError> {
    let path = journal.with_extension("revision.json");
    let Some((recorded, _)) = file::read_text(&path, LIMIT)? else { return Ok(0) };
    match serde_json::from_str::<Revision>(&recorded) {
        Ok(recorded) if recorded.sha256 == hash(text) => Ok(recorded.revision),
        Ok(recorded) => Ok(recorded.revision + 1),
        Err(error) => Err(DiskError {
            operation: "read the revision in",
            path,
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        }),
    }
}
