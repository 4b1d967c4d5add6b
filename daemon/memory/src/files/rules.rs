//! Checks whether a change to files is allowed. Nothing here touches the disk.

use herma_guard::{Finding, Policy, Scope, Severity};

use super::file_set::{Files, Place};
use super::limits::FileLimits;
use super::path::FilePath;
use super::refusal::FileRefusal;

/// The rules that a change to files must keep.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// The limits.
    pub limits: FileLimits,
    /// The guard's policy.
    pub policy: &'a Policy,
}

/// Checks whether a file or folder may be created at a path.
pub(super) fn check_new(files: &Files, path: &FilePath, rules: Rules<'_>) -> Result<(), FileRefusal> {
    if path.is_hidden() {
        return Err(FileRefusal::Hidden(path.clone()));
    }
    for above in path.above() {
        match files.at(&above) {
            Place::File(_) => return Err(FileRefusal::BelowFile { path: path.clone(), file: above }),
            Place::Ignored(why) => {
                let why = why.to_owned();
                return Err(FileRefusal::Ignored { path: above, why });
            }
            Place::Folder | Place::Nothing => {}
        }
    }
    let missing = path.above().filter(|above| matches!(files.at(above), Place::Nothing)).count();
    let folders = files.entries.iter().filter(|entry| entry.folder_bytes.is_some()).count() + missing;
    if missing > 0 && folders > rules.limits.count {
        return Err(FileRefusal::TooManyFolders { count: folders, limit: rules.limits.count });
    }
    if let Some(there) = files.alike(path) {
        return Err(FileRefusal::Alike { path: path.clone(), there: there.clone() });
    }
    let findings = rules.policy.scan(path.as_str(), Scope::Strict);
    if findings.iter().any(|finding| finding.severity == Severity::Block) {
        Err(FileRefusal::poisoned(path.as_str(), findings))
    } else {
        Ok(())
    }
}

/// Checks whether a file may have this text. A file that is too long may become shorter.
pub(super) fn checked(
    path: &FilePath,
    text: &str,
    before: Option<&str>,
    rules: Rules<'_>,
) -> Result<Vec<Finding>, FileRefusal> {
    let limit = rules.limits.file_bytes;
    if text.len() > limit && before.is_none_or(|before| text.len() >= before.len()) {
        return Err(FileRefusal::TooLong { path: path.clone(), bytes: text.len(), limit });
    }
    if let Some((at, char)) = control(text) {
        return Err(FileRefusal::Control { char, at });
    }
    let findings = rules.policy.scan(text, Scope::Strict);
    if findings.iter().any(|finding| finding.severity == Severity::Block) {
        Err(FileRefusal::poisoned(text, findings))
    } else {
        Ok(findings)
    }
}

/// Returns the first control char that a text must not have, and its position in chars.
pub(super) fn control(text: &str) -> Option<(usize, char)> {
    let is_control = |char: &char| char.is_control() && !matches!(char, '\n' | '\t' | '\r');
    text.chars().enumerate().find(|(_, char)| is_control(char))
}

/// Checks whether all files fit within the limits after these changes. If they are over a limit, they may shrink.
pub(super) fn check_room(files: &Files, changed: &[(&FilePath, usize)], limits: FileLimits) -> Result<(), FileRefusal> {
    let wide = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
    let before = files.bytes();
    let length = |path: &FilePath| files.files.get(path).map_or(0, |file| wide(file.text.len()));
    let (gone, come) =
        changed.iter().fold((0, 0), |(gone, come), (path, bytes)| (gone + length(path), come + wide(*bytes)));
    let bytes = before.saturating_sub(gone).saturating_add(come);
    if bytes > limits.total_bytes && bytes > before {
        return Err(FileRefusal::Full { bytes, limit: limits.total_bytes });
    }
    let new = changed.iter().filter(|(path, _)| !files.files.contains_key(*path)).count();
    let count = files.files.len() + new;
    if new > 0 && count > limits.count {
        return Err(FileRefusal::TooMany { count, limit: limits.count });
    }
    Ok(())
}

/// Refuses to remove a folder that contains an entry which is not kept, because nobody could restore it.
pub(super) fn check_kept(files: &Files, folder: &FilePath) -> Result<(), FileRefusal> {
    let others = files.ignored.iter().chain(&files.hidden);
    match others.into_iter().find(|(path, _)| path.below(folder).is_some()) {
        Some((path, why)) => Err(FileRefusal::Ignored { path: path.clone(), why: why.clone() }),
        None => Ok(()),
    }
}
