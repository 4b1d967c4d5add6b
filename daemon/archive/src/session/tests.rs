use super::*;
use crate::testing::{archive, said, session};

#[test]
fn a_session_comes_back_after_the_file_was_opened_again() {
    for id in ["../x'\"", "a\0b", &"é".repeat(1024)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.db");
        Archive::open(&path).unwrap().create_session(&session(id)).unwrap();
        let mut archive = Archive::open(&path).unwrap();
        assert_eq!(archive.reader().session(id).unwrap(), Some(session(id)));
        assert_eq!(archive.reader().session("other").unwrap(), None);
        assert!(archive.create_session(&session(id)).is_err());
        archive.append(id, 0, 0, &[&said("user", "hello")], 2.0).unwrap();
        assert_eq!(archive.reader().transcript(id).unwrap().len(), 1);
        assert!(archive.lock(id, id, None, 0.0).unwrap());
        assert_eq!(archive.remove_session(id).unwrap().messages, 1);
        assert_eq!(archive.reader().session(id).unwrap(), None);
    }
}

#[test]
fn the_first_reason_to_end_stays_until_it_is_opened_again() {
    let (_folder, archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.close_session("s", "first", 2.0).unwrap();
    archive.close_session("s", "second", 3.0).unwrap();
    let reader = archive.reader();
    assert_eq!(reader.session("s").unwrap().unwrap().end_reason.as_deref(), Some("first"));
    assert_eq!(reader.endings().unwrap(), [("s".into(), Some(2.0))]);
    assert_eq!(reader.count_sessions().unwrap(), (0, 1));
    archive.reopen_session("s").unwrap();
    assert_eq!(reader.count_sessions().unwrap(), (1, 1));
    assert_eq!(reader.endings().unwrap(), [("s".into(), None)]);
}

#[test]
fn a_title_and_an_agent_are_taken_where_they_are_named() {
    let (_folder, archive) = archive();
    for id in ["s", "t"] {
        archive.create_session(&session(id)).unwrap();
    }
    let named = |id: &str| {
        let row = archive.reader().session(id).unwrap().unwrap();
        (row.title, row.agent)
    };
    let before = named("t");
    for (title, agent, expect) in [
        (Some("work"), None, (Some("work"), before.1.as_deref())),
        (None, Some("b"), (Some("work"), Some("b"))),
        (None, None, (Some("work"), Some("b"))),
        (Some("rest"), Some("c"), (Some("rest"), Some("c"))),
    ] {
        let [title, agent] = [title, agent].map(|name| name.map(str::to_owned));
        let branch = title.clone();
        archive.name_session("s", &SessionNames { title, agent, branch, cwd: None }).unwrap();
        assert_eq!(named("s"), (expect.0.map(str::to_owned), expect.1.map(str::to_owned)), "{expect:?}");
    }
    assert_eq!(archive.reader().session("s").unwrap().unwrap().branch.as_deref(), Some("rest"));
    assert_eq!(named("t"), before);
    assert_eq!(archive.reader().next_title("rest").unwrap(), "rest #2");
}

#[test]
fn a_snapshot_can_be_taken_anew() {
    let (_folder, archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.create_session(&session("t")).unwrap();
    let anew = SnapshotRow { user: Some("u".into()), sha256: "11".into(), user_revision: 4, ..SnapshotRow::default() };
    archive.save_snapshot("s", &anew).unwrap();
    assert_eq!(archive.reader().session("s").unwrap().unwrap().snapshot, anew);
    assert_eq!(archive.reader().session("t").unwrap(), Some(session("t")));
}

#[test]
fn a_crash_ends_what_was_open_when_it_is_noticed() {
    let (_folder, archive) = archive();
    for id in ["used", "idle", "closed"] {
        archive.create_session(&session(id)).unwrap();
    }
    archive.touch("used", 7.0).unwrap();
    archive.touch("used", 5.0).unwrap();
    archive.close_session("closed", "done", 3.0).unwrap();
    assert_eq!(archive.mark_interrupted(9.0).unwrap(), 2);
    let ended = |id: &str| {
        let row = archive.reader().session(id).unwrap().unwrap();
        (row.ended_at, row.end_reason)
    };
    assert_eq!(ended("used"), (Some(9.0), Some("crash".into())));
    assert_eq!(ended("idle"), (Some(9.0), Some("crash".into())));
    assert_eq!(ended("closed"), (Some(3.0), Some("done".into())));
    archive.reopen_session("used").unwrap();
    assert_eq!(ended("used"), (None, None));
}
