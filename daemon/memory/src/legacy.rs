//! The revision of a store that an earlier version kept: a counter beside the hash
//! of the text that it counts, in `<target>.revision.json`. The journal has taken
//! its place; where there is none yet, it goes on from that counter.

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

/// The revision that a text has by the counter beside `journal`; 0 when there is
/// none.
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
