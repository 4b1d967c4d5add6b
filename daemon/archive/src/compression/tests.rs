#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::removed::After;
use crate::testing::{archive, said, session};

const SNAPSHOT: fn() -> SnapshotRow =
    || SnapshotRow { memory: Some("new".into()), sha256: "11".into(), ..SnapshotRow::default() };

fn removal<'a>(
    session: &'a str,
    handle: &'a str,
    generation: u64,
    messages: &'a [(u64, &'a str)],
    after: Option<&'a [After<'a>]>,
) -> Removal<'a> {
    Removal { handle, session, generation, time: 9.0, summary: "", messages, after, is_transcript: false }
}

fn rule(id: &str) -> ConstraintRow {
    let [text, scope, source, state] = ["never push", "standing", "found", "active"].map(str::to_owned);
    ConstraintRow { id: id.into(), text, scope, source, at: 1.0, state }
}

#[test]
fn the_engine_and_the_rules_change_with_the_list_or_not_at_all() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let engine = EngineRow { state: "{}".into(), summary: Some("body".into()) };
    let rules = [rule("c_1")];
    let extras = CompressionExtras { engine: Some(&engine), constraints: &rules, ..CompressionExtras::default() };
    assert_eq!(archive.keep_compression(&removal("s", "h1", 1, &[(1, "7")], None), &extras).unwrap(), None);
    assert_eq!(archive.reader().engine("s").unwrap().as_ref(), Some(&engine));
    assert_eq!(archive.reader().constraints("s").unwrap(), rules);

    let later = EngineRow { state: "later".into(), summary: None };
    let more = [rule("c_2")];
    let snapshot = SNAPSHOT();
    let extras = CompressionExtras {
        engine: Some(&later),
        constraints: &more,
        continuation: Some(&snapshot),
        ..CompressionExtras::default()
    };
    let used = removal("s", "h1", 2, &[], None);
    assert!(archive.keep_compression(&used, &extras).is_err(), "a handle that was used before");
    assert_eq!(archive.reader().engine("s").unwrap(), Some(engine));
    assert_eq!(archive.reader().constraints("s").unwrap(), rules);
    assert_eq!(archive.reader().count_sessions().unwrap(), (1, 1));
}

#[test]
fn a_continuation_takes_everything_along_and_ends_the_one_before() {
    let (_folder, mut archive) = archive();
    let first = SessionRow { title: Some("work".into()), settings: Some("{}".into()), ..session("s") };
    archive.create_session(&first).unwrap();
    let list: Vec<String> = ["a", "b", "c"].map(|text| said("user", text)).into();
    let bodies: Vec<&str> = list.iter().map(String::as_str).collect();
    archive.append("s", 0, 0, &bodies, 2.0).unwrap();
    let handoff = said("assistant", "handoff");
    let after = [After::Kept(0), After::New(&handoff), After::Kept(2)];
    let engine = EngineRow { state: "{}".into(), summary: Some("body".into()) };
    let (rules, snapshot) = ([rule("c_1")], SNAPSHOT());
    let extras = CompressionExtras {
        engine: Some(&engine),
        constraints: &rules,
        continuation: Some(&snapshot),
        ..CompressionExtras::default()
    };
    let messages = [(1, bodies[1])];
    let next = archive.keep_compression(&removal("s", "h", 1, &messages, Some(&after)), &extras).unwrap().unwrap();

    assert_eq!((next.id.as_str(), next.parent.as_deref(), next.generation), ("s-c2", Some("s"), 0));
    assert_eq!((next.title.as_deref(), next.agent.as_deref()), (Some("work #2"), Some("a")));
    assert_eq!((&next.settings, &next.snapshot), (&first.settings, &snapshot));
    let reader = archive.reader();
    assert_eq!(reader.session("s-c2").unwrap(), Some(next));
    let ended = reader.session("s").unwrap().unwrap();
    assert_eq!((ended.end_reason.as_deref(), ended.ended_at), (Some("compression"), Some(9.0)));
    assert_eq!(reader.tip("s").unwrap(), "s-c2");
    let wanted = [list[0].clone(), handoff.clone(), list[2].clone()];
    assert_eq!(reader.transcript("s-c2").unwrap(), wanted);
    assert_eq!(reader.engine("s-c2").unwrap(), Some(engine));
    assert_eq!(reader.constraints("s-c2").unwrap(), rules);
    assert_eq!(reader.removed("h").unwrap(), [(1, list[1].clone())]);

    let extras = CompressionExtras { continuation: Some(&snapshot), ..CompressionExtras::default() };
    let later = archive.keep_compression(&removal("s-c2", "i", 1, &[], None), &extras).unwrap().unwrap();
    assert_eq!((later.id.as_str(), later.title.as_deref()), ("s-c3", Some("work #3")));
    assert_eq!(archive.reader().tip("s").unwrap(), "s-c3");
}

