//! Files that a command leaves behind for others: of the user, of an agent, of a service manager.
#![expect(clippy::disallowed_methods, reason = "they are not the daemon's, and the client does not know its disk")]

use std::fs::Permissions;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::Failure;

/// Puts a text into a file that is there whole or not at all, as anybody's file may be read.
/// Folders above it are made.
pub fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let write = || -> io::Result<()> {
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        file.persist(path)?;
        Ok(())
    };
    write().map_err(|error| Failure::File(format!("{}: {error}", path.display())))
}
