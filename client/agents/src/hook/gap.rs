//! Finds out whether an agent went on working while none of its events came, for example because its hooks were not
//! trusted or switched off.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How much newer than the last event a transcript may be: a long answer, or a title that is written later.
pub const BEHIND: Duration = Duration::from_secs(3_600);

/// The most files that are looked at.
const FILES: usize = 20_000;

/// Returns when the newest transcript of other sessions changed, if that is much later than the last event.
pub(super) fn after(last_event: SystemTime, roots: &[PathBuf], own: Option<&Path>) -> Option<SystemTime> {
    let newest = newest(roots, own)?;
    (newest.duration_since(last_event).ok()? > BEHIND).then_some(newest)
}

/// Returns when the newest transcript below the folders changed, without the session's own.
pub(super) fn newest(roots: &[PathBuf], own: Option<&Path>) -> Option<SystemTime> {
    let mut waiting = roots.to_vec();
    let (mut newest, mut files) = (None, 0);
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            files += 1;
            if files > FILES {
                return newest;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|ending| ending == "jsonl") => {
                    let time = entry.metadata().and_then(|file| file.modified()).ok();
                    newest = newest.max(time.filter(|_| Some(path.as_path()) != own));
                }
                _ => {}
            }
        }
    }
    newest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_a_transcript_of_another_session_long_after_the_last_event() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("project");
        herma_base::own_file::make(&below).unwrap();
        let (own, other) = (below.join("own.jsonl"), below.join("other.jsonl"));
        let roots = [folder.path().to_owned(), folder.path().join("missing")];
        let put = |path: &Path| herma_base::own_file::replace(path, b"{}\n").unwrap();
        put(&own);
        let now = SystemTime::now();
        let long_ago = now - 2 * BEHIND;
        assert_eq!(after(long_ago, &roots, Some(&own)), None);
        put(&other);
        put(&below.join("notes.txt"));
        assert!(after(long_ago, &roots, Some(&own)).is_some());
        assert_eq!(after(now - BEHIND / 2, &roots, Some(&own)), None);
    }
}
