#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "a test plays other programs and people")]

mod bound;
mod converge;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use herma_disk::lock::Lock;
use tempfile::TempDir;

use super::*;
use crate::LogQuery;
use crate::bound::is_bound;
use crate::change::{Change, Changes, Drift};
use crate::entries::parse;
use crate::refusal::Refusal;
use crate::store::{Bound, Limits, Paths};
use crate::target::Target;

/// Assigns revisions, as a database does.
#[derive(Debug, Default)]
struct Central {
    rows: Vec<Row>,
}

impl Central {
    fn since(&self, revision: u64) -> Vec<Row> {
        self.rows.iter().filter(|row| row.revision > revision).cloned().collect()
    }

    fn newest(&self) -> u64 {
        self.rows.last().map_or(0, |row| row.revision)
    }
}

/// A host with a store of its own.
#[derive(Debug)]
struct Host {
    home: TempDir,
    name: &'static str,
    store: Store,
    /// Whether the host does not write adopted revisions to disk.
    is_lazy: bool,
}

impl Host {
    fn new(name: &'static str) -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("m")).unwrap();
        let store = open(home.path());
        Self { home, name, store, is_lazy: false }
    }

    fn reopen_as(&mut self, is_shared: bool) {
        self.reopen();
        self.store.share(is_shared);
    }

    fn reopen(&mut self) {
        self.store = open(self.home.path());
    }

    fn author(&self) -> Author {
        Author { host: Some(self.name.into()), ..Author::default() }
    }

    /// Sends edits of the file, and adopts new revisions.
    fn sync(&mut self, central: &mut Central) {
        self.write(central, None);
    }

    fn write(&mut self, central: &mut Central, change: Option<Change>) {
        let known = self.store.view().unwrap().revision;
        let given = central.since(known);
        let author = self.author();
        let mut proposal = self.store.propose(&given, &author).unwrap();
        if let Some(change) = change {
            let edit = Edit::Change { changes: Changes::Single(change), drift: Drift::Refused };
            drop(proposal.apply(&edit, &author));
        }
        let new = proposal.into_rows();
        assert!(new.first().is_none_or(|row| row.revision == central.newest() + 1));
        central.rows.extend(new.iter().cloned());
        let all: Vec<Row> = given.into_iter().chain(new).collect();
        self.store.adopt(&all).unwrap();
        if !self.is_lazy {
            assert!(self.store.settle().unwrap());
        }
    }

    fn add(&mut self, central: &mut Central, text: &str) {
        self.write(central, Some(Change::Add { content: text.into() }));
    }

    /// Changes a host-bound entry. Returns the entries after it.
    fn bind(&mut self, change: Change) -> Result<Vec<String>, Option<Refusal>> {
        let edit = Edit::Change { changes: Changes::Single(change), drift: Drift::Refused };
        match self.store.write_bound(&edit, &self.author(), None, || true).unwrap() {
            Bound::Done(done) => match done.0 {
                Ok(_) => Ok(done.1.entries.iter().map(|entry| entry.to_string()).collect()),
                Err(refusal) => Err(Some(refusal)),
            },
            Bound::Shared => Err(None),
            other => panic!("{other:?}"),
        }
    }

    /// The shared entries of the file.
    fn shared(&self) -> Vec<String> {
        self.file().into_iter().filter(|entry| !is_bound(entry)).collect()
    }

    /// The host-bound entries of the file.
    fn bound(&self) -> BTreeSet<String> {
        self.file().into_iter().filter(|entry| is_bound(entry)).collect()
    }

    fn file(&self) -> Vec<String> {
        let text = fs::read_to_string(self.home.path().join("m/MEMORY.md")).unwrap_or_default();
        parse(&text).iter().map(|entry| entry.to_string()).collect()
    }

    fn by_hand(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut entries = self.file();
        change(&mut entries);
        let entries: Vec<Entry> = entries.into_iter().map(Entry::from).collect();
        let file = self.home.path().join("m/MEMORY.md");
        fs::write(file.with_extension("new"), join(&entries)).unwrap();
        fs::rename(file.with_extension("new"), file).unwrap();
    }

