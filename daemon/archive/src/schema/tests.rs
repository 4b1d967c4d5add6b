use super::*;
use crate::Archive;

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
        ("PRAGMA user_version = 18", "never released"),
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
