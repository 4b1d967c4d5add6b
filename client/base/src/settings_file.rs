//! A settings file. Before herma changes a file of another program, it copies the file.

use std::fs::Metadata;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use herma_disk::file::{self, Created};
pub use herma_disk::user_file::remove_drafts;
use herma_disk::user_file::{self, Draft};

use crate::Failure;
use crate::diff::{DiffTag, changes};

/// The most bytes of a file that are read. A configuration is much smaller.
const LIMIT: u64 = 8 << 20;

/// A settings file as it was read. A missing file is empty.
#[derive(Debug)]
pub struct SettingsFile {
    /// The path of the file, with links resolved.
    pub path: PathBuf,
    /// The content when it was read.
    pub text: String,
    found: Option<Metadata>,
}

impl SettingsFile {
    /// Reads a file.
    pub fn read(named: &Path) -> Result<Self, String> {
        let path = match std::fs::canonicalize(named) {
            Ok(path) => path,
            Err(error) if error.kind() == ErrorKind::NotFound && named.is_symlink() => {
                return Err("it is a dangling symlink".into());
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

    /// Writes a new text with the file's mode and owner. Returns the path of the copy of the old text, or `None` for a
    /// new file.
    ///
    /// # Errors
    /// Another program changed the file since it was read, or a step failed. Then the file is unchanged.
    pub fn write(&self, text: &str) -> Result<Option<PathBuf>, Failure> {
        let Some(found) = &self.found else {
            user_file::create_folder(self.path.parent().unwrap_or_else(|| Path::new("/")))?;
            return match Draft::private(&self.path)?.write(text.as_bytes())?.place(false)? {
                Created::New => Ok(None),
                Created::Exists => Err(self.changed("nothing was written")),
            };
        };
        let backup = user_file::back_up(self.text.as_bytes(), found, backups(&self.path))?;
        let written = self.put(found, text);
        if written.is_err() && self.read_again().is_ok_and(|now| now == self.text.as_bytes()) {
            // The file is as it was, so its copy is of no use.
            drop(file::remove(&backup));
        }
        written.map(|()| Some(backup))
    }

    /// Puts a new text in the place of the old one, unless that changed.
    fn put(&self, found: &Metadata, text: &str) -> Result<(), Failure> {
        let draft = Draft::like(&self.path, found)?.write(text.as_bytes())?;
        draft.sync()?;
        if !self.is_same(found)? {
            return Err(self.changed("nothing was written"));
        }
        draft.place(true)?;
        Ok(())
    }

    /// Returns the path that a copy of the old text would get; `None` for a new file.
    #[must_use]
    pub fn planned_copy(&self) -> Option<PathBuf> {
        self.found.as_ref()?;
        backups(&self.path).find(|path| std::fs::symlink_metadata(path).is_err())
    }

    /// Returns whether the file existed when it was read.
    #[must_use]
    pub const fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// Writes a text without a copy of the old one, for a file that herma itself wrote.
    ///
    /// # Errors
    /// A step failed. Then the file is unchanged.
    pub fn replace(&self, text: &str) -> Result<(), Failure> {
        user_file::create_folder(self.path.parent().unwrap_or_else(|| Path::new("/")))?;
        let draft = match &self.found {
            Some(found) => Draft::like(&self.path, found)?,
            None => Draft::private(&self.path)?,
        };
        draft.write(text.as_bytes())?.place(true)?;
        Ok(())
    }

    /// Removes the file.
    ///
    /// # Errors
    /// Another program changed the file since it was read, or it can't be removed.
    pub fn remove(&self) -> Result<(), Failure> {
        if self.read_again()? != self.text.as_bytes() {
            return Err(self.changed("it was left alone"));
        }
        Ok(file::remove(&self.path)?)
    }

    /// Returns whether the file is unchanged since it was read.
    fn is_same(&self, found: &Metadata) -> Result<bool, Failure> {
        let is_same = std::fs::metadata(&self.path).is_ok_and(|now| {
            (now.mtime(), now.mtime_nsec(), now.ino()) == (found.mtime(), found.mtime_nsec(), found.ino())
        });
        Ok(is_same && self.read_again()? == self.text.as_bytes())
    }

    fn read_again(&self) -> Result<Vec<u8>, Failure> {
        std::fs::read(&self.path).map_err(|error| Failure::File(format!("{}: {error}", self.path.display())))
    }

    fn changed(&self, consequence: &str) -> Failure {
        Failure::File(format!("{}: another program changed it just now; {consequence}", self.path.display()))
    }
}

/// Returns the names for copies of a file: `.bak`, `.bak.1` and so on.
pub fn backups(path: &Path) -> impl Iterator<Item = PathBuf> {
    let named = |ending: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    std::iter::once(named(".bak".into())).chain((1..10_000).map(move |number| named(format!(".bak.{number}"))))
}

/// Returns the lines that differ: removed ones after `-`, new ones after `+`. Before each group is the number of its
/// first line in the new text.
pub fn diff(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let mut text = String::new();
    for change in changes(&old, &new) {
        if change.tag() == DiffTag::Equal {
            continue;
        }
        text.push_str(&format!("@@ line {}\n", change.new_range().start + 1));
        old[change.old_range()].iter().for_each(|line| text.push_str(&format!("-{line}\n")));
        new[change.new_range()].iter().for_each(|line| text.push_str(&format!("+{line}\n")));
    }
    text
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests put files there as other programs do")]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

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