    fn log(&mut self) -> Vec<(u64, String, Vec<String>)> {
        let (rows, _) = self.store.log(&LogQuery::default()).unwrap();
        let row = |row: Row| {
            let host = row.author.host.unwrap_or_default();
            let after = row.after.iter().map(|entry| entry.to_string()).collect();
            (row.revision, format!("{} {host}", row.action.name()), after)
        };
        rows.into_iter().map(row).collect()
    }
}

fn open(home: &Path) -> Store {
    let paths = Paths { file: home.join("m/MEMORY.md"), journal: home.join("j/memory.jsonl") };
    let mut store = Store::new(paths, Target::Memory, Limits { chars: 2_000, revisions: 1_000 }, Arc::default());
    store.share(true);
    store
}

#[test]
fn an_edit_by_hand_is_seen_here_at_once_and_elsewhere_once_it_got_a_revision() {
    let (mut central, mut one, mut other) = (Central::default(), Host::new("one"), Host::new("other"));
    one.add(&mut central, "a");
    one.by_hand(|entries| entries.push("by hand".into()));
    let view = one.store.view().unwrap();
    assert_eq!((view.revision, view.entries.len()), (1, 2));
    assert!(one.store.holds_an_edit().unwrap() && one.log().len() == 1);
    one.reopen();
    assert!(one.store.holds_an_edit().unwrap());
    other.add(&mut central, "b");
    one.sync(&mut central);
    other.sync(&mut central);
    assert_eq!((one.file(), one.file()), (other.file(), ["a", "b", "by hand"].map(String::from).into()));
    assert_eq!(one.log(), other.log());
    assert_eq!(one.log().first().unwrap().1, "external one");
}

#[test]
fn what_is_done_behind_an_edit_by_hand_stays_done() {
    for is_lazy in [false, true] {
        let (mut central, mut one, mut other) = (Central::default(), Host::new("one"), Host::new("other"));
        one.is_lazy = is_lazy;
        let remove = |text: &str| Some(Change::Remove { old_text: text.into() });
        one.by_hand(|entries| entries.push("x".into()));
        one.write(&mut central, remove("x"));
        one.sync(&mut central);
        assert_eq!(central.rows.last().unwrap().after.len(), 0, "taken out right behind it");
        // Another host removes it, while the disk here has not followed.
        one.by_hand(|entries| entries.push("y".into()));
        one.sync(&mut central);
        other.write(&mut central, remove("y"));
        one.sync(&mut central);
        assert_eq!(central.rows.last().unwrap().after.len(), 0, "taken out by another host");
        // The file is edited again after the first edit.
        one.by_hand(|entries| *entries = vec!["z".into()]);
        one.sync(&mut central);
        one.by_hand(|entries| *entries = vec!["z2".into()]);
        one.sync(&mut central);
        assert_eq!(join(&central.rows.last().unwrap().after), "z2");
        // An entry that the edit removed may be added again.
        one.by_hand(|entries| *entries = vec!["w".into()]);
        one.add(&mut central, "z2");
        one.sync(&mut central);
        assert_eq!(join(&central.rows.last().unwrap().after), "w\n§\nz2");
        // The edit got its revision, but this host did not receive the answer.
        one.by_hand(|entries| entries.push("v".into()));
        let mut proposal = one.store.propose(&[], &Author::default()).unwrap();
        let edit =
            Edit::Change { changes: Changes::Single(Change::Add { content: "u".into() }), drift: Drift::Refused };
        proposal.apply(&edit, &Author::default()).unwrap();
        central.rows.extend(proposal.into_rows());
        other.write(&mut central, remove("v"));
        one.reopen();
        one.sync(&mut central);
        assert_eq!(join(&central.rows.last().unwrap().after), "w\n§\nz2\n§\nu");
    }
}

