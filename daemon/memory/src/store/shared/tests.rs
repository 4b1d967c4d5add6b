#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "a test plays other programs and people")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use herma_disk::lock::Lock;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::bound::is_bound;
use crate::change::{Change, Changes, Drift};
use crate::entries::parse;
use crate::refusal::Refusal;
use crate::store::{Bound, Limits, Paths};
use crate::target::Target;

/// What gives revisions, as a database does.
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
    /// Leaves on the disk what was there.
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

    /// Brings edits in, takes what is new.
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

    /// Changes what never leaves this host. Gives the entries after it.
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

    /// What of the file all hosts have.
    fn shared(&self) -> Vec<String> {
        self.file().into_iter().filter(|entry| !is_bound(entry)).collect()
    }

    /// What of the file only this host has.
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
        let (rows, _) = self.store.log(None, 999, 1 << 20).unwrap();
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
        // The same elsewhere, while the disk here has not followed.
        one.by_hand(|entries| entries.push("y".into()));
        one.sync(&mut central);
        other.write(&mut central, remove("y"));
        one.sync(&mut central);
        assert_eq!(central.rows.last().unwrap().after.len(), 0, "taken out by another host");
        // An edit of the edit.
        one.by_hand(|entries| *entries = vec!["z".into()]);
        one.sync(&mut central);
        one.by_hand(|entries| *entries = vec!["z2".into()]);
        one.sync(&mut central);
        assert_eq!(join(&central.rows.last().unwrap().after), "z2");
        // What it took out may come again.
        one.by_hand(|entries| *entries = vec!["w".into()]);
        one.add(&mut central, "z2");
        one.sync(&mut central);
        assert_eq!(join(&central.rows.last().unwrap().after), "w\n§\nz2");
        // The edit got its revision, and nobody here heard of it.
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
        // Before the answer comes the other program thinks better of it.
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
fn what_is_for_one_host_never_leaves_it() {
    let (mut central, mut one, mut other) = (Central::default(), Host::new("one"), Host::new("other"));
    one.add(&mut central, "a");
    assert_eq!(one.bind(add("[host-bound] x")), Ok(vec!["a".into(), "[host-bound] x".into()]));
    assert_eq!((central.rows.len(), one.store.view().unwrap().revision, one.log().len()), (1, 1, 1));
    one.by_hand(|entries| entries.insert(0, "[host-bound] by hand".into()));
    assert!(!one.store.holds_an_edit().unwrap(), "there is nothing to give a revision to");
    other.add(&mut central, "b");
    one.sync(&mut central);
    assert_eq!(one.file(), ["a", "b", "[host-bound] by hand", "[host-bound] x"]);
    assert_eq!(other.file(), ["a", "b"]);
    one.reopen();
    let replaced = one.bind(Change::Replace { old_text: "by hand".into(), content: "here".into() });
    assert_eq!(replaced, Ok(["a", "b", "[host-bound] here", "[host-bound] x"].map(String::from).into()));
    assert_eq!(one.bind(Change::Remove { old_text: "[host-bound] x".into() }).map(|entries| entries.len()), Ok(3));
    assert_eq!(one.file(), ["a", "b", "[host-bound] here"]);
    one.write(&mut central, Some(Change::Remove { old_text: "a".into() }));
    other.sync(&mut central);
    assert_eq!((one.file(), other.file()), (vec!["b".into(), "[host-bound] here".into()], vec!["b".into()]));
    assert!(!central.rows.iter().flat_map(|row| row.before.iter().chain(&*row.after)).any(|entry| is_bound(entry)));
}

