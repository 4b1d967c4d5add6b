//! A file of settings of another program: it is never written without a copy of what was there.
#![expect(clippy::disallowed_methods, reason = "the file is the agent's, and the client does not know the disk")]

use std::fs::{Metadata, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Gid, Uid};
use tempfile::NamedTempFile;

use crate::Failure;

/// Bytes of a file that is read; a configuration has much less.
const LIMIT: u64 = 8 << 20;

/// Lines that are compared with each other; of longer parts all count as changed.
const COMPARED: usize = 4_000_000;

/// The file as it was read. One that is missing is empty.
#[derive(Debug)]
pub struct SettingsFile {
    /// Where it is, links followed.
    pub path: PathBuf,
    /// What it contains.
    pub text: String,
    found: Option<Metadata>,
}

impl SettingsFile {
    /// Reads a file.
    pub fn read(named: &Path) -> Result<Self, String> {
        let path = match std::fs::canonicalize(named) {
            Ok(path) => path,
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_symlink() => {
                return Err("it is a link to nothing".into());
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(Self { path: named.to_owned(), text: String::new(), found: None });
            }
            Err(error) => return Err(error.to_string()),
        };
        let found = std::fs::metadata(&path).map_err(|error| error.to_string())?;
        if found.len() > LIMIT {
            return Err("it is too long".into());
        }
        let text = std::fs::read_to_string(&path).map_err(|error| error.to_string())?;
        Ok(Self { path, text, found: Some(found) })
    }

    /// Writes another text, with the mode and the owner that the file had; gives the path of the
    /// copy of what was there.
    pub fn write(&self, text: &str) -> Result<Option<PathBuf>, Failure> {
        let failed = |error: std::io::Error| Failure::File(format!("{}: {error}", self.path.display()));
        let Some(found) = &self.found else {
            self.temporary(text).and_then(|file| Ok(file.persist_noclobber(&self.path)?)).map_err(failed)?;
            return Ok(None);
        };
        let backup = self.back_up().map_err(failed)?;
        let file = self.temporary(text).map_err(failed)?;
        let is_same = std::fs::metadata(&self.path).is_ok_and(|now| {
            (now.mtime(), now.mtime_nsec(), now.ino()) == (found.mtime(), found.mtime_nsec(), found.ino())
        });
        if !is_same || std::fs::read(&self.path).map_err(failed)? != self.text.as_bytes() {
            let words = "it was changed by somebody else just now; nothing was written";
            return Err(Failure::File(format!("{}: {words}", self.path.display())));
        }
        file.persist(&self.path).map_err(|error| failed(error.error))?;
        Ok(Some(backup))
    }

    /// Whether it was there.
    pub const fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// Puts a text in its place without a copy: it is one that herma itself wrote.
    pub fn replace(&self, text: &str) -> Result<(), Failure> {
        let written = self.temporary(text).and_then(|file| Ok(file.persist(&self.path)?));
        written.map(drop).map_err(|error| Failure::File(format!("{}: {error}", self.path.display())))
    }

    /// Takes it away, if it is still as it was read.
    pub fn remove(&self) -> Result<(), Failure> {
        let failed = |error: std::io::Error| Failure::File(format!("{}: {error}", self.path.display()));
        if std::fs::read(&self.path).map_err(failed)? != self.text.as_bytes() {
            let words = "it was changed by somebody else just now; it was left alone";
            return Err(Failure::File(format!("{}: {words}", self.path.display())));
        }
        std::fs::remove_file(&self.path).map_err(failed)
    }

