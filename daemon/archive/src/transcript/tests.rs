use proptest::prelude::*;

use super::*;
use crate::testing::{archive, session};

/// The columns are position, messages, result, and how many messages there are then.
#[test]
fn what_is_there_is_accepted_once_and_nothing_else_takes_its_place() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let conflict = |position| Appended::Conflict { generation: 0, position };
    for (generation, position, messages, expect) in [
        (0, 0, &["a", "b"][..], Appended::Next(2)),
        (0, 0, &["a", "b"], Appended::Next(2)),
        (0, 1, &["b", "c", "d"], Appended::Next(4)),
        (0, 1, &["b"], Appended::Next(4)),
        (0, 4, &[], Appended::Next(4)),
        (0, 5, &["f"], conflict(4)),
        (0, u64::MAX, &["f"], conflict(4)),
        (0, 5, &[], conflict(4)),
        (0, 3, &["x", "e"], conflict(4)),
        (0, 0, &["a", "b", "c", "x"], conflict(4)),
        (1, 4, &["e"], conflict(4)),
        (u64::MAX, 4, &["e"], conflict(4)),
        (0, 4, &["e"], Appended::Next(5)),
    ] {
        let appended = archive.append("s", generation, position, messages, 2.0).unwrap();
        assert_eq!(appended, expect, "{generation} {position} {messages:?}");
    }
    assert_eq!(archive.reader().transcript("s").unwrap(), ["a", "b", "c", "d", "e"]);
    assert_eq!(archive.reader().show("s").unwrap().unwrap().messages, 5);
}

#[test]
fn an_unknown_session_has_no_transcript() {
    let (_folder, mut archive) = archive();
    assert!(matches!(archive.append("s", 0, 0, &["a"], 1.0), Err(ArchiveError::NoSession { .. })));
    assert_eq!(archive.reader().transcript("s").unwrap(), [""; 0]);
}

#[test]
fn sessions_do_not_mix() {
    let (_folder, mut archive) = archive();
    for id in ["s", "t"] {
        archive.create_session(&session(id)).unwrap();
        assert_eq!(archive.append(id, 0, 0, &[id], 1.0).unwrap(), Appended::Next(1));
    }
    assert_eq!(archive.reader().transcript("t").unwrap(), ["t"]);
}

#[test]
fn the_newest_call_of_an_id_tells_what_its_result_is() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let call = |name: &str| {
        let call = serde_json::json!({"id": "c", "function": {"name": name}});
        serde_json::json!({"role": "assistant", "tool_calls": [call]}).to_string()
    };
    let (recall, other) = (call("recall_search"), call("grep"));
    let result = r#"{"role":"tool","tool_call_id":"c","content":"x"}"#;
    archive.append("s", 0, 0, &[&recall], 1.0).unwrap();
    archive.append("s", 0, 1, &[result, &other, result], 1.0).unwrap();
    archive.append("s", 0, 4, &[result, &recall, result], 1.0).unwrap();
    let recalled: Vec<bool> =
        archive.reader().around(1, 0, 9).unwrap().into_iter().map(|message| message.recalled).collect();
    assert_eq!(recalled, [false, true, false, false, false, false, true]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is appended, the transcript equals the list of a model that only knows positions.
    #[test]
    fn appends_are_as_a_plain_list(batches in prop::collection::vec((0..12_u64, prop::collection::vec("[ab]", 0..4)), 1..20)) {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        let mut model: Vec<String> = Vec::new();
        for (position, batch) in batches {
            let at = usize::try_from(position).unwrap();
            let fits = at <= model.len() && model[at..].iter().zip(&batch).all(|(kept, given)| kept == given);
            if fits {
                let known = (model.len() - at).min(batch.len());
                model.extend(batch[known..].iter().cloned());
            }
            let messages: Vec<&str> = batch.iter().map(String::as_str).collect();
            let next = to_u64(model.len());
            let expect = if fits { Appended::Next(next) } else { Appended::Conflict { generation: 0, position: next } };
            prop_assert_eq!(archive.append("s", 0, position, &messages, 1.0).unwrap(), expect);
        }
        prop_assert_eq!(archive.reader().transcript("s").unwrap(), model);
    }
}

