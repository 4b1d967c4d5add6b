use std::io::{Seek as _, SeekFrom, Write as _};

use super::*;
use crate::session::SessionRow;
use crate::testing::{archive, said, session};

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let mut file = std::fs::File::options().write(true).create(true).truncate(false).open(path).unwrap();
    file.seek(SeekFrom::Start(at)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn what_is_no_database_is_damaged_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.db");
    let words = b"this is a text that somebody put here, long enough to be a header".repeat(20);
    overwrite(&path, 0, &words);
    let error = Archive::open(&path).unwrap_err();
    assert!(error.is_damaged(), "{error}");
    assert!(Reader::open(&path).unwrap_err().is_damaged());
    assert_eq!(std::fs::read(&path).unwrap(), words);
}

#[test]
fn a_bad_page_is_met_later() {
    let (folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let body = said("user", &"words ".repeat(200));
    let bodies = vec![body.as_str(); 200];
    archive.append("s", 0, 0, &bodies, 1.0).unwrap();
    archive.reader().check().unwrap();
    drop(archive);
    let path = folder.path().join("archive.db");
    let pages = path.metadata().unwrap().len() / 4096;
    for page in pages / 2..pages {
        overwrite(&path, page * 4096, &[0xee; 4096]);
    }
    let errors = match Archive::open(&path) {
        Ok(archive) => vec![archive.reader().check().unwrap_err(), archive.reader().transcript("s").unwrap_err()],
        Err(error) => vec![error],
    };
    assert!(errors.iter().all(ArchiveError::is_damaged), "{errors:?}");
}

#[test]
fn a_newer_file_is_left_alone_but_can_be_read() {
    let (folder, archive) = archive();
    let path = folder.path().join("archive.db");
    archive.create_session(&session("s")).unwrap();
    drop(archive);
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch("ALTER TABLE session ADD COLUMN new TEXT; PRAGMA user_version = 99").unwrap();
    drop(connection);
    assert!(matches!(Archive::open(&path), Err(ArchiveError::Newer { found: 99, .. })));
    assert!(matches!(Reader::open(&path), Err(ArchiveError::Newer { found: 99, .. })));
    let reader = Archive::open_newer(&path).unwrap();
    assert_eq!(reader.session("s").unwrap().as_ref().map(|row: &SessionRow| row.id.as_str()), Some("s"));
    assert!(reader.connection.execute("DELETE FROM session", []).is_err());
}

#[test]
fn a_second_reader_sees_what_was_acknowledged_and_writes_nothing() {
    let (folder, archive) = archive();
    let path = folder.path().join("archive.db");
    let reader = Reader::open(&path).unwrap();
    assert_eq!(reader.session("s").unwrap(), None);
    archive.create_session(&session("s")).unwrap();
    assert_eq!(reader.session("s").unwrap(), Some(session("s")));
    reader.check().unwrap();
    let refused = reader.connection.execute("DELETE FROM session", []).map_err(ArchiveError::from).unwrap_err();
    assert!(refused.is_refused(), "{refused}");
}

#[test]
fn a_reader_makes_no_file_and_migrates_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.db");
    assert!(Reader::open(&path).unwrap_err().is_refused());
    assert!(!path.exists());
    overwrite(&path, 0, b"");
    assert!(matches!(Reader::open(&path), Err(ArchiveError::Older { found: 0, .. })));
    assert!(Archive::open(&path).is_ok());
    assert!(Reader::open(&path).is_ok());
}
