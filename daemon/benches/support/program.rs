//! Finds the program `hermad`, which another package builds.

use std::path::PathBuf;

/// Returns the program of the current profile. `cargo bench` puts benches into a folder below it.
pub(crate) fn hermad() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let found = own.ancestors().skip(1).take(3).map(|folder| folder.join("hermad")).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("there is no hermad beside {}; run `cargo build --release` first", own.display()))
}
