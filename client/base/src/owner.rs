//! Checks who owns a home: files that root creates in another user's home lock that user out.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::Failure;

/// The variable that allows another user's home, the same as in the daemon.
const FOREIGN: &str = "HERMA_FOREIGN_HOME";

/// Checks that the home, and the folder `herma` in it or the target of that link, belong to this user or to root.
///
/// # Errors
/// One of them belongs to another user.
pub fn check(home: &Path) -> Result<(), Failure> {
    let own = rustix::process::geteuid().as_raw();
    if std::env::var_os(FOREIGN).is_some_and(|allowed| allowed == "1") {
        return Ok(());
    }
    let nearest = home.ancestors().find_map(|folder| Some((folder, std::fs::metadata(folder).ok()?.uid())));
    let inner = home.join("herma");
    let link = std::fs::symlink_metadata(&inner).ok().map(|found| (inner.as_path(), found.uid()));
    let target = std::fs::metadata(&inner).ok().map(|found| (inner.as_path(), found.uid()));
    let foreign = [nearest, link, target].into_iter().flatten().find(|(_, owner)| *owner != own && *owner != 0);
    let Some((folder, owner)) = foreign else { return Ok(()) };
    let words = format!("{} belongs to user {owner}; run herma as that user (sudo -u '#{owner}' …)", folder.display());
    Err(Failure::File(words))
}
