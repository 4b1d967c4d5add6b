//! Cache files: they can be rebuilt, so they are replaced atomically but not synced.

use std::path::Path;

use crate::DiskError;
use crate::error::At;
use crate::file::{self, Temporary};

/// Replaces the file with `content`, without making that durable. After a power cut the file may be
/// missing, empty or the old one, so a reader must be able to detect that.
///
/// # Errors
/// Any failed step; the file is then unchanged.
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
