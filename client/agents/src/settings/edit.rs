//! An edit of one file. It can be shown, made with a copy of the old file, and undone.

use std::path::{Path, PathBuf};

use herma_base::Failure;
use herma_base::settings_file::{SettingsFile, backups, diff, remove_drafts};
use serde::Serialize;

/// The kind of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Settings of an agent in JSON.
    Json,
    /// Settings of an agent in TOML.
    Toml,
    /// A file of herma's own.
    Own,
}

/// A change of one file.
#[derive(Debug)]
pub struct Edit {
    file: SettingsFile,
    kind: Kind,
    /// The new content; `None` to remove the file.
    after: Option<String>,
    /// Adds herma's entries to a copy of the file.
    reinstall: Reinstall,
}

/// Adds herma's entries in the first text to the second one.
pub(crate) type Reinstall = fn(&str, &str) -> Result<String, String>;

/// Some editors write this at the beginning of a text.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The result of an edit.
#[derive(Debug, Serialize)]
pub(crate) struct EditResult {
    /// The file.
    pub(crate) path: PathBuf,
    /// The difference from the old content. Empty if nothing has to change.
    pub(crate) diff: String,
    /// The path of the copy of the old file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) backup: Option<PathBuf>,
    /// Whether the edit removes the file.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) removed: bool,
}

impl Edit {
    /// Creates an edit of a settings file. `change` returns the new text. [`Self::undone`] uses `reinstall`.
    pub(crate) fn of(
        path: &Path,
        kind: Kind,
        reinstall: Reinstall,
        change: impl FnOnce(&str) -> Result<String, String>,
    ) -> Result<Self, Failure> {
        let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
        let file = SettingsFile::read(path).map_err(failed)?;
        let after = after_mark(&file.text, change)
            .map_err(|words| failed(format!("{words}; nothing was written. Fix the file and run the command again")))?;
        Ok(Self { file, kind, after: Some(after), reinstall })
    }

    /// Creates an edit of a file of herma's own: `text` is its new content, or `None` to remove it. A file without
    /// `mark`, which all versions of herma write into it, is foreign. It is never removed, and replacing it is an
    /// error.
    pub(crate) fn own(path: &Path, text: Option<String>, mark: &str) -> Result<Self, Failure> {
        let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
        let file = SettingsFile::read(path).map_err(failed)?;
        let is_foreign = file.is_found() && !file.text.contains(mark);
        match text {
            Some(_) if is_foreign => Err(failed("it is not herma's; move it away and run the command again".into())),
            None if is_foreign => Ok(Self { after: Some(file.text.clone()), file, kind: Kind::Own, reinstall: keep }),
            text => Ok(Self { file, kind: Kind::Own, after: text, reinstall: keep }),
        }
    }

    /// Restores the copy from before the installation byte for byte, unless the file changed since. It is unchanged if
    /// installing herma into the copy gives the file. A copy that differs from the rest only in blanks is restored too.
    /// A file that herma created is removed.
    pub(crate) fn undone(mut self) -> Self {
        let Some(after) = self.after.take() else { return self };
        if after == self.file.text {
            self.after = Some(after);
            return self;
        }
        let now = self.file.text.as_str();
        let gives_now =
            |copy: &str| after_mark(copy, |copy| (self.reinstall)(unmarked(now), copy)).as_deref() == Ok(now);
        let is_like_after = |copy: &str| without_blanks(copy).eq(without_blanks(&after));
        let copies: Vec<PathBuf> = backups(&self.file.path).take_while(|path| path.exists()).collect();
        let texts = copies.iter().filter_map(|path| std::fs::read_to_string(path).ok());
        // A copy from between two installations has the entries of the first one.
        let texts: Vec<String> = texts.filter(|copy| self.is_without_herma(copy)).collect();
        let before =
            texts.iter().find(|copy| gives_now(copy)).or_else(|| texts.iter().find(|copy| is_like_after(copy)));
        let is_empty = after.trim().is_empty() || self.kind == Kind::Json && super::json::is_empty(unmarked(&after));
        let was_made = before.is_none() && is_empty && (copies.is_empty() || gives_now(""));
        self.after = before.cloned().or(Some(after)).filter(|_| !was_made);
        self
    }

