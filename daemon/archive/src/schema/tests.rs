use super::*;
use crate::Archive;
use crate::removed::{After, Removal};
use crate::search::Search;

#[test]
fn every_version_becomes_the_newest() {
    for steps in 0..=STEPS.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.db");
        let mut connection = Connection::open(&path).unwrap();
        if steps > 0 {
            migrate_by(&mut connection, &STEPS[..steps]).unwrap();
        }
        drop(connection);
        let archive = Archive::open(&path).unwrap_or_else(|error| panic!("after {steps} steps: {error}"));
        assert_eq!(version(archive.connection()).unwrap(), known());
        check(archive.connection()).unwrap();
        assert_eq!(archive.reader().count_sessions().unwrap(), (0, 0));
    }
}

#[test]
fn what_an_older_version_kept_is_read_moved_and_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.db");
    let mut connection = Connection::open(&path).unwrap();
    migrate_by(&mut connection, &STEPS[..1]).unwrap();
    connection
        .execute_batch(
            "INSERT INTO session (id, profile, sha256, memory_revision, user_revision, started_at, messages)
                 VALUES ('s', 'default', '00', 0, 0, 1.0, 2);
             INSERT INTO session_key (key, id) VALUES (1, 's');
             UPDATE meta SET value = 3 WHERE name = 'next_id';
             INSERT INTO message (id, session, generation, position, role, time, recalled, body)
                 VALUES (1, 1, 0, 0, 'user', 1.0, 0, 'old'), (2, 1, 0, 1, 'user', 1.0, 0, 'older');",
        )
        .unwrap();
    drop(connection);
    let mut archive = Archive::open(&path).unwrap();
    archive.append("s", 0, 2, &["new"], 2.0).unwrap();
    assert_eq!(archive.reader().transcript("s").unwrap(), ["old", "older", "new"]);
    let after = [After::Kept(0), After::New("summary")];
    let removal = Removal {
        handle: "h",
        session: "s",
        generation: 1,
        time: 3.0,
        summary: "",
        messages: &[(1, "older"), (2, "new")],
        after: Some(&after),
        is_transcript: true,
    };
    archive.keep_removed(&removal).unwrap();
    assert_eq!(archive.reader().transcript("s").unwrap(), ["old", "summary"]);
    assert_eq!(archive.reader().removed("h").unwrap(), [(1, "older".into()), (2, "new".into())]);
    assert_eq!(archive.remove_session("s").unwrap().messages, 4);
    for table in ["message_row", "message_text"] {
        let count = format!("SELECT count(*) FROM {table}");
        assert_eq!(archive.connection().query_row(&count, [], |row| row.get::<_, u64>(0)).unwrap(), 0, "{table}");
    }
}

#[test]
fn what_an_older_version_indexed_is_found_again_by_stems() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.db");
    let mut connection = Connection::open(&path).unwrap();
    migrate_by(&mut connection, &STEPS[..1]).unwrap();
    connection
        .execute_batch(
            r#"INSERT INTO session (id, profile, sha256, memory_revision, user_revision, started_at, messages)
                 VALUES ('s', 'default', '00', 0, 0, 1.0, 1);
             INSERT INTO session_key (key, id) VALUES (1, 's');
             UPDATE meta SET value = 4 WHERE name = 'next_id';
             UPDATE meta SET value = 3 WHERE name = 'indexed';
             INSERT INTO message (id, session, generation, position, role, time, recalled, body)
                 VALUES (1, 1, 0, 0, 'user', 1.0, 0, '{"role":"user","content":"two bookings"}');
             INSERT INTO memory_text (id, profile, target, revision, time, action, text)
                 VALUES (2, 'default', 'memory', 1, 1.0, 'add', 'they booked early');
             INSERT INTO output (key, handle, session, profile, complete) VALUES (1, 'out', 's', 'default', 1);
             INSERT INTO output_part (id, output, line, start, chars) VALUES (3, 1, 1, 0, 4);
             INSERT INTO document (id, kind, profile, time)
                 VALUES (1, 1, 'default', 1.0), (2, 3, 'default', 1.0), (3, 2, 'default', 1.0);
             INSERT INTO word (rowid, words, pieces, scope)
                 VALUES (1, 'two bookings', '', ''), (2, 'they booked early', '', ''), (3, 'book', '', '');"#,
        )
        .unwrap();
    drop(connection);
    let mut archive = Archive::open(&path).unwrap();
    assert_eq!(archive.index_pending(100).unwrap(), 0);
    let search = |query| {
        let hits = archive.reader().search(&Search::everywhere(query, 9)).unwrap().hits;
        hits.into_iter().map(|hit| hit.source.handle()).collect::<Vec<_>>()
    };
    assert_eq!(search("booking"), ["msg_1", "mem_2"]);
    assert_eq!(search("early"), ["mem_2"]);
    // Outputs are put into the index anew by whoever has their files.
    assert_eq!(archive.reader().indexed_outputs().unwrap(), [""; 0]);
}

#[test]
fn a_step_that_fails_half_way_leaves_the_old_version() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let with = |step| STEPS.iter().copied().chain([step]).collect::<Vec<_>>();
    let broken = with("CREATE TABLE late (a ANY) STRICT; INSERT INTO nowhere VALUES (1)");
    assert!(migrate_by(&mut connection, &broken).is_err());
    assert_eq!(version(&connection).unwrap(), known());
    let late = "SELECT count(*) FROM sqlite_master WHERE name = 'late'";
    assert_eq!(connection.query_row(late, [], |row| row.get::<_, u64>(0)).unwrap(), 0);
    migrate_by(&mut connection, &with("CREATE TABLE late (a ANY) STRICT")).unwrap();
    assert_eq!(version(&connection).unwrap(), known() + 1);
}

#[test]
fn a_file_that_is_not_as_its_version_says_is_damaged() {
    for (statement, words) in [
        ("DROP TABLE usage", "usage"),
        ("DROP VIEW message", "message.id"),
        ("ALTER TABLE session DROP COLUMN last_active", "session.last_active"),
        ("PRAGMA user_version = 0", "no version"),
        ("PRAGMA user_version = 3", "never released"),
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

/// `PRAGMA integrity_check` of SQLite 3.40, which current distributions still ship, looks for columns of such a table
/// in the order of its key, and calls a sound file damaged where another one was declared in between.
#[test]
fn tables_without_rowid_declare_their_key_first() {
    let mut connection = Connection::open_in_memory().unwrap();
    migrate(&mut connection).unwrap();
    let mut query = connection
        .prepare(
            "SELECT list.name, info.name, info.pk FROM pragma_table_list AS list, pragma_table_info(list.name) AS info
             WHERE list.wr ORDER BY list.name, info.cid",
        )
        .unwrap();
    let rows = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get::<_, u64>(2)?))).unwrap();
    let mut last: (String, u64) = (String::new(), 0);
    for row in rows {
        let (table, column, key): (String, String, u64) = row.unwrap();
        let before = if table == last.0 { last.1 } else { 0 };
        let in_place = if key > 0 { key == before + 1 } else { before > 0 };
        assert!(in_place, "{table}.{column} stands in front of a column of the key");
        last = (table, if key > 0 { key } else { u64::MAX - 1 });
    }
    assert!(!last.0.is_empty());
}

#[test]
fn the_documents_have_every_version() {
    let page = include_str!("../../../../docs/storage.md");
    let section = page.split_once("\n## Versions\n").unwrap().1.split("\n## ").next().unwrap();
    let numbers = section.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()?.parse::<u32>().ok());
    assert_eq!(numbers.collect::<Vec<_>>(), (FIRST..=known()).collect::<Vec<_>>());
}