#[test]
fn several_are_appended_at_once_and_a_refused_one_changes_nothing_for_the_others() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.create_session(&session("t")).unwrap();
    let append =
        |session, generation, position, messages| Append { session, generation, position, time: 1.0, messages };
    let appends = [
        append("s", 0, 0, &["a", "b"]),
        append("unknown", 0, 0, &["x"]),
        append("t", 0, 1, &["gap"]),
        append("s", 0, 2, &["c"]),
        append("t", 0, 0, &["d"]),
        append("s", 1, 3, &["later"]),
    ];
    let answers = archive.append_all(&appends).unwrap();
    assert!(matches!(answers[1], Err(ArchiveError::NoSession { .. })));
    let answers: Vec<Option<&Appended>> = answers.iter().map(|answer| answer.as_ref().ok()).collect();
    let conflict = |generation, position| Appended::Conflict { generation, position };
    assert_eq!(
        answers,
        [
            Some(&Appended::Next(2)),
            None,
            Some(&conflict(0, 0)),
            Some(&Appended::Next(3)),
            Some(&Appended::Next(1)),
            Some(&conflict(0, 3)),
        ]
    );
    assert_eq!(archive.reader().transcript("s").unwrap(), ["a", "b", "c"]);
    assert_eq!(archive.reader().transcript("t").unwrap(), ["d"]);
    assert_eq!(archive.reader().show("s").unwrap().unwrap().messages, 3);
}

#[test]
fn what_is_taken_over_counts_once() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let epoch = archive.reader().epoch().unwrap();
    assert_ne!(epoch, self::archive().1.reader().epoch().unwrap(), "another archive has another one");
    assert_eq!(archive.reader().place("s").unwrap(), (0, 0));
    assert!(matches!(archive.reader().place("t"), Err(ArchiveError::NoSession { .. })));
    let first = Append { session: "s", generation: 0, position: 0, time: 7.0, messages: &["a", "b"] };
    let (next, answers) = archive.take_over(&[first, Append { session: "t", ..first }]).unwrap();
    assert_eq!(next, epoch + 1);
    assert!(matches!(answers[..], [Ok(Appended::Next(2)), Err(ArchiveError::NoSession { .. })]));
    assert_eq!((archive.reader().epoch().unwrap(), archive.reader().place("s").unwrap()), (next, (0, 2)));
    assert_eq!(archive.reader().session("s").unwrap().unwrap().started_at, session("s").started_at);
    // A process that was killed between the transaction and the end of the log imports it again.
    let (last, answers) = archive.take_over(&[first]).unwrap();
    assert!(matches!(answers[..], [Ok(Appended::Next(2))]));
    assert_eq!((last, archive.reader().transcript("s").unwrap()), (epoch + 2, vec!["a".into(), "b".into()]));
}

#[test]
fn what_is_sent_again_makes_no_list_larger_and_only_its_rest_need_be_read() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    for _ in 0..3 {
        archive.append("s", 0, 0, &["ä", "bc"], 1.0).unwrap();
    }
    let reader = archive.reader();
    assert_eq!((reader.transcript_bytes("s").unwrap(), reader.transcript_bytes("t").unwrap()), (4, 0));
    let (id, _) = reader.identified_transcript("s").unwrap().unwrap();
    for (position, expect) in [(0, &["ä", "bc"][..]), (1, &["bc"]), (2, &[]), (u64::from(u32::MAX), &[])] {
        assert_eq!(reader.transcript_from("s", id, position).unwrap().unwrap(), expect, "{position}");
    }
    assert_eq!(reader.transcript_from("t", id, 0).unwrap(), None, "another session");
    archive.append("s", 0, 2, &["d"], 1.0).unwrap();
    assert_eq!(archive.reader().transcript_from("s", id, 2).unwrap().unwrap(), ["d"]);
}

#[test]
fn what_is_sent_again_may_be_written_in_another_way() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let first = r#"{"role": "user", "content": "caf\u00e9"}"#;
    archive.append("s", 0, 0, &[first], 1.0).unwrap();
    let again = [r#"{"role":"user","content":"café"}"#, r#"{"role":"assistant","content":"x"}"#];
    assert_eq!(archive.append("s", 0, 0, &again, 1.0).unwrap(), Appended::Next(2));
    assert_eq!(archive.reader().transcript("s").unwrap(), [first, again[1]], "the bytes that came first stay");
    let other = [r#"{"role":"user","content":"cafe"}"#];
    assert!(matches!(archive.append("s", 0, 0, &other, 1.0).unwrap(), Appended::Conflict { .. }));
}