#[test]
fn an_edit_of_what_is_just_getting_its_revision_counts_too() {
    for settles in [false, true] {
        let (mut central, mut one, mut other) = (Central::default(), Host::new("one"), Host::new("other"));
        other.add(&mut central, "a");
        one.store.adopt(&central.rows).unwrap();
        one.by_hand(|entries| entries.push("x".into()));
        let new = one.store.propose(&[], &Author::default()).unwrap().into_rows();
        assert_eq!(new.len(), 1);
        central.rows.extend(new.iter().cloned());
        if settles {
            assert!(one.store.settle().unwrap());
        }
        // Before the answer arrives, the other program reverts its edit.
        one.by_hand(|entries| *entries = entries.iter().filter(|entry| *entry != "x").cloned().collect());
        one.by_hand(|entries| entries.push("y".into()));
        one.store.adopt(&new).unwrap();
        one.sync(&mut central);
        assert_eq!(join(&central.rows.last().unwrap().after), "a\n§\ny", "{settles}");
        other.sync(&mut central);
        assert_eq!(one.file(), other.file());
    }
}

#[test]
fn another_order_is_an_edit_too_unless_others_wrote_meanwhile() {
    let (mut central, mut one, mut other) = (Central::default(), Host::new("one"), Host::new("other"));
    ["a", "b"].iter().for_each(|text| one.add(&mut central, text));
    one.by_hand(|entries| entries.reverse());
    one.sync(&mut central);
    assert_eq!(one.log().first().unwrap().2, ["b", "a"]);
    one.by_hand(|entries| entries.reverse());
    other.add(&mut central, "c");
    one.sync(&mut central);
    assert_eq!((one.file(), one.store.holds_an_edit().unwrap()), (["b", "a", "c"].map(String::from).into(), false));
}

#[test]
fn what_comes_while_an_edit_is_held_is_under_it_also_in_the_file() {
    let (mut central, mut one, mut other) = (Central::default(), Host::new("one"), Host::new("other"));
    one.add(&mut central, "a");
    other.sync(&mut central);
    one.by_hand(|entries| entries.push("x".into()));
    other.add(&mut central, "b");
    one.store.adopt(&central.since(1)).unwrap();
    let view = one.store.view().unwrap();
    assert_eq!((view.revision, join(&view.entries)), (2, "a\n§\nb\n§\nx".into()));
    assert!(one.store.settle().unwrap());
    assert_eq!(one.file(), ["a", "b", "x"]);
    one.reopen();
    assert!(one.store.holds_an_edit().unwrap());
    one.sync(&mut central);
    assert_eq!(one.log().first().unwrap().2, ["a", "b", "x"]);
}

#[test]
fn a_file_that_is_gone_or_empty_takes_nothing_from_the_others() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    one.add(&mut central, "a");
    let file = one.home.path().join("m/MEMORY.md");
    for empties in [fs::remove_file as fn(PathBuf) -> _, |path| fs::write(path, "")] {
        for reopens in [false, true] {
            empties(file.clone()).unwrap();
            if reopens {
                one.reopen();
            }
            one.sync(&mut central);
            assert_eq!((central.newest(), one.store.view().unwrap().entries.len()), (1, 1));
            assert!(one.store.settle().unwrap() && !one.store.is_ahead());
            assert_eq!(one.file(), ["a"]);
        }
    }
}

#[test]
fn what_no_database_keeps_is_replaced_in_the_file_too() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    one.add(&mut central, "a");
    one.by_hand(|entries| entries.push("b\0c".into()));
    one.sync(&mut central);
    assert_eq!(one.file(), ["a", "b\u{fffd}c"]);
    assert!(!one.store.holds_an_edit().unwrap());
}