#[test]
fn what_is_of_both_is_refused_and_what_is_shared_left_alone() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    one.add(&mut central, "a");
    assert_eq!(one.bind(add("b")), Err(None), "nothing is bound here");
    one.bind(add("[host-bound] x")).unwrap();
    for (change, refusal) in [
        (add("b"), None),
        (Change::Remove { old_text: "a".into() }, None),
        (Change::Remove { old_text: "nowhere".into() }, None),
        (Change::Replace { old_text: "a".into(), content: "[host-bound] a".into() }, Some(Refusal::Mixed)),
    ] {
        assert_eq!(one.bind(change.clone()), Err(refusal), "{change:?}");
    }
    let unmarked = Change::Replace { old_text: "x".into(), content: "x".into() };
    assert_eq!(one.bind(unmarked).map(|entries| entries.len()), Ok(2), "it stays here, and nothing else is said");
    let lock = Lock::try_now(&one.home.path().join("m/MEMORY.md.lock")).unwrap();
    assert_eq!(one.bind(add("c")), Err(None), "what is shared waits for no lock");
    drop(lock);
    let refusal = one.bind(add(&format!("[host-bound] {}", "x".repeat(2_000))));
    assert!(matches!(refusal, Err(Some(Refusal::Overflow { .. }))), "{refusal:?}");
    assert_eq!(one.bind(add("[host-bound] x")).map(|entries| entries.len()), Ok(2), "it is there already");
    // Who proposes it to the others is told that it is not for them.
    let (edit, author) =
        (Edit::Change { changes: Changes::Single(add("[host-bound] y")), drift: Drift::Refused }, one.author());
    let mut proposal = one.store.propose(&[], &author).unwrap();
    assert!(matches!(proposal.apply(&edit, &author), Err(Denied::Bound)));
    assert!(proposal.rows().is_empty());
    assert_eq!(one.file(), ["a", "[host-bound] x"]);
}

#[test]
fn what_is_for_one_host_stays_when_the_file_goes_and_when_sharing_begins_and_ends() {
    let (mut central, mut one) = (Central::default(), Host::new("one"));
    one.by_hand_before("mine\n§\n[host-bound] x");
    one.store.share(false);
    let seen = one.store.view().unwrap().revision;
    central.rows.push(Row { after: ["a", "mine"].map(Entry::from).into(), ..row(seen + 1) });
    assert!(one.store.begin_shared(seen, &central.rows).unwrap());
    assert_eq!(one.file(), ["a", "mine", "[host-bound] x"]);
    for is_lazy in [false, true] {
        one.is_lazy = is_lazy;
        fs::write(one.home.path().join("m/MEMORY.md"), "").unwrap();
        assert_eq!(one.store.view().unwrap().entries.len(), 3);
        one.sync(&mut central);
        assert!(one.store.settle().unwrap());
        assert_eq!(one.file(), ["a", "mine", "[host-bound] x"]);
    }
    one.store.share(false);
    assert_eq!(one.store.view().unwrap().entries.len(), 3);
    assert_eq!(one.file(), ["a", "mine", "[host-bound] x"]);
}

