//! The revision of a store across restarts: a counter beside the hash of the
//! text that it counts. A text with another hash was written by somebody else,
//! or by a daemon that was killed before it could count; either way it is the
//! next revision.

use std::path::Path;
use std::time::{Duration, SystemTime};

use herma_disk::DiskError;
use herma_disk::file::{self, Temporary};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// Largest file that is read, in bytes.
const LIMIT: u64 = 4096;

const TEMPORARY: Temporary = Temporary { prefix: ".revision_", suffix: ".tmp" };

/// What is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Revision {
    /// The counter.
    pub revision: u64,
    /// Hex SHA-256 of the store's text at this revision; empty when there was
    /// no file.
    pub sha256: String,
}

impl Revision {
    /// The revision of `text`, given what was recorded last.
    pub(crate) fn following(recorded: Option<Self>, text: &str) -> Self {
        let sha256 = hash(text);
        match recorded {
            None => Self { revision: 0, sha256 },
            Some(recorded) if recorded.sha256 == sha256 => recorded,
            Some(recorded) => Self { revision: recorded.revision + 1, sha256 },
        }
    }

    pub(crate) fn load(path: &Path) -> Result<Option<Self>, DiskError> {
        let Some((text, _)) = file::read_text(path, LIMIT)? else { return Ok(None) };
        serde_json::from_str(&text).map(Some).map_err(|error| DiskError {
            operation: "read the revision in",
            path: path.to_owned(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        })
    }

    pub(crate) fn save(&self, path: &Path) -> Result<(), DiskError> {
        let text = format!("{{\"revision\":{},\"sha256\":\"{}\"}}\n", self.revision, self.sha256);
        file::replace(path, text.as_bytes(), TEMPORARY).map(drop)
    }
}

/// Removes what a killed process left beside the revisions.
pub(crate) fn sweep(folder: &Path, age: Duration) -> Result<(), DiskError> {
    herma_disk::folder::sweep(folder, TEMPORARY.prefix, TEMPORARY.suffix, age, SystemTime::now()).map(drop)
}

pub(crate) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