    /// Returns whether nothing in a copy starts herma. A permission alone may be the user's own.
    fn is_without_herma(&self, copy: &str) -> bool {
        // What herma has in the copy, and nothing else.
        let entries = (self.reinstall)(unmarked(copy), "");
        self.kind == Kind::Own || entries.is_ok_and(|entries| !entries.contains("command"))
    }

    /// Removes herma's own folders that are now empty, and the folder of all plugins if herma's was the only one.
    pub(crate) fn clear_folders(&self) {
        let folders = self.file.path.ancestors().skip(1).take(3);
        folders.filter(|_| self.kind == Kind::Own && self.after.is_none()).for_each(|folder| {
            // A folder with other files stays.
            drop(std::fs::remove_dir(folder));
        });
    }

    pub(crate) fn path(&self) -> &Path {
        &self.file.path
    }

    /// Returns whether the file exists or should exist.
    pub(crate) fn is_wanted(&self) -> bool {
        self.after.is_some() || self.file.is_found()
    }

    /// Returns whether the file already has the new content.
    pub(crate) fn is_done(&self) -> bool {
        match &self.after {
            Some(after) => *after == self.file.text && (self.file.is_found() || after.is_empty()),
            None => !self.file.is_found(),
        }
    }

    /// Returns the change without making it.
    pub(crate) fn shown(&self) -> EditResult {
        let diff = if self.is_done() {
            String::new()
        } else {
            diff(&self.file.text, self.after.as_deref().unwrap_or_default())
        };
        EditResult { path: self.file.path.clone(), diff, backup: None, removed: self.after.is_none() }
    }

    /// Returns the path and the content of the copy that the change will make.
    pub(crate) fn planned_copy(&self) -> Option<(PathBuf, &str)> {
        let has_copy = self.kind != Kind::Own && self.after.is_some() && !self.is_done();
        has_copy.then(|| self.file.planned_copy()).flatten().map(|path| (path, self.file.text.as_str()))
    }

    /// Removes what a killed edit of this file left.
    pub(crate) fn clear_drafts(&self) {
        if let Some(folder) = self.file.path.parent() {
            remove_drafts(folder);
        }
    }

    /// Makes the change.
    pub(crate) fn write(&self) -> Result<EditResult, Failure> {
        let shown = self.shown();
        if self.is_done() {
            return Ok(shown);
        }
        match &self.after {
            Some(after) if self.kind == Kind::Own => self.file.replace(after).map(|()| shown),
            Some(after) => Ok(EditResult { backup: self.file.write(after)?, ..shown }),
            None => self.file.remove().map(|()| shown),
        }
    }
}

/// Reinstalls a file of herma's own, which has no other content.
fn keep(installed: &str, _: &str) -> Result<String, String> {
    Ok(installed.to_owned())
}

/// Changes the text after the byte order mark.
fn after_mark(text: &str, change: impl FnOnce(&str) -> Result<String, String>) -> Result<String, String> {
    let changed = change(unmarked(text))?;
    Ok(if text.starts_with(BYTE_ORDER_MARK) { format!("{BYTE_ORDER_MARK}{changed}") } else { changed })
}

fn unmarked(text: &str) -> &str {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Returns the chars of a text without the blanks outside of its strings.
fn without_blanks(text: &str) -> impl Iterator<Item = char> {
    let (mut quote, mut is_escaped) = (None, false);
    text.chars().filter(move |char| {
        let is_inside = quote.is_some();
        match (quote, *char) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), char) if char == open => quote = None,
            (None, '"' | '\'') => quote = Some(*char),
            _ => {}
        }
        is_inside || !char.is_whitespace()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_in_strings_count() {
        let same = |one: &str, other: &str| without_blanks(one).eq(without_blanks(other));
        assert!(same("{ \"a\" : [1, 2] }", "{\"a\":[1,2]}"));
        assert!(!same("{\"a\": \"git log\"}", "{\"a\": \"gitlog\"}"));
        assert!(!same("{\"a\": \"\\\" b\"}", "{\"a\": \"\\\"b\"}"));
    }
}