#[test]
fn what_is_for_one_host_stays_in_a_bad_moment() {
    for (is_killed, leaves) in [(true, false), (false, true), (true, true)] {
        let (mut central, mut one) = (Central::default(), Host::new("one"));
        one.add(&mut central, "a");
        one.bind(add("[host-bound] x")).unwrap();
        // A person wrote last: what that came to is in the file already.
        one.by_hand(|entries| entries.push("by hand".into()));
        one.sync(&mut central);
        let mut expected = vec!["a", "by hand", "[host-bound] x"];
        if is_killed {
            // A revision that is in the journal did not reach the file.
            let path = one.home.path().join("m/MEMORY.md");
            let (text, before) = (fs::read(&path).unwrap(), fs::metadata(&path).unwrap().modified().unwrap());
            one.add(&mut central, "late");
            fs::write(&path, text).unwrap();
            fs::File::options().write(true).open(&path).unwrap().set_modified(before).unwrap();
            expected.insert(2, "late");
        }
        one.reopen_as(!leaves);
        one.store.tidy().unwrap();
        let mut entries: Vec<String> =
            one.store.view().unwrap().entries.iter().map(|entry| entry.to_string()).collect();
        entries.sort_by_key(|entry| expected.iter().position(|known| known == entry));
        assert_eq!(entries, expected, "killed: {is_killed}, leaves: {leaves}");
        assert_eq!(one.file().len(), expected.len());
    }
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

#[derive(Debug, Clone)]
enum Step {
    Add(usize),
    Remove(usize),
    AddByHand(usize),
    RemoveByHand(usize),
    Bind(usize),
    BindByHand(usize),
    Unbind(usize),
    Look,
    Sync,
    Reopen,
    Lazy(bool),
}

fn steps() -> impl Strategy<Value = Vec<(bool, Step)>> {
    let step = prop_oneof![
        (0..8_usize).prop_map(Step::Add),
        (0..8_usize).prop_map(Step::Remove),
        (0..8_usize).prop_map(Step::AddByHand),
        (0..8_usize).prop_map(Step::RemoveByHand),
        (0..8_usize).prop_map(Step::Bind),
        (0..8_usize).prop_map(Step::BindByHand),
        (0..8_usize).prop_map(Step::Unbind),
        Just(Step::Look),
        Just(Step::Sync),
        Just(Step::Reopen),
        any::<bool>().prop_map(Step::Lazy),
    ];
    prop::collection::vec((any::<bool>(), step), 1..24)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn hosts_converge_and_nothing_is_lost_that_nobody_took_out(steps in steps()) {
        let mut central = Central::default();
        let mut hosts = [Host::new("one"), Host::new("other")];
        let (mut added, mut removed) = (BTreeSet::new(), BTreeSet::new());
        let mut bound = [BTreeSet::new(), BTreeSet::new()];
        for (which, step) in steps {
            let host = &mut hosts[usize::from(which)];
            let text = |at: usize| format!("entry {at}");
            match step {
                Step::Add(at) => {
                    host.add(&mut central, &text(at));
                    added.insert(text(at));
                }
                Step::Remove(at) => {
                    host.write(&mut central, Some(Change::Remove { old_text: text(at) }));
                    removed.insert(text(at));
                }
                Step::AddByHand(at) => {
                    host.by_hand(|entries| if !entries.contains(&text(at)) { entries.push(text(at)) });
                    added.insert(text(at));
                }
                Step::RemoveByHand(at) => {
                    host.by_hand(|entries| entries.retain(|entry| *entry != text(at)));
                    // What takes out the last one takes out nothing.
                    removed.insert(text(at));
                }
                Step::Bind(at) => {
                    let text = format!("[host-bound] {at}");
                    host.bind(add(&text)).unwrap();
                    bound[usize::from(which)].insert(text);
                }
                Step::BindByHand(at) => {
                    let text = format!("[host-bound] {at}");
                    host.by_hand(|entries| if !entries.contains(&text) { entries.insert(entries.len() / 2, text.clone()) });
                    bound[usize::from(which)].insert(text);
                }
                Step::Unbind(at) => {
                    let text = format!("[host-bound] {at}");
                    let is_there = bound[usize::from(which)].remove(&text);
                    assert_eq!(host.bind(Change::Remove { old_text: text }).is_ok(), is_there);
                }
                Step::Look => drop(host.store.view().unwrap()),
                Step::Sync => host.sync(&mut central),
                Step::Reopen => host.reopen(),
                Step::Lazy(is_lazy) => host.is_lazy = is_lazy,
            }
        }
        hosts.iter_mut().for_each(|host| host.is_lazy = false);
        for _ in 0..2 {
            hosts.iter_mut().for_each(|host| host.sync(&mut central));
        }
        hosts.iter_mut().for_each(|host| host.store.tidy().unwrap());
        let [one, other] = &mut hosts;
        prop_assert_eq!(one.shared(), other.shared());
        prop_assert_eq!([one.bound(), other.bound()], bound);
        prop_assert_eq!(one.log(), other.log());
        prop_assert!(!one.store.holds_an_edit().unwrap() && !other.store.holds_an_edit().unwrap());
        for text in added.difference(&removed) {
            prop_assert!(one.file().contains(text), "{text} is lost");
        }
    }
}
