#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;

fn begun(id: &str) -> Begun {
    let file = format!("s/{id}.txt");
    let text = str::to_owned;
    let (session, profile, tool) = (text("s"), text("default"), text("terminal"));
    Begun { handle: Handle::of(&file).to_string(), session, profile, tool, id: text(id), file }
}

/// When the catalog was rewritten while a file was being written, it lost the row that the file was begun. After a kill
/// the file was adopted although its handle was never returned.
#[test]
fn what_is_begun_is_still_said_after_the_file_was_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outputs.jsonl");
    let mut catalog = Catalog::open(&path);
    catalog.begin(&begun("done"));
    catalog.begin(&begun("live"));
    catalog.end(Handle::of("s/done.txt"));
    for _ in 0..2 {
        catalog.is_damaged = true;
        catalog.tidy(0.0);
        let again = Catalog::open(&path);
        assert_eq!(again.known.begun.into_values().collect::<Vec<_>>(), [begun("live")]);
        // The line can still be invalidated.
        let (_, place) = &catalog.live[&Handle::of("s/live.txt")];
        let line = std::fs::read(&path).unwrap().split_off(usize::try_from(place.unwrap()).unwrap());
        assert_eq!(row::read(&line), Ok(Row::Begin(begun("live"))));
    }
    catalog.append(&Row::Opened { boot: "b".into() });
    catalog.deny_begin(Handle::of("s/live.txt"));
    let again = Catalog::open(&path);
    assert!(again.known.begun.is_empty() && again.is_doubtful && again.known.boot.is_some());
}

#[test]
fn rows_that_wait_are_written_when_they_can_be_and_are_not_held_without_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("outputs.jsonl");
    let mut catalog = Catalog::open(&path);
    catalog.append(&Row::Opened { boot: "0".into() });
    for (count, is_held) in [(3, true), (PENDING / 100, false)] {
        catalog.appender = Appender::open_to_read(&path).unwrap();
        (0..count).for_each(|number| catalog.append(&Row::Opened { boot: format!("{number:100}") }));
        assert_eq!((catalog.pending.count > 0, catalog.lacks_rows), (true, !is_held));
        assert_eq!(catalog.take_notices().len(), 1);
        assert!(catalog.pending.lines.len() <= PENDING);
        catalog.appender = None;
        catalog.known.boot = Some("z".into());
        catalog.tidy(0.0);
        assert!(catalog.pending.count == 0 && !catalog.lacks_rows);
        let boot = Catalog::open(&path).known.boot.unwrap();
        assert_eq!(boot, if is_held { format!("{:100}", count - 1) } else { "z".into() });
    }
}
