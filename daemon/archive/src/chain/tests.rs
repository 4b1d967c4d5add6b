use super::*;
use crate::Archive;
use crate::session::SessionRow;
use crate::testing::{archive, said, session};
use crate::usage::{Buckets, UsageRow};

/// Id, parent, start, end with its reason.
type Row<'a> = (&'a str, Option<&'a str>, f64, Option<(f64, &'a str)>);

fn sessions(archive: &Archive, rows: &[Row<'_>]) {
    for (id, parent, started_at, end) in rows {
        let row = SessionRow {
            parent: parent.map(str::to_owned),
            started_at: *started_at,
            ended_at: end.map(|(at, _)| at),
            end_reason: end.map(|(_, reason)| reason.to_owned()),
            ..session(id)
        };
        archive.create_session(&row).unwrap();
    }
}

#[test]
fn the_tip_is_the_newest_continuation() {
    let (_folder, archive) = archive();
    let compressed = |at: f64| Some((at, "compression"));
    sessions(
        &archive,
        &[
            ("root", None, 1.0, compressed(5.0)),
            ("delegate", Some("root"), 4.0, None),
            ("early", Some("root"), 5.0, None),
            ("next", Some("root"), 6.0, compressed(8.0)),
            ("tip", Some("next"), 8.0, None),
            ("closed", None, 1.0, Some((2.0, "closed"))),
            ("child", Some("closed"), 3.0, None),
            ("childless", None, 1.0, compressed(2.0)),
            ("helped", None, 1.0, compressed(5.0)),
            ("helper", Some("helped"), 4.0, None),
            ("self", Some("self"), 9.0, compressed(1.0)),
            ("one", Some("two"), 9.0, compressed(1.0)),
            ("two", Some("one"), 9.0, compressed(1.0)),
        ],
    );
    for (id, expect) in [
        ("root", "tip"),
        ("next", "tip"),
        ("early", "early"),
        ("closed", "closed"),
        ("childless", "childless"),
        ("helped", "helped"),
        ("unknown", "unknown"),
        ("", ""),
        ("self", "self"),
        ("one", "one"),
    ] {
        assert_eq!(archive.reader().tip(id).unwrap(), expect, "{id}");
    }
    for (id, expect) in [("tip", "root"), ("delegate", "delegate"), ("child", "child"), ("root", "root")] {
        assert_eq!(archive.reader().lineage_root(id).unwrap(), expect, "{id}");
    }
}

#[test]
fn a_chain_is_followed_a_hundred_steps() {
    let (_folder, archive) = archive();
    for number in 0..120 {
        let parent = format!("s{}", number - 1);
        let parent = (number > 0).then_some(parent.as_str());
        sessions(
            &archive,
            &[(&format!("s{number}"), parent, f64::from(number), Some((f64::from(number), "compression")))],
        );
    }
    assert_eq!(archive.reader().tip("s0").unwrap(), "s100");
    assert_eq!(archive.reader().tip("s50").unwrap(), "s119");
    // A chain is followed to its end however long it is.
    let reader = archive.reader();
    assert_eq!(reader.end_of_chain("s0").unwrap(), "s119");
    assert_eq!(reader.lineage_root("s119").unwrap(), "s0");
    let lineage = reader.lineage("s119").unwrap();
    assert_eq!(lineage, (0..120).rev().map(|number| format!("s{number}")).collect::<Vec<_>>());
}

#[test]
fn a_circle_of_sessions_ends() {
    let (_folder, archive) = archive();
    let ended = Some((1.0, "compression"));
    sessions(&archive, &[("one", Some("two"), 1.0, ended), ("two", Some("one"), 1.0, ended)]);
    let reader = archive.reader();
    assert_eq!(reader.lineage("one").unwrap(), ["one", "two"]);
    assert!(reader.end_of_chain("one").is_ok() && reader.tip("one").is_ok());
}

#[test]
fn a_resumption_goes_where_messages_are() {
    let (_folder, mut archive) = archive();
    sessions(
        &archive,
        &[
            ("empty", None, 1.0, None),
            ("older", Some("empty"), 2.0, None),
            ("a", Some("empty"), 3.0, None),
            ("b", Some("empty"), 3.0, None),
            ("full", Some("b"), 4.0, None),
            ("lonely", None, 1.0, None),
            ("one", Some("two"), 1.0, None),
            ("two", Some("one"), 1.0, None),
        ],
    );
    for id in ["older", "full"] {
        archive.append(id, 0, 0, &[&said("user", "x")], 5.0).unwrap();
    }
    for (id, expect) in [
        ("empty", "full"),
        ("full", "full"),
        ("older", "older"),
        ("lonely", "lonely"),
        ("one", "one"),
        ("nobody", "nobody"),
        ("", ""),
    ] {
        assert_eq!(archive.reader().resume_target(id).unwrap(), expect, "{id}");
    }
    for number in 0..34 {
        let parent = format!("r{}", number - 1);
        sessions(&archive, &[(&format!("r{number}"), (number > 0).then_some(parent.as_str()), 1.0, None)]);
    }
    archive.append("r33", 0, 0, &[&said("user", "x")], 5.0).unwrap();
    assert_eq!(archive.reader().resume_target("r0").unwrap(), "r0");
    assert_eq!(archive.reader().resume_target("r1").unwrap(), "r33");
}

#[test]
fn titles_count_on() {
    let (_folder, archive) = archive();
    let max = format!("top #{}", u64::MAX);
    for (number, title) in [
        "base",
        "base #2",
        "base #x",
        "base #",
        "base  #9",
        "other #7",
        "100%",
        "a_c",
        "abc #5",
        "top",
        &max,
        "base #7 #3",
        "basement #50",
    ]
    .iter()
    .enumerate()
    {
        archive.create_session(&SessionRow { title: Some((*title).into()), ..session(&number.to_string()) }).unwrap();
    }
    for (title, expect) in [
        ("base", "base #3"),
        ("base #2", "base #3"),
        ("base #99", "base #3"),
        ("new", "new"),
        ("new #4", "new"),
        ("other", "other #8"),
        ("100%", "100% #2"),
        ("1%", "1%"),
        ("a_c", "a_c #2"),
        ("b%", "b%"),
        ("top", &max),
        ("base #7", "base #3"),
        ("base #x", "base #x #2"),
        ("#3", "#3"),
        (" #3", " #3"),
        ("", ""),
    ] {
        assert_eq!(archive.reader().next_title(title).unwrap(), expect, "{title}");
    }
    let long = "é".repeat(1_024);
    archive.create_session(&SessionRow { title: Some(long.clone()), ..session("long") }).unwrap();
    let next = archive.reader().next_title(&long).unwrap();
    assert!(next.ends_with("é #2") && next.chars().count() <= 1_024, "{next}");
}

#[test]
fn only_forgotten_continuations_are_orphans() {
    let (_folder, mut archive) = archive();
    let compressed = Some((1.0, "compression"));
    let now = ORPHAN_AGE + 10.0;
    sessions(
        &archive,
        &[
            ("root", None, 0.0, compressed),
            ("closed", None, 0.0, Some((1.0, "closed"))),
            ("orphan", Some("root"), 2.0, None),
            ("young", Some("root"), 11.0, None),
            ("called", Some("root"), 2.0, None),
            ("empty", Some("root"), 2.0, None),
            ("ended", Some("root"), 2.0, Some((3.0, "done"))),
            ("child", Some("closed"), 2.0, None),
        ],
    );
    for id in ["orphan", "young", "called", "ended", "child"] {
        archive.append(id, 0, 0, &[&said("user", "x")], 3.0).unwrap();
    }
    let usage = UsageRow {
        session: Some("called"),
        call: None,
        time: 3.0,
        model: None,
        agent: None,
        provider: None,
        buckets: Buckets::default(),
    };
    archive.record_usage(&usage).unwrap();
    assert_eq!(archive.end_orphans(now).unwrap(), 1);
    let orphan = archive.reader().show("orphan").unwrap().unwrap();
    assert_eq!((orphan.row.ended_at, orphan.row.end_reason.as_deref()), (Some(now), Some("orphaned_compression")));
    assert_eq!(orphan.messages, 1);
    assert_eq!(archive.end_orphans(now).unwrap(), 0);
}

#[test]
fn another_profiles_session_is_no_part_of_a_lineage() {
    let (_folder, mut archive) = archive();
    sessions(&archive, &[("theirs", None, 1.0, Some((5.0, "compression"))), ("own", Some("theirs"), 6.0, None)]);
    let row =
        SessionRow { profile: "other".into(), parent: Some("theirs".into()), started_at: 6.0, ..session("strange") };
    archive.create_session(&row).unwrap();
    let secret = said("user", "the key is in the drawer");
    archive.append("theirs", 0, 0, &[&secret], 2.0).unwrap();
    assert_eq!(archive.reader().lineage("own").unwrap(), ["own", "theirs"]);
    assert_eq!(archive.reader().lineage("strange").unwrap(), ["strange"]);
    assert!(archive.reader().newest_bodies("strange", 1_000).unwrap().is_empty());
    assert_eq!(archive.reader().newest_bodies("own", 1_000).unwrap().len(), 1);
}