#[test]
fn a_journal_that_is_gone_takes_nothing_either() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    ["a", "b"].iter().for_each(|text| one.add(&mut central, text));
    fs::remove_file(one.home.path().join("j/memory.jsonl")).unwrap();
    one.by_hand(|entries| entries.push("c".into()));
    one.sync(&mut central);
    assert_eq!(one.file(), ["a", "b", "c"]);
    assert_eq!(one.log().len(), 3);
}

#[test]
fn an_edit_becomes_a_revision_here_when_the_store_is_shared_no_more() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    one.add(&mut central, "a");
    one.by_hand(|entries| entries.push("b".into()));
    one.store.share(false);
    let view = one.store.view().unwrap();
    assert_eq!((view.revision, view.entries.len()), (2, 2));
}

#[test]
fn a_store_begins_to_be_shared_where_it_was_left() {
    let home = tempfile::tempdir().unwrap();
    let mut one = Host { store: open(home.path()), home, name: "one", is_lazy: false };
    one.store.share(false);
    one.by_hand_before("mine");
    assert_eq!(one.store.view().unwrap().revision, 1);
    let (mut central, mut other) = (Central::default(), Host::new("other"));
    other.add(&mut central, "theirs");
    let (before, after): (Arc<[Entry]>, Arc<[Entry]>) =
        (["theirs".into()].into(), ["theirs".into(), "mine".into()].into());
    central.rows.push(Row {
        revision: 2,
        time: 1.0,
        replaced: Replaced::Unknown,
        action: Action::Join,
        author: one.author(),
        before,
        after,
    });
    assert!(!one.store.begin_shared(0, &central.rows).unwrap(), "it has moved");
    assert!(one.store.begin_shared(1, &central.rows).unwrap());
    assert_eq!(one.file(), ["theirs", "mine"]);
    other.sync(&mut central);
    assert_eq!(one.log(), other.log());
    one.reopen();
    assert!(!one.store.holds_an_edit().unwrap());
    let kept = fs::read_dir(one.home.path().join("j")).unwrap();
    let kept = kept.filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("before-sharing"));
    assert_eq!(kept.count(), 1);
}

#[test]
fn another_program_that_holds_the_lock_is_waited_for() {
    let (mut central, mut one, mut other) = (Central::default(), Host::new("one"), Host::new("other"));
    other.add(&mut central, "a");
    let held = Lock::try_now(&one.home.path().join("m/MEMORY.md.lock")).unwrap().unwrap();
    one.store.adopt(&central.rows).unwrap();
    assert!(!one.store.settle().unwrap() && one.store.is_ahead());
    assert_eq!(one.store.view().unwrap().revision, 1);
    drop(held);
    assert!(one.store.settle().unwrap() && !one.store.is_ahead());
    assert_eq!(one.file(), ["a"]);
}

impl Host {
    fn by_hand_before(&self, text: &str) {
        fs::create_dir_all(self.home.path().join("m")).unwrap();
        fs::write(self.home.path().join("m/MEMORY.md"), text).unwrap();
    }
}

fn add(text: &str) -> Change {
    Change::Add { content: text.into() }
}

#[test]
fn what_is_not_on_the_disk_yet_can_be_undone_and_put_back() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    one.is_lazy = true;
    one.add(&mut central, "a");
    one.add(&mut central, "b");
    assert_eq!(one.file(), [""; 0]);
    let author = one.author();
    for (edit, entries) in [(Edit::Undo, &["a"][..]), (Edit::Restore(2), &["a", "b"]), (Edit::Restore(1), &["a"])] {
        let mut proposal = one.store.propose(&[], &author).unwrap();
        let applied = proposal.apply(&edit, &author).unwrap();
        assert_eq!(applied.entries.iter().map(|entry| &**entry).collect::<Vec<_>>(), entries, "{edit:?}");
        assert!(proposal.rows().iter().all(|row| row.revision == 3));
    }
}

fn row(revision: u64) -> Row {
    Row {
        revision,
        time: 1.0,
        replaced: Replaced::Unknown,
        action: Action::Join,
        author: Author::default(),
        before: Arc::default(),
        after: Arc::default(),
    }
}
