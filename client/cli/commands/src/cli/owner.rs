//! Whose a home is: what root makes in somebody else's locks its owner out.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::exit::Failure;

/// The variable by which a home of another user is allowed, as the daemon has it.
const FOREIGN: &str = "HERMA_FOREIGN_HOME";

/// Refuses to make files in a home of another user.
///
/// # Errors
/// It is one.
pub(super) fn check(home: &Path) -> Result<(), Failure> {
    let own = rustix::process::geteuid().as_raw();
    let nearest = home.ancestors().find_map(|folder| std::fs::metadata(folder).ok());
    let owner = nearest.map_or(own, |found| found.uid());
    let is_allowed = owner == own || owner == 0 || std::env::var_os(FOREIGN).is_some_and(|allowed| allowed == "1");
    if is_allowed {
        return Ok(());
    }
    let words = format!("{} belongs to user {owner}; run herma as that user (sudo -u '#{owner}' …)", home.display());
    Err(Failure::File(words))
}
