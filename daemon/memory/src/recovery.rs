//! Interprets a file that is not at the newest revision when a store is opened.

use crate::entries::Entry;
use crate::journal::line::Replaced;

/// The modification time of a file, from the file system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Written {
    /// In Unix nanoseconds, to distinguish the file from others.
    pub nanos: i64,
    /// In Unix seconds, to compare it with a row's time.
    pub seconds: f64,
}

/// A change as the journal records it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Past {
    /// Whether another program made it.
    pub is_external: bool,
    /// The file that it replaced. For a change by another program that was merged with herma's own, the file that the
    /// merged text will replace.
    pub replaced: Replaced,
    /// Whether it is one of herma's own changes that were synced last.
    pub is_last: bool,
    /// When it was made, in Unix seconds.
    pub time: f64,
}

/// How to handle the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The newest revision never reached the file, so it is written there.
    Replay,
    /// Another program changed the file, so its content becomes a revision.
    External,
}

/// Judges a file by one change. `holds_before` is true if the file has the content before that change.
///
/// A killed daemon may leave the last changes out of the file, and a power cut can undo many renames. The file is then
/// exactly the one that the change replaced. If that one is unknown, the file must have the content before the change
/// to count as old. In addition, the change must be one of the last, or the file older than the change.
pub(crate) fn judge(written: Option<Written>, holds_before: bool, past: Past) -> Verdict {
    let is_old = match (past.replaced, written) {
        // After a merge of two changes, the file has one of them.
        (Replaced::WrittenAt(nanos), Some(written)) => nanos == written.nanos && (holds_before || past.is_external),
        (Replaced::WrittenAt(_), None) | (Replaced::Nothing, Some(_)) => false,
        (Replaced::Nothing, None) => holds_before && past.is_last,
        (Replaced::Unknown, _) if past.is_external || !holds_before => false,
        (Replaced::Unknown, Some(written)) => past.is_last || written.seconds <= past.time,
        (Replaced::Unknown, None) => past.is_last,
    };
    if is_old { Verdict::Replay } else { Verdict::External }
}

/// Merges two changes of `base`: the entries of `theirs` without those that `ours` removed, then those that `ours`
/// added.
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
        let file = Some(Written { nanos: 4_000_000_001, seconds: 4.0 });
        let own = |replaced, is_last, time| Past { is_external: false, replaced, is_last, time };
        let external = |replaced| Past { is_external: true, replaced, is_last: false, time: 5.0 };
        let (this, other) = (Replaced::WrittenAt(4_000_000_001), Replaced::WrittenAt(4_000_000_000));
        for (written, holds_before, past, verdict) in [
            (file, true, own(this, false, 3.0), Verdict::Replay),
            (file, false, own(this, true, 5.0), Verdict::External),
            (file, true, own(other, true, 5.0), Verdict::External),
            (None, true, own(this, true, 5.0), Verdict::External),
            (None, true, own(Replaced::Nothing, true, 5.0), Verdict::Replay),
            (None, true, own(Replaced::Nothing, false, 5.0), Verdict::External),
            (file, true, own(Replaced::Nothing, true, 5.0), Verdict::External),
            (file, true, own(Replaced::Unknown, true, 3.0), Verdict::Replay),
            (file, true, own(Replaced::Unknown, false, 3.0), Verdict::External),
            (file, true, own(Replaced::Unknown, false, 5.0), Verdict::Replay),
            (file, false, own(Replaced::Unknown, true, 5.0), Verdict::External),
            (None, true, own(Replaced::Unknown, true, 5.0), Verdict::Replay),
            (None, true, own(Replaced::Unknown, false, 5.0), Verdict::External),
            (file, false, external(this), Verdict::Replay),
            (file, true, external(other), Verdict::External),
            (file, true, external(Replaced::Unknown), Verdict::External),
            (None, true, external(Replaced::Unknown), Verdict::External),
        ] {
            assert_eq!(judge(written, holds_before, past), verdict, "{written:?} {holds_before} {past:?}");
        }
    }
}
