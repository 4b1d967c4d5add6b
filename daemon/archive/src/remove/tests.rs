use super::*;
use crate::index::{MemoryText, OutputPart};
use crate::removed::Removal;
use crate::search::Search;
use crate::session::SessionRow;
use crate::testing::{archive, said, session};
use crate::usage::{Buckets, UsageRow};

fn fill(archive: &mut Archive, id: &str, secret: &str) -> u64 {
    archive.create_session(&session(id)).unwrap();
    let bodies: Vec<String> = (0..50).map(|number| said("user", &format!("{secret} number {number}"))).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    archive.append(id, 0, 0, &bodies, 1.0).unwrap();
    let removal = Removal {
        handle: &format!("cmp_{id}"),
        session: id,
        generation: 1,
        time: 2.0,
        summary: secret,
        messages: &[(0, bodies[0])],
        after: None,
        is_transcript: false,
    };
    archive.keep_removed(&removal).unwrap();
    let handle = format!("out_{id}");
    let part = OutputPart {
        handle: &handle,
        session: id,
        profile: "default",
        time: 1.0,
        line: 1,
        start: 0,
        chars: 9,
        text: secret,
        is_first: true,
        is_last: false,
    };
    archive.index_outputs(&[part]).unwrap();
    let usage = UsageRow {
        session: Some(id),
        call: None,
        time: 1.0,
        model: None,
        agent: None,
        provider: None,
        buckets: Buckets::default(),
    };
    archive.record_usage(&usage).unwrap();
    archive.lock(id, "me", None, 0.0).unwrap();
    archive.index_pending(1000).unwrap();
    bodies.iter().map(|body| body.len() as u64).sum()
}

/// Runs all steps, and returns how many there were.
fn forget(archive: &mut Archive) -> usize {
    let mut steps = 1;
    while archive.forget_step().unwrap() {
        steps += 1;
    }
    steps
}

fn found(archive: &Archive, query: &str) -> usize {
    archive.reader().search(&Search::everywhere(query, 99)).unwrap().hits.len()
}

#[test]
fn nothing_of_a_removed_session_is_left_in_the_files() {
    let (folder, mut archive) = archive();
    fill(&mut archive, "keep", "innocent");
    let bytes = fill(&mut archive, "gone", "xyzzysecret");
    archive.create_session(&SessionRow { parent: Some("gone".into()), ..session("child") }).unwrap();
    let memory = MemoryText {
        profile: "p",
        target: "user",
        revision: 1,
        time: 1.0,
        session: Some("gone"),
        action: "add",
        text: "stays",
    };
    archive.index_memory(&memory).unwrap();
    assert_eq!(found(&archive, "xyzzysecret"), 51);
    let removed = archive.remove_session("gone").unwrap();
    forget(&mut archive);
    assert_eq!(removed, Removed { messages: 50, bytes, output_handles: vec!["out_gone".into()] });
    assert_eq!(found(&archive, "xyzzysecret"), 0);
    assert_eq!(found(&archive, "innocent"), 51);
    assert_eq!(found(&archive, "stays"), 1);
    for entry in folder.path().read_dir().unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read(&path).unwrap();
        assert!(!text.windows(6).any(|bytes| bytes == b"xyzzys"), "{}", path.display());
    }
    let reader = archive.reader();
    assert_eq!(reader.session("gone").unwrap(), None);
    assert_eq!(reader.describe("gone").unwrap(), []);
    assert_eq!(reader.removed("cmp_gone").unwrap(), []);
    assert_eq!(reader.lock_holder("gone", 0.0).unwrap(), None);
    assert_eq!(reader.session_totals("gone").unwrap().0.calls, 0);
    assert!(
        reader
            .list(&crate::list::List { limit: 9, ..Default::default() })
            .unwrap()
            .iter()
            .any(|shown| shown.row.id == "child")
    );
    archive.reader().check().unwrap();
}

#[test]
fn ids_are_not_given_again() {
    let (_folder, mut archive) = archive();
    fill(&mut archive, "s", "word");
    let newest = archive.reader().around(1, 0, 999).unwrap().last().unwrap().id;
    archive.remove_session("s").unwrap();
    archive.create_session(&session("s")).unwrap();
    archive.append("s", 0, 0, &["\"x\""], 1.0).unwrap();
    assert_eq!(archive.reader().around(newest, 0, 0).unwrap(), []);
    let (key, next): (i64, i64) = archive
        .connection()
        .query_row("SELECT session, id FROM message", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    assert!(key > 1 && next > i64::try_from(newest).unwrap());
}

#[test]
fn an_unknown_session_is_nothing_to_remove() {
    let (_folder, mut archive) = archive();
    assert_eq!(archive.remove_session("unknown").unwrap(), Removed::default());
}

/// Stores and indexes messages with words of their own.
fn fill_words(archive: &mut Archive, id: &str, word: &str) {
    archive.create_session(&session(id)).unwrap();
    for first in (0..2_000).step_by(500) {
        let text = |number: u64| (0..60).map(|at| format!("{word}{number}w{at} ")).collect::<String>();
        let bodies: Vec<String> = (first..first + 500).map(|number| said("user", &text(number))).collect();
        let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
        archive.append(id, 0, first, &bodies, 1.0).unwrap();
        archive.index_pending(1_000).unwrap();
    }
}

#[test]
fn a_large_session_is_forgotten_in_steps_between_which_others_write() {
    let (folder, mut archive) = archive();
    fill_words(&mut archive, "stays", "innocent");
    fill_words(&mut archive, "gone", "xyzzy");
    archive.remove_session("gone").unwrap();
    assert_eq!(found(&archive, "xyzzy7w7"), 0);
    let mut steps = 0;
    while archive.forget_step().unwrap() {
        let body = said("user", &format!("later {steps}"));
        archive.append("stays", 0, 2_000 + steps, &[&body], 1.0).unwrap();
        archive.index_pending(1_000).unwrap();
        steps += 1;
        // As if the daemon was killed between two steps.
        if steps == 2 {
            archive = Archive::open(&folder.path().join("archive.db")).unwrap();
        }
        assert!(steps < 1_000, "it never ends");
    }
    assert!(steps >= 3, "{steps}");
    assert_eq!(found(&archive, "innocent7w7"), 1);
    assert_eq!(found(&archive, "later"), usize::try_from(steps).unwrap().min(99));
    for entry in folder.path().read_dir().unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(5).any(|piece| piece == b"xyzzy"), "{}", path.display());
    }
}

#[test]
fn outputs_of_a_session_are_forgotten_some_at_a_time() {
    let (_folder, mut archive) = archive();
    fill(&mut archive, "s", "secret");
    assert_eq!(archive.forget_some_outputs("s").unwrap(), ["out_s"]);
    assert_eq!(archive.forget_some_outputs("s").unwrap(), [""; 0]);
    assert_eq!(archive.remove_session("s").unwrap().messages, 50);
    assert!(forget(&mut archive) > 1);
}

#[test]
fn a_later_removal_does_not_take_an_earlier_one_for_done() {
    let (folder, mut archive) = archive();
    fill(&mut archive, "gone", "xyzzysecret");
    archive.create_session(&session("empty")).unwrap();
    // In the order of the daemon: outputs first, and then the rest, of which nothing may be indexed.
    archive.forget_some_outputs("gone").unwrap();
    archive.remove_session("gone").unwrap();
    archive.remove_session("empty").unwrap();
    assert!(forget(&mut archive) > 2, "nothing was merged");
    for entry in folder.path().read_dir().unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(5).any(|piece| piece == b"xyzzy"), "{}", path.display());
    }
}
