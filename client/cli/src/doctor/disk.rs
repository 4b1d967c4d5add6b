//! Folders, files and the free space on the disk.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use herma_base::out;

use super::{Finding, word};

/// With fewer free bytes, the next write may fail.
const VERY_LITTLE: u64 = 64 << 20;

/// The daemon's own files in its folder.
const FILES: [&str; 5] = ["archive.db", "archive.db-appends", "hermad.lock", "hermad.log", "outputs.jsonl"];

/// The permission bits of everybody except the owner.
const OTHERS: u32 = 0o077;

/// Checks the home, the daemon's folder in it, and the files there.
pub(super) fn folders(home: &Path, socket: &Path) -> Vec<Finding> {
    let own = home.join("herma");
    let mut findings = Vec::new();
    match std::fs::metadata(home) {
        Ok(found) if !found.is_dir() => {
            findings.push(Finding::error("home", format!("{} is no folder", home.display()), "give another --home"));
        }
        Ok(found) => findings.push(if is_own(&found) {
            Finding::ok("home", home.display().to_string())
        } else {
            Finding::error(
                "home",
                format!("{} belongs to user {}", home.display(), found.uid()),
                "use a home of your own, or run as its owner",
            )
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            findings.push(Finding::ok("home", format!("{} will be made when it is needed", home.display())));
        }
        Err(error) => findings.push(Finding::error("home", format!("{}: {error}", home.display()), "make it readable")),
    }
    findings.extend(private("folder", &own, 0o700));
    findings.extend(private("socket", socket, 0o600));
    findings.extend(private("configuration", &own.join("config.toml"), 0o600));
    findings.extend(FILES.iter().filter_map(|name| regular(&own.join(name))));
    findings
}

/// Checks that a file of the daemon is a regular file, not a link, a pipe or a folder.
fn regular(path: &Path) -> Option<Finding> {
    let found = std::fs::symlink_metadata(path).ok().filter(|found| !found.is_file())?;
    let what = if found.is_symlink() { "a link" } else { "no regular file" };
    let advice = format!("look who put it there, then mv {} somewhere else", word(path));
    Some(Finding::error("file", format!("{} is {what}, and is not used", path.display()), advice))
}

/// Checks that only this user can use a path. Returns `None` if it doesn't exist.
fn private(check: &'static str, path: &Path, mode: u32) -> Option<Finding> {
    let found = std::fs::metadata(path).ok()?;
    let others = found.mode() & OTHERS;
    let words = format!("{}, mode {:o}", path.display(), found.mode() & 0o777);
    Some(match (others, is_own(&found)) {
        (_, false) => Finding::error(check, format!("{words}, of user {}", found.uid()), "make it your own"),
        (0, true) => Finding::ok(check, words),
        (_, true) => {
            Finding::warning(check, format!("{words}: others can use it"), format!("chmod {mode:o} {}", word(path)))
        }
    })
}

/// Checks that others can't read a file with a secret. If root owns the file, its group may read it.
pub(super) fn secret(check: &'static str, path: &Path) -> Finding {
    match std::fs::metadata(path) {
        Err(error) => Finding::error(check, format!("{}: {error}", path.display()), "correct its path or its rights"),
        Ok(found) => {
            let others = if found.uid() == 0 { 0o007 } else { OTHERS };
            let words = format!("{}, mode {:o}", path.display(), found.mode() & 0o777);
            match found.mode() & others {
                0 => Finding::ok(check, words),
                _ => Finding::warning(
                    check,
                    format!("{words}: others can read it"),
                    format!("chmod 600 {}, and change what is in it", word(path)),
                ),
            }
        }
    }
}

fn is_own(found: &std::fs::Metadata) -> bool {
    found.uid() == rustix::process::geteuid().as_raw()
}

/// Checks the free space on the home's disk against the space that outputs may still take.
pub(super) fn space(home: &Path, needed: Option<u64>, findings: &mut Vec<Finding>) {
    let nearest = home.ancestors().find(|folder| folder.is_dir());
    let Some(system) = nearest.and_then(|folder| rustix::fs::statvfs(folder).ok()) else { return };
    findings.push(judged(system.f_bavail.saturating_mul(system.f_frsize), needed.unwrap_or_default()));
}

fn judged(free: u64, needed: u64) -> Finding {
    let words = format!("{} free", out::size(free));
    if free < VERY_LITTLE {
        return Finding::error("space", words, "make room: writes are refused when the disk is full");
    }
    if free < needed {
        let words = format!("{words}, less than the {} that outputs may still take", out::size(needed));
        return Finding::warning("space", words, "make room, or set output.quota lower");
    }
    Finding::ok("space", words)
}

#[cfg(test)]
mod tests {
    use super::super::Health;
    use super::*;

    #[test]
    fn little_room_is_told_before_it_is_none() {
        for (free, needed, state) in [
            (10 << 30, 2 << 30, Health::Ok),
            (1 << 30, 2 << 30, Health::Warning),
            (1 << 20, 0, Health::Error),
            (0, 0, Health::Error),
        ] {
            assert_eq!(judged(free, needed).state, state, "{free} {needed}");
        }
    }
}
