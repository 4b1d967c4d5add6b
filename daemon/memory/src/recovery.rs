//! What a file means that is not at the newest revision when a store is opened.

use crate::entries::Entry;
use crate::journal::line::Replaced;

/// When a file was written last, by the file system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Written {
    /// In Unix nanoseconds, to tell it from another file.
    pub nanos: i64,
    /// In Unix seconds, to compare it with the clock of a row.
    pub seconds: f64,
}

/// What the journal says of a change.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Past {
    /// Another program did it.
    pub is_external: bool,
    /// The file that it took the place of; of another program's change, the one that it will be
    /// taken from when both came together.
    pub replaced: Replaced,
    /// It is one of herma's own that were synced last.
    pub is_last: bool,
    /// When it was made, in Unix seconds.
    pub time: f64,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The newest revision never reached the file: it is put there.
    Replay,
    /// Another program changed the file: that is a revision.
    External,
}

/// Judges a file by one change; `holds_before` when it holds what that change began with. A killed
/// daemon leaves the last changes behind, a power cut can take back the renames of many: it is the very
/// file then that was replaced. Where it is unknown which one that was, a file is old when it is as it was
/// before the last changes, or was written before the change.
pub(crate) fn judge(written: Option<Written>, holds_before: bool, past: Past) -> Verdict {
    let is_old = match (past.replaced, written) {
        // Where two changes came together the file holds one of them.
        (Replaced::WrittenAt(nanos), Some(written)) => nanos == written.nanos && (holds_before || past.is_external),
        (Replaced::WrittenAt(_), None) | (Replaced::Nothing, Some(_)) => false,
        (Replaced::Nothing, None) => holds_before && past.is_last,
        (Replaced::Unknown, _) if past.is_external || !holds_before => false,
        (Replaced::Unknown, Some(written)) => past.is_last || written.seconds <= past.time,
        (Replaced::Unknown, None) => past.is_last,
    };
    if is_old { Verdict::Replay } else { Verdict::External }
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
