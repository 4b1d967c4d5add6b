//! Files that can be made again from others: whole or not there, but not synced.

use std::path::Path;

use crate::DiskError;
use crate::error::At;
use crate::file::{self, Temporary};

/// Puts `content` in the place of the file without making that durable: after a power
/// cut it may be gone, empty or the old one, so its reader must be able to tell.
///
/// # Errors
/// Whatever step failed; the file is as it was then.
pub fn put(path: &Path, content: &[u8], temporary: Temporary) -> Result<(), DiskError> {
    use std::io::Write;
    let mut file = file::new_temporary(file::parent(path), temporary)?;
    file.write_all(content).at("write", path)?;
    file.persist(path).map(drop).map_err(|error| error.error).at("rename over", path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn the_file_is_replaced_and_nothing_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for content in ["one", "two"] {
            put(&path, content.as_bytes(), Temporary { prefix: ".t", suffix: "" }).unwrap();
            assert!(file::holds(&path, content.as_bytes()).unwrap());
        }
        assert_eq!(crate::folder::names(folder.path()).unwrap(), ["a"]);
    }
}
