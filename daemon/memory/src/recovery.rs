//! What a file means that is not at the newest revision when a store is opened.

use crate::entries::Entry;

/// What is known of the last changes, and of the file.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// The entries that the file holds.
    pub entries: &'a [Entry],
    /// When the file was written, in Unix seconds; `None` when it is missing.
    pub written_at: Option<f64>,
    /// What the file held before the changes that were synced last.
    pub before_last: &'a [Entry],
    /// Those changes were herma's own, and the store was not closed after them.
    pub may_be_unfinished: bool,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The newest revision never reached the file: it is put there.
    Replay,
    /// Another program changed the file: that is a revision.
    External,
}

/// Judges a file. A daemon that was killed leaves at most its last changes behind,
/// so the file is as it was before them. A power cut can take back more renames
/// than one, and then the file is as old as its content: `overwritten_at` says when
/// its content was replaced by the next one, if it is that of a known revision.
///
/// # Errors
/// Those of `overwritten_at`, which is asked last, for it reads the journal.
pub(crate) fn judge<E>(
    found: &Found<'_>,
    overwritten_at: impl FnOnce() -> Result<Option<f64>, E>,
) -> Result<Verdict, E> {
    if found.may_be_unfinished && found.entries == found.before_last {
        return Ok(Verdict::Replay);
    }
    let Some(written_at) = found.written_at else { return Ok(Verdict::External) };
    Ok(match overwritten_at()? {
        Some(overwritten_at) if written_at <= overwritten_at => Verdict::Replay,
        _ => Verdict::External,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_judged_by_what_can_have_happened() {
        let entries = |text: &str| vec![Entry::from(text)];
        let (old, other) = (entries("old"), entries("other"));
        for (holds, written_at, unfinished, overwritten_at, verdict) in [
            (&old, Some(9.0), true, None, Verdict::Replay),
            (&old, None, true, None, Verdict::Replay),
            (&old, Some(9.0), false, Some(5.0), Verdict::External),
            (&other, Some(9.0), true, Some(5.0), Verdict::External),
            (&other, Some(4.0), true, Some(5.0), Verdict::Replay),
            (&other, Some(4.0), false, Some(5.0), Verdict::Replay),
            (&other, Some(4.0), true, None, Verdict::External),
            (&other, None, true, Some(5.0), Verdict::External),
        ] {
            let found = Found { entries: holds, written_at, before_last: &old, may_be_unfinished: unfinished };
            assert_eq!(judge(&found, || Ok::<_, ()>(overwritten_at)), Ok(verdict), "{found:?} {overwritten_at:?}");
        }
    }
}
