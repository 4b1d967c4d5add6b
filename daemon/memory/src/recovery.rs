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

/// What two changes of `base` come to together: what `theirs` has, without what
/// `ours` took out, and then what `ours` put in.
pub(crate) fn merge(base: &[Entry], ours: &[Entry], theirs: &[Entry]) -> Vec<Entry> {
    let kept = theirs.iter().filter(|entry| ours.contains(entry) || !base.contains(entry));
    let added = ours.iter().filter(|entry| !base.contains(entry) && !theirs.contains(entry));
    kept.chain(added).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_changes_come_together() {
        let list = |text: &str| text.split_whitespace().map(Entry::from).collect::<Vec<_>>();
        for (base, ours, theirs, both) in [
            ("a", "a b", "a c", "a c b"),
            ("a b", "b", "a b c", "b c"),
            ("a b", "a b", "b", "b"),
            ("a", "x", "", "x"),
            ("a", "a b", "a b", "a b"),
        ] {
            assert_eq!(merge(&list(base), &list(ours), &list(theirs)), list(both), "{base} | {ours} | {theirs}");
        }
    }

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
