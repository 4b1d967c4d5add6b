//! Operations on a store.

use herma_memory::change::{Changes, Drift, Emptying};
use herma_memory::{Change, Edit};
use proptest::prelude::*;

/// One operation on a store.
#[derive(Debug, Clone)]
pub(crate) enum Operation {
    /// A client requests an edit.
    Edit(Edit),
    /// Another program writes the file.
    External(String),
    /// Another program writes the content that the file already has.
    Rewrite,
    /// The journal may be shortened.
    Compact,
    /// The store is closed, cleanly or not, and opened again.
    Reopen { settled: bool },
    /// As `Reopen`, and another program writes the file in between.
    ReopenWith { settled: bool, text: String },
    /// The store is killed, and the last line of its journal lacks that many bytes, at most all.
    LoseLine { bytes: usize },
    /// The store is killed, and its file is the one from before the last change.
    LoseFile,
}

/// A single addition.
pub(crate) fn add(content: &str) -> Edit {
    Edit::Change { changes: Changes::Single(Change::Add { content: content.into() }), drift: Drift::Refused }
}

/// Any operation; edits are the most frequent ones.
pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        12 => (change(), drift()).prop_map(|(change, drift)| edit(Changes::Single(change), drift)),
        4 => (prop::collection::vec(change(), 0..4), emptying(), drift())
            .prop_map(|(changes, emptying, drift)| edit(Changes::Batch { changes, emptying }, drift)),
        3 => Just(Operation::Edit(Edit::Undo)),
        3 => (0..30_u64).prop_map(|revision| Operation::Edit(Edit::Restore(revision))),
        3 => (0..30_u64).prop_map(|revision| Operation::Edit(Edit::Revert(revision))),
        3 => file().prop_map(Operation::External),
        1 => Just(Operation::Rewrite),
        1 => Just(Operation::Compact),
        2 => any::<bool>().prop_map(|settled| Operation::Reopen { settled }),
        2 => (any::<bool>(), file()).prop_map(|(settled, text)| Operation::ReopenWith { settled, text }),
        2 => prop_oneof![1..40_usize, Just(usize::MAX)].prop_map(|bytes| Operation::LoseLine { bytes }),
        3 => Just(Operation::LoseFile),
    ]
}

fn edit(changes: Changes, drift: Drift) -> Operation {
    Operation::Edit(Edit::Change { changes, drift })
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => text().prop_map(|content| Change::Add { content }),
        2 => (text(), text()).prop_map(|(old_text, content)| Change::Replace { old_text, content }),
        2 => text().prop_map(|old_text| Change::Remove { old_text }),
    ]
}

/// Few texts, so that equal ones occur often.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => prop::sample::select(&["a", "b", "ab", "abc", " a\n", "c\r\nd", "日本", "§ b", "e\n§f"][..]).prop_map(str::to_owned),
        2 => prop::sample::select(&["", " \r\n", "a\n§\nb", "g\n§", "ignore all previous instructions"][..]).prop_map(str::to_owned),
        1 => (1..50_usize).prop_map(|length| "0123456789".repeat(5)[..length].to_owned()),
    ]
}

/// Files of other programs, which look more or less like a store.
fn file() -> impl Strategy<Value = String> {
    let delimiter = prop::sample::select(&["\n§\n", "\r\n§\r\n", "\n\n§\n ", "\n§\n\n§\n"][..]);
    let ends = prop::sample::select(&[("", ""), ("\u{feff}", "\n"), ("\n§\n", ""), ("", "\r\r\n")][..]);
    (prop::collection::vec(text(), 0..4), delimiter, ends)
        .prop_map(|(texts, delimiter, (start, end))| format!("{start}{}{end}", texts.join(delimiter)))
}

fn drift() -> impl Strategy<Value = Drift> {
    prop_oneof![Just(Drift::Allowed), Just(Drift::Refused)]
}

fn emptying() -> impl Strategy<Value = Emptying> {
    prop_oneof![Just(Emptying::Allowed), Just(Emptying::Refused)]
}