    /// A copy of what was there under the first name that is not taken.
    fn back_up(&self) -> std::io::Result<PathBuf> {
        let mut copy = self.temporary(&self.text)?;
        for name in backups(&self.path) {
            match copy.persist_noclobber(&name) {
                Ok(_) => return Ok(name),
                Err(error) if error.error.kind() == ErrorKind::AlreadyExists => copy = error.file,
                Err(error) => return Err(error.error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    /// A text on the disk beside the file.
    fn temporary(&self, text: &str) -> std::io::Result<NamedTempFile> {
        let folder = self.path.parent().unwrap_or_else(|| Path::new("/"));
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::Builder::new().prefix(".herma.").tempfile_in(folder)?;
        if let Some(found) = &self.found {
            let own = file.as_file().metadata()?;
            if (own.uid(), own.gid()) != (found.uid(), found.gid()) {
                let (user, group) = (Uid::from_raw(found.uid()), Gid::from_raw(found.gid()));
                rustix::fs::fchown(file.as_file(), Some(user), Some(group))?;
            }
            file.as_file().set_permissions(Permissions::from_mode(found.mode() & 0o7777))?;
        }
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

/// Names for a copy of a file: `.bak`, `.bak.1` and so on.
pub fn backups(path: &Path) -> impl Iterator<Item = PathBuf> {
    let named = |ending: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    std::iter::once(named(".bak".into())).chain((1..10_000).map(move |number| named(format!(".bak.{number}"))))
}

/// The lines that differ, with - for what is gone, + for what is new and the number of the line
/// before each group.
pub fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let head = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[head..old.len() - tail], &new[head..new.len() - tail]);
    // The length of what both have from each pair of lines on; nothing for what is too long.
    let width = new.len() + 1;
    let is_compared = old.len().saturating_mul(new.len()) <= COMPARED;
    let mut common = vec![0_u32; if is_compared { (old.len() + 1) * width } else { 0 }];
    if is_compared {
        for at in (0..old.len()).rev() {
            for other in (0..new.len()).rev() {
                common[at * width + other] = match old[at] == new[other] {
                    true => common[(at + 1) * width + other + 1] + 1,
                    false => common[(at + 1) * width + other].max(common[at * width + other + 1]),
                };
            }
        }
    }
    let length = |at: usize, other: usize| common.get(at * width + other).copied().unwrap_or(0);
    let (mut at, mut other, mut text, mut is_apart) = (0, 0, String::new(), true);
    while at < old.len() || other < new.len() {
        if is_compared && at < old.len() && other < new.len() && old[at] == new[other] {
            (at, other, is_apart) = (at + 1, other + 1, true);
            continue;
        }
        if std::mem::take(&mut is_apart) {
            text.push_str(&format!("@@ line {}\n", head + other + 1));
        }
        if at < old.len() && (other == new.len() || length(at + 1, other) >= length(at, other + 1)) {
            text.push_str(&format!("-{}\n", old[at]));
            at += 1;
        } else {
            text.push_str(&format!("+{}\n", new[other]));
            other += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_the_lines_that_differ() {
        for (before, after, expected) in [
            ("a\nb\nc\n", "a\nx\nc\n", "@@ line 2\n-b\n+x\n"),
            ("", "a\nb\n", "@@ line 1\n+a\n+b\n"),
            ("a\nb\nc\nd\n", "b\nc\nc\ne\n", "@@ line 1\n-a\n@@ line 3\n-d\n+c\n+e\n"),
            ("a\n", "a\n", ""),
        ] {
            assert_eq!(diff(before, after), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn a_file_keeps_its_mode_and_what_was_there_is_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.yaml");
        let first = SettingsFile::read(&home.path().join("config.yaml")).unwrap();
        assert_eq!(first.write("a: 1\n").unwrap(), None);
        std::fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        for (number, name) in ["config.yaml.bak", "config.yaml.bak.1", "config.yaml.bak.2"].into_iter().enumerate() {
            let file = SettingsFile::read(&home.path().join("config.yaml")).unwrap();
            let backup = file.write(&format!("a: {}\n", number + 2)).unwrap().unwrap();
            assert_eq!(backup.file_name().unwrap(), name);
            assert_eq!(std::fs::read_to_string(&backup).unwrap(), file.text);
            for path in [&path, &backup] {
                assert_eq!(std::fs::metadata(path).unwrap().mode() & 0o777, 0o640, "{path:?}");
            }
        }
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.yaml");
        let none = SettingsFile::read(&home.path().join("config.yaml")).unwrap();
        std::fs::write(&path, "a: 1\n").unwrap();
        assert!(none.write("b: 1\n").is_err());
        let file = SettingsFile::read(&home.path().join("config.yaml")).unwrap();
        std::fs::write(&path, "a: 2\n").unwrap();
        assert!(file.write("b: 1\n").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a: 2\n");
    }

    #[test]
    fn a_link_stays_one() {
        let home = tempfile::tempdir().unwrap();
        std::fs::create_dir(home.path().join("dots")).unwrap();
        std::fs::write(home.path().join("dots/hermes.yaml"), "a: 1\n").unwrap();
        std::os::unix::fs::symlink("dots/hermes.yaml", home.path().join("config.yaml")).unwrap();
        let file = SettingsFile::read(&home.path().join("config.yaml")).unwrap();
        assert!(file.write("a: 2\n").unwrap().unwrap().ends_with("dots/hermes.yaml.bak"));
        assert!(home.path().join("config.yaml").is_symlink());
        assert_eq!(std::fs::read_to_string(home.path().join("dots/hermes.yaml")).unwrap(), "a: 2\n");
    }
}
