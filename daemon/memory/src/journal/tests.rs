#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use herma_disk::file::{read_bytes, replace};
use line::{Action, Author, Replaced};

use super::*;

type Journal = super::Journal<Row>;

fn row(revision: u64) -> Row {
    let entries = |revision: u64| -> Arc<[Entry]> { (1..=revision).map(|at| format!("entry {at}").into()).collect() };
    Row {
        revision,
        time: 1e9 + revision as f64,
        replaced: Replaced::Unknown,
        action: Action::Add,
        author: Author::default(),
        before: entries(revision - 1),
        after: entries(revision),
    }
}

fn filled(path: &Path, revisions: std::ops::RangeInclusive<u64>) -> Journal {
    let mut journal = Journal::open(path).unwrap();
    journal.append(revisions.map(row).collect()).unwrap();
    journal
}

fn bytes(path: &Path) -> Vec<u8> {
    read_bytes(path, 1 << 20).unwrap().unwrap().0
}

fn put(path: &Path, bytes: &[u8]) {
    replace(path, bytes, TEMPORARY).unwrap();
}

fn is_settled(journal: &Journal) -> bool {
    journal.marks().next_back().is_some_and(|mark| mark.settled)
}

fn revisions(journal: &Journal) -> Vec<u64> {
    journal.marks().map(|mark| mark.revision).collect()
}

#[test]
fn rows_survive_and_every_text_can_be_had_again() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("work/memory.jsonl");
    assert!(Journal::open(&path).unwrap().newest().is_none());
    filled(&path, 3..=5);
    let mut again = Journal::open(&path).unwrap();
    again.append(vec![row(6)]).unwrap();
    assert_eq!((revisions(&again), again.kept()), (vec![3, 4, 5, 6], Some((2, 6))));
    for revision in 2..=6 {
        assert_eq!(again.entries_at(revision).unwrap().map(|entries| entries.len() as u64), Some(revision));
    }
    assert_eq!((again.entries_at(1).unwrap(), again.entries_at(7).unwrap()), (None, None));
    assert_eq!(again.newest(), Some(&row(6)));
}

#[test]
fn a_last_line_without_an_end_is_dropped() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("memory.jsonl");
    filled(&path, 1..=2);
    let whole = bytes(&path);
    let second = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for end in second + 1..whole.len() {
        put(&path, &whole[..end]);
        let mut journal = Journal::open(&path).unwrap();
        assert_eq!((revisions(&journal), journal.damaged()), (vec![1], 0), "{end}");
        journal.append(vec![row(2)]).unwrap();
        assert_eq!(bytes(&path), whole);
    }
    put(&path, &[&whole[..], &[0; 4096]].concat());
    let mut journal = Journal::open(&path).unwrap();
    journal.append(vec![row(3)]).unwrap();
    assert_eq!((revisions(&Journal::open(&path).unwrap()), journal.damaged()), (vec![1, 2, 3], 0));
}

#[test]
fn damage_in_the_middle_is_told_and_stays() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("memory.jsonl");
    filled(&path, 1..=3);
    let mut damaged = bytes(&path);
    let second = damaged.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    damaged[second + 40] ^= 4;
    put(&path, &damaged);
    let mut journal = Journal::open(&path).unwrap();
    assert_eq!((revisions(&journal), journal.damaged(), journal.revision()), (vec![1, 3], 1, 3));
    journal.append(vec![row(4)]).unwrap();
    assert!(bytes(&path).starts_with(&damaged));
    for revision in 5..=8 {
        journal.append(vec![row(revision)]).unwrap();
    }
    journal.compact(3, 77).unwrap();
    assert_eq!((revisions(&journal), journal.damaged()), (vec![6, 7, 8], 0));
    assert!(bytes(&home.path().join("memory.jsonl.damaged.77")).starts_with(&damaged));
}

#[test]
fn no_revision_is_given_twice_after_damage_at_the_end() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("memory.jsonl");
    filled(&path, 1..=3);
    let mut damaged = bytes(&path);
    let at = damaged.len() - 9;
    damaged[at] ^= 1;
    put(&path, &damaged);
    let journal = Journal::open(&path).unwrap();
    assert_eq!((revisions(&journal), journal.revision()), (vec![1, 2], 3));
}

#[test]
fn a_long_journal_keeps_its_newest_rows() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("memory.jsonl");
    let mut journal = filled(&path, 1..=7);
    journal.compact(4, 0).unwrap();
    assert_eq!(revisions(&journal).len(), 7);
    journal.append(vec![row(8)]).unwrap();
    journal.compact(4, 0).unwrap();
    journal.append(vec![row(9)]).unwrap();
    assert_eq!(revisions(&Journal::open(&path).unwrap()), [5, 6, 7, 8, 9]);
    assert_eq!(journal.entries_at(4).unwrap().map(|entries| entries.len()), Some(4));
}

#[test]
fn a_store_that_was_closed_in_peace_is_known() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("memory.jsonl");
    let mut journal = filled(&path, 1..=2);
    journal.flush().unwrap();
    journal.flush().unwrap();
    let mut again = Journal::open(&path).unwrap();
    assert!(is_settled(&again) && again.damaged() == 0);
    again.append(vec![row(3)]).unwrap();
    let last = Journal::open(&path).unwrap();
    assert_eq!((is_settled(&last), revisions(&last)), (false, vec![1, 2, 3]));
}

#[test]
fn a_change_whose_file_can_t_be_replaced_is_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("memory.jsonl");
    let mut journal = filled(&path, 1..=1);
    let before = bytes(&path);
    let store = home.path().join("MEMORY.md");
    let staged = file::stage(&store, b"new", TEMPORARY).unwrap();
    folder::create(&store).unwrap();
    assert!(journal.commit(vec![row(2)], Some(staged)).is_err());
    assert_eq!((bytes(&path), journal.newest(), journal.has_no_remains()), (before, Some(&row(1)), true));
}
