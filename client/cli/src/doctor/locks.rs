//! The holders of the home's locks.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::Finding;
use crate::orphans;

/// The file in which Linux lists the locks on files.
const LOCKS: &str = "/proc/locks";

/// How often the table is read for one lock. The table is read in pieces, and changes between two of them can hide a
/// line.
const LOOKS: usize = 20;

/// Returns the lock files of a home: the daemon's own, and those of the stores of each profile.
fn files(home: &Path) -> Vec<PathBuf> {
    let mut folders = vec![home.join("memories")];
    let profiles = std::fs::read_dir(home.join("profiles")).into_iter().flatten().flatten();
    folders.extend(profiles.map(|profile| profile.path().join("memories")));
    let stores = folders.iter().flat_map(|folder| ["MEMORY.md.lock", "USER.md.lock"].map(|name| folder.join(name)));
    std::iter::once(home.join("herma/hermad.lock")).chain(stores).filter(|path| path.exists()).collect()
}

/// Reports locks that another process than the daemon holds, and daemons without a lock.
pub(super) fn look(home: &Path, daemon: Option<u64>, findings: &mut Vec<Finding>) {
    findings.extend(orphans::find(home).into_iter().map(|pid| {
        let words = format!("the daemon {pid} serves this home too, but its lock file was removed");
        Finding::error("daemon", words, "herma daemon stop ends both; the next command starts a new one")
    }));
    if !Path::new(LOCKS).exists() {
        return;
    }
    let held: Vec<(PathBuf, u64)> = files(home)
        .into_iter()
        .filter(|path| is_held(path))
        .filter_map(|path| {
            let inode = std::fs::metadata(&path).ok()?.ino();
            (0..LOOKS).find_map(|_| holder(&std::fs::read_to_string(LOCKS).ok()?, inode)).map(|pid| (path, pid))
        })
        .collect();
    let mut others = held.iter().filter(|(_, pid)| Some(*pid) != daemon).peekable();
    if others.peek().is_none() {
        findings.push(Finding::ok("locks", format!("{} held, by the daemon", held.len())));
    }
    for (path, pid) in others {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        let words = format!("{} is held by process {pid} ({})", path.display(), name.trim());
        let remedy = "an agent that writes by itself holds it for a moment; if it stays, end that process";
        findings.push(Finding::warning("locks", words, remedy));
    }
}

/// Returns whether a process holds the lock of a file.
fn is_held(path: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(file) = rustix::fs::open(path, flags, Mode::empty()) else { return false };
    flock(&file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK)
}

/// Returns the process that holds the lock of a file. A line is like `1: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`.
fn holder(table: &str, inode: u64) -> Option<u64> {
    table.lines().find_map(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, "WRITE", pid, place, ..] = fields[..] else { return None };
        let own: u64 = place.rsplit(':').next()?.parse().ok()?;
        (own == inode).then(|| pid.parse().ok()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_writers_lock_of_the_very_file_counts() {
        let table = "1: POSIX  ADVISORY  READ 5 00:1:77 128 128\n\
                     2: FLOCK  ADVISORY  WRITE 4711 fe:00:77 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 4712 fe:00:77 0 EOF\n\
                     3: FLOCK  ADVISORY  READ 9 fe:00:78 0 EOF\n";
        assert_eq!(holder(table, 77), Some(4711));
        assert_eq!((holder(table, 78), holder(table, 7), holder("", 77)), (None, None, None));
    }
}
