//! Files of the user and of other programs.

use std::path::Path;

use crate::Failure;

pub use herma_disk::file::{Created, remove, rename};
pub use herma_disk::user_file::{Draft, back_up, copy, create, create_folder, exchange, open, remove_tree};

/// Writes a file atomically. Missing parent folders are created.
///
/// # Errors
/// It can't be written. Then it keeps its old content.
pub fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    Ok(herma_disk::user_file::write(path, content.as_ref())?)
}
