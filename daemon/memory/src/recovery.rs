//! What a file means that is not at the newest revision when a store is opened.

use crate::entries::Entry;

/// When a file was written last, by the file system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Written {
    /// In Unix nanoseconds, to tell it from another file.
    pub nanos: i64,
    /// In Unix seconds, to compare it with the clock of a row.
    pub seconds: f64,
}

/// What the journal says of a change before which the file held what it holds now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Past {
    /// herma's, and it took the place of the file that was written then.
    Replaced {
        /// In Unix nanoseconds.
        nanos: i64,
    },
    /// herma's, when there was no file, or an earlier version did not say which.
    Unknown {
        /// When the change was made, in Unix seconds.
        seconds: f64,
        /// It is one of those that were synced last, and the store was not closed after them.
        is_unfinished: bool,
    },
    /// Another program's, which was made durable before it was written down.
    External,
}

/// What is to be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The newest revision never reached the file: it is put there.
    Replay,
    /// Another program changed the file: that is a revision.
    External,
}

/// Judges a file by one change that followed on what it holds. A killed daemon leaves the last
/// changes behind, a power cut can take back the renames of many: it is the very file then that
/// was replaced. Without its time, a file is old when it was written before the change.
pub(crate) fn judge(written: Option<Written>, past: Past) -> Verdict {
    let is_old = match (past, written) {
        (Past::Replaced { nanos }, Some(written)) => nanos == written.nanos,
        (Past::Unknown { is_unfinished: true, .. }, _) => true,
        (Past::Unknown { seconds, .. }, Some(written)) => written.seconds <= seconds,
        (Past::Replaced { .. } | Past::Unknown { .. }, None) | (Past::External, _) => false,
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
        let written = Some(Written { nanos: 4_000_000_001, seconds: 4.0 });
        let unknown = |seconds, is_unfinished| Past::Unknown { seconds, is_unfinished };
        for (written, past, verdict) in [
            (written, Past::Replaced { nanos: 4_000_000_001 }, Verdict::Replay),
            (written, Past::Replaced { nanos: 4_000_000_000 }, Verdict::External),
            (None, Past::Replaced { nanos: 4_000_000_001 }, Verdict::External),
            (written, unknown(3.0, true), Verdict::Replay),
            (written, unknown(3.0, false), Verdict::External),
            (written, unknown(5.0, false), Verdict::Replay),
            (None, unknown(5.0, true), Verdict::Replay),
            (None, unknown(5.0, false), Verdict::External),
            (written, Past::External, Verdict::External),
            (None, Past::External, Verdict::External),
        ] {
            assert_eq!(judge(written, past), verdict, "{written:?} {past:?}");
        }
    }
}
