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
    let steps = [tables::TABLES, "CREATE TABLE late (a ANY) STRICT; INSERT INTO nowhere VALUES (1)"];
    assert!(migrate_by(&mut connection, &steps).is_err());
    assert_eq!(version(&connection).unwrap(), FIRST);
    let late = "SELECT count(*) FROM sqlite_master WHERE name = 'late'";
    assert_eq!(connection.query_row(late, [], |row| row.get::<_, u64>(0)).unwrap(), 0);
    let steps = [tables::TABLES, "CREATE TABLE late (a ANY) STRICT"];
    migrate_by(&mut connection, &steps).unwrap();
    assert_eq!(version(&connection).unwrap(), FIRST + 1);
}

#[test]
fn a_file_that_is_not_as_its_version_says_is_damaged() {
    for (statement, words) in [
        ("DROP TABLE usage", "usage"),
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