#[test]
fn the_next_id_is_free_and_not_longer_than_an_id_may_be() {
    let (_folder, mut archive) = archive();
    for id in ["s", "s-c2", "s-c3", "t-c1", "-c7"] {
        archive.create_session(&session(id)).unwrap();
    }
    let long = "é".repeat(ID_CHARS);
    for (id, next) in [("s", "s-c4"), ("s-c3", "s-c4"), ("u-c2", "u-c3"), ("t-c1", "t-c1-c2"), ("-c7", "-c7-c2")] {
        assert_eq!(archive.compression().unwrap().next_id(id).unwrap(), next);
    }
    assert!(archive.compression().unwrap().next_id(&long).unwrap().chars().count() <= ID_CHARS);
    let huge = format!("s-c{}", u64::MAX);
    assert_eq!(archive.compression().unwrap().next_id(&huge).unwrap(), format!("{huge}-c2"));
}

#[test]
fn what_was_begun_counts_only_with_the_rest() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let messages = [(2, "two"), (3, "three"), (7, "seven")];
    let all = removal("s", "h", 1, &messages, None);
    let beginning = |messages| Beginning { first: 2, messages, ..all.bare() };

    let mut keeping = archive.compression().unwrap();
    keeping.begin(&beginning(&["two", "three"])).unwrap();
    drop(keeping);
    assert_eq!(archive.reader().removed("h").unwrap(), []);
    assert_eq!(archive.reader().describe("s").unwrap(), []);

    let mut keeping = archive.compression().unwrap();
    keeping.begin(&beginning(&["two", "three", "four"])).unwrap();
    let kept = keeping.keep(&all, &CompressionExtras::default());
    assert!(matches!(kept, Err(ArchiveError::Misfit { .. })), "position 4 stays in the list");

    let mut keeping = archive.compression().unwrap();
    keeping.begin(&beginning(&["two", "three"])).unwrap();
    keeping.keep(&Removal { summary: "said", ..all }, &CompressionExtras::default()).unwrap();
    let texts = [(2, "two".into()), (3, "three".into()), (7, "seven".into())];
    assert_eq!(archive.reader().removed("h").unwrap(), texts);
    let described = &archive.reader().describe("s").unwrap()[0];
    assert_eq!((described.messages, described.chars, described.summary.as_str()), (3, 13, "said"));
    assert_eq!(archive.reader().show("s").unwrap().unwrap().messages, 3);
}

#[test]
fn a_transcript_has_what_was_begun_already() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.append("s", 0, 0, &["a", "b", "c"], 1.0).unwrap();
    let after = [After::Kept(0), After::Kept(2)];
    let messages = [(1, "b")];
    let all = removal("s", "h", 1, &messages, Some(&after));
    let mut keeping = archive.compression().unwrap();
    keeping.begin(&Beginning { first: 1, messages: &["b"], ..all.bare() }).unwrap();
    keeping.keep(&all, &CompressionExtras::default()).unwrap();
    assert_eq!(archive.reader().transcript("s").unwrap(), ["a", "c"]);
    assert_eq!(archive.reader().removed("h").unwrap(), [(1, "b".into())]);
    assert_eq!(archive.reader().show("s").unwrap().unwrap().messages, 3);
}
