use std::path::Path;

use super::*;
use crate::search::{Kinds, Search};
use crate::testing::said;
use crate::{Archive, Reader};

const LIST: &str = r#"{"role":"user","content":[{"type":"text","text":"Grüße an  alle"}],"n":1.0}"#;

/// A file of the first version with everything that it can have.
fn first_version(path: &Path) {
    let mut connection = Connection::open(path).unwrap();
    migrate_by(&mut connection, &STEPS[..1]).unwrap();
    connection
        .execute_batch(
            "INSERT INTO session VALUES
               ('s', 'default', 'agent', NULL, 'title', 2, '{\"model\":\"m\"}', 'mem', NULL, 'aa', 3, 4, 10.0, NULL, NULL),
               ('t', 'work', NULL, 's', NULL, 0, NULL, NULL, 'usr', 'bb', 0, 1, 20.0, 21.0, 'closed');
             INSERT INTO compression VALUES ('c1', 's', 1, 11.0, 'first'), ('c2', 's', 2, 12.0, 'second');",
        )
        .unwrap();
    let called = r#"{"role":"assistant","tool_calls":[{"id":"1","function":{"name":"recall_search"}}]}"#;
    let answer = r#"{"role":"tool","tool_call_id":"1","content":"cobalt"}"#;
    let system = said("system", "cobalt");
    for (compression, position, message) in
        [("c1", 1, "\"bare cobalt\""), ("c1", 2, LIST), ("c2", 0, &system), ("c2", 5, called), ("c2", 6, answer)]
    {
        connection
            .execute("INSERT INTO removed VALUES (?1, ?2, ?3)", rusqlite::params![compression, position, message])
            .unwrap();
    }
}

fn found(reader: &Reader, query: &str) -> Vec<String> {
    let search = Search { query, session: None, profile: None, kinds: Kinds::ALL, since: None, until: None, limit: 9 };
    reader.search(&search).unwrap().hits.into_iter().filter_map(|hit| hit.text).collect()
}

#[test]
fn a_file_of_the_first_version_keeps_everything_and_can_be_searched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.db");
    first_version(&path);
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!(archive.index_pending(100).unwrap(), 0);
    let reader = archive.reader();
    let session = reader.session("s").unwrap().unwrap();
    assert_eq!((session.generation, session.settings.as_deref()), (2, Some("{\"model\":\"m\"}")));
    assert_eq!((session.snapshot.memory.as_deref(), session.snapshot.memory_revision), (Some("mem"), 3));
    assert_eq!(reader.session("t").unwrap().unwrap().end_reason.as_deref(), Some("closed"));
    assert_eq!(reader.removed("c1").unwrap(), [(1, "\"bare cobalt\"".into()), (2, LIST.into())]);
    assert_eq!(reader.removed("c2").unwrap().len(), 3);
    let described: Vec<_> =
        reader.describe("s").unwrap().into_iter().map(|one| (one.handle, one.messages, one.summary)).collect();
    assert_eq!(described, [("c1".into(), 2, "first".into()), ("c2".into(), 3, "second".into())]);
    assert_eq!(reader.describe("s").unwrap()[0].chars, 13 + LIST.chars().count() as u64);
    assert_eq!(found(reader, "grusse"), [""; 0]);
    assert_eq!(found(reader, "grüße"), ["Grüße an  alle"]);
    assert_eq!(found(reader, "cobalt"), ["bare cobalt"]);
    let shown = reader.show("s").unwrap().unwrap();
    assert_eq!((shown.messages, shown.tool_calls, shown.preview.as_str()), (5, 1, "Grüße an alle"));
    assert!((shown.last_active - 12.0).abs() < 1e-9);
    assert_eq!(reader.window("m", "").unwrap(), None);
    let bare = &reader.removed_page("c1", 0, 1).unwrap()[0];
    assert_eq!((bare.generation, bare.role.as_deref(), bare.session.as_str()), (0, None, "s"));
    archive.check().unwrap();
}

#[test]
fn a_file_of_the_second_version_learns_windows_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.db");
    first_version(&path);
    let mut connection = Connection::open(&path).unwrap();
    migrate_by(&mut connection, &STEPS[..2]).unwrap();
    assert_eq!(version(&connection).unwrap(), 2);
    drop(connection);
    let archive = Archive::open(&path).unwrap();
    let reader = archive.reader();
    assert_eq!(reader.session("s").unwrap().unwrap().generation, 2);
    assert_eq!(reader.removed("c2").unwrap().len(), 3);
    archive.keep_window("m", "", 8_192, 1.0).unwrap();
    assert_eq!(reader.window("m", "").unwrap(), Some(8_192));
}

#[test]
fn every_version_becomes_the_newest() {
    for version in 0..=STEPS.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.db");
        let mut connection = Connection::open(&path).unwrap();
        migrate_by(&mut connection, &STEPS[..version]).unwrap();
        drop(connection);
        let archive = Archive::open(&path).unwrap_or_else(|error| panic!("from {version}: {error}"));
        assert_eq!(super::version(archive.connection()).unwrap(), known());
        check(archive.connection()).unwrap();
        assert_eq!(archive.reader().count_sessions().unwrap(), (0, 0));
    }
}

#[test]
fn a_step_that_fails_half_way_leaves_the_old_version() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.db");
    first_version(&path);
    let mut connection = Connection::open(&path).unwrap();
    let fail: fn(&Transaction<'_>) -> Result<(), ArchiveError> =
        |_| Err(ArchiveError::Damaged { words: "half-way".into() });
    let steps = [STEPS[0], STEPS[1], Step::Code("CREATE TABLE late (a) STRICT", fail)];
    assert!(migrate_by(&mut connection, &steps).is_err());
    let steps = [STEPS[0], STEPS[1], Step::Sql("CREATE TABLE late (a ANY) STRICT; INSERT INTO nowhere VALUES (1)")];
    assert!(migrate_by(&mut connection, &steps).is_err());
    assert_eq!(version(&connection).unwrap(), 1);
    let removed: u64 = connection.query_row("SELECT count(*) FROM removed", [], |row| row.get(0)).unwrap();
    assert_eq!(removed, 5);
    let late =
        connection.query_row("SELECT count(*) FROM sqlite_master WHERE name IN ('late', 'message')", [], |row| {
            row.get::<_, u64>(0)
        });
    assert_eq!(late.unwrap(), 0);
}

#[test]
fn a_file_that_is_not_as_its_version_says_is_damaged() {
    for (statement, words) in [
        ("DROP TABLE usage", "usage"),
        ("ALTER TABLE session DROP COLUMN last_active", "session.last_active"),
        ("PRAGMA user_version = 0", "no version"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.db");
        drop(Archive::open(&path).unwrap());
        Connection::open(&path).unwrap().execute_batch(statement).unwrap();
        let error = Archive::open(&path).unwrap_err();
        assert!(error.is_damaged(), "{statement}: {error}");
        assert!(error.to_string().contains(words), "{statement}: {error}");
    }
}
