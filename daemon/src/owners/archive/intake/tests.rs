#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

use std::fs;
use std::time::Instant;

use herma_archive::session::SessionRow;
use tempfile::TempDir;
use tokio::sync::oneshot;

use super::*;

/// An archive with the session `s`, and its intake.
struct Home {
    folder: TempDir,
    archive: Archive,
    intake: Intake,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (archive, intake) = opened(folder.path());
        let home = Self { folder, archive, intake };
        home.archive.create_session(&row()).unwrap();
        home
    }

    /// Simulates a kill: only the data on the disk remains.
    fn killed(self) -> Self {
        let Self { folder, archive, intake } = self;
        drop((archive, intake));
        let (archive, intake) = opened(folder.path());
        Self { folder, archive, intake }
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("archive.db-appends")
    }

    fn keep(&mut self, position: u64, messages: &[&str]) -> Option<Vec<Appended>> {
        self.intake.keep(&[append(position, messages)], &mut self.archive)
    }

    fn in_place(&mut self, position: u64, messages: &[&str]) -> Option<Appended> {
        self.intake.keep_known(&append(position, messages), &self.folder.path().join("archive.db"))
    }

    /// Does the work of the archive's thread between two jobs.
    fn note(&mut self) {
        self.intake.note(Some(Files::at(&self.folder.path().join("archive.db"))));
    }

    fn transcript(&self) -> Vec<String> {
        self.archive.reader().transcript("s").unwrap()
    }
}

fn opened(folder: &Path) -> (Archive, Intake) {
    let path = folder.join("archive.db");
    let mut archive = Archive::open(&path).unwrap();
    let mut intake = Intake::new(&path);
    intake.begin(&mut archive);
    (archive, intake)
}

fn row() -> SessionRow {
    SessionRow::new("s".into(), "default".into(), 1.0)
}

fn append(position: u64, messages: &[&str]) -> Append {
    Append {
        session: "s".into(),
        generation: 0,
        position,
        messages: messages.iter().map(|text| (*text).to_owned()).collect(),
        asked: Instant::now(),
        no_session: Box::new(|| ()),
        answer: oneshot::channel().0,
    }
}

#[test]
fn what_was_kept_is_there_after_a_kill() {
    let mut home = Home::new();
    assert_eq!(home.keep(0, &[r#"{"a": 1}"#, "2"]), Some(vec![Appended::Next(2)]));
    home.note();
    assert_eq!(home.in_place(2, &[r#""ä\u00e4""#]), Some(Appended::Next(3)));
    assert!(home.transcript().is_empty(), "the log has them");
    let home = home.killed();
    assert_eq!(home.transcript(), [r#"{"a": 1}"#, "2", r#""ä\u00e4""#]);
    assert!(fs::read(home.log()).unwrap().iter().all(|byte| *byte == 0), "nothing of them stays in the log");
    assert_eq!(home.killed().transcript().len(), 3);
}

#[test]
fn what_is_not_simply_the_next_goes_the_straight_way() {
    let mut home = Home::new();
    let large = format!("\"{}\"", "x".repeat(LARGEST));
    for (position, messages) in
        [(1, &["1"][..]), (0, &[]), (0, &[&large]), (0, &["{"]), (0, &[" 1"]), (0, &["1 "]), (0, &["\u{1}"])]
    {
        assert_eq!(home.keep(position, messages), None, "{position} {}", messages.len());
    }
    let unknown = Append { session: "t".into(), ..append(0, &["1"]) };
    assert_eq!(home.intake.keep(&[unknown], &mut home.archive), None);
    // Several appends all go the same way.
    assert_eq!(home.intake.keep(&[append(0, &["1"]), append(0, &["2"])], &mut home.archive), None);
    assert!(home.intake.is_empty() && home.in_place(0, &["1"]).is_none(), "nobody knows where it goes on");
    assert_eq!(home.intake.keep(&[append(0, &["1"]), append(1, &["2"])], &mut home.archive).unwrap().len(), 2);
    home.intake.take_over(&mut home.archive).unwrap();
    assert_eq!(home.transcript(), ["1", "2"]);
}

#[test]
fn a_full_log_is_taken_over_and_goes_on() {
    let mut home = Home::new();
    let text = format!("\"{}\"", "x".repeat(LARGEST - 2));
    let count = 40;
    for position in 0..count {
        assert_eq!(home.keep(position, &[&text]), Some(vec![Appended::Next(position + 1)]));
    }
    assert!(home.transcript().len() >= 20, "the log has no room for so many");
    assert_eq!(home.killed().transcript().len(), 40);
}

#[test]
fn a_log_that_was_taken_away_loses_nothing() {
    let mut home = Home::new();
    home.keep(0, &["1"]).unwrap();
    home.note();
    fs::remove_file(home.log()).unwrap();
    assert_eq!(home.in_place(1, &["2"]), None);
    assert_eq!(home.keep(1, &["2"]), None);
    home.intake.take_over(&mut home.archive).unwrap();
    assert_eq!(home.keep(1, &["2"]), Some(vec![Appended::Next(2)]));
    assert_eq!(home.killed().transcript(), ["1", "2"]);
}

#[test]
fn a_log_is_its_archives_alone() {
    let mut home = Home::new();
    home.keep(0, &["1"]).unwrap();
    for name in ["archive.db", "archive.db-wal", "archive.db-shm"] {
        drop(fs::remove_file(home.folder.path().join(name)));
    }
    let mut home = home.killed();
    home.archive.create_session(&row()).unwrap();
    assert!(home.transcript().is_empty());
    assert_eq!(home.keep(0, &["2"]), Some(vec![Appended::Next(1)]));
    assert_eq!(home.killed().transcript(), ["2"]);
}

#[test]
fn what_waits_goes_into_the_archive_that_comes_into_use() {
    let mut home = Home::new();
    home.keep(0, &["1"]).unwrap();
    let other = tempfile::tempdir().unwrap();
    let mut archive = Archive::open(&other.path().join("archive.db")).unwrap();
    archive.create_session(&row()).unwrap();
    home.intake.switch_archive(&mut archive);
    assert_eq!(archive.reader().transcript("s").unwrap(), ["1"]);
    assert!(home.intake.is_empty());
}

#[test]
fn an_archive_that_is_elsewhere_is_not_answered_for_in_place() {
    let mut home = Home::new();
    home.keep(0, &["1"]).unwrap();
    home.note();
    let path = home.folder.path().join("archive.db");
    fs::rename(&path, home.folder.path().join("moved")).unwrap();
    assert_eq!(home.in_place(1, &["2"]), None);
    // The log still has the message; the archive's thread answers its caller.
    home.intake.take_over(&mut home.archive).unwrap();
    assert_eq!(home.transcript(), ["1", "2"]);
}

/// After a failed move only the log knows the next position of the session. A message at a position that was already
/// confirmed used to be stored twice, and was lost later.
#[test]
fn a_position_that_was_answered_for_is_not_given_again() {
    let mut home = Home::new();
    home.keep(0, &["1"]).unwrap();
    let _: Option<()> = home.intake.forget_places();
    assert_eq!(home.keep(0, &["2"]), None);
    assert_eq!(home.killed().transcript(), ["1"]);
}
