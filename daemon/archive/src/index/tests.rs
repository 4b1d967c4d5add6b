use super::*;
use crate::handle::Source;
use crate::search::Search;
use crate::testing::{archive, said, session};

fn search(query: &str) -> Search<'_> {
    Search::everywhere(query, 99)
}

fn found(archive: &Archive, query: &str) -> Vec<String> {
    let found = archive.reader().search(&search(query)).unwrap();
    found.hits.into_iter().map(|hit| hit.source.handle()).collect()
}

fn part<'a>(handle: &'a str, line: u64, text: &'a str, is_last: bool) -> OutputPart<'a> {
    OutputPart {
        handle,
        session: "s",
        profile: "default",
        time: 1.0,
        line,
        start: line - 1,
        chars: 1,
        text,
        is_first: line == 1,
        is_last,
    }
}

#[test]
fn messages_are_indexed_oldest_first_until_none_is_left() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let bodies: Vec<String> = (0..5).map(|number| said("user", &format!("word{number}"))).collect();
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    archive.append("s", 0, 0, &bodies, 1.0).unwrap();
    assert_eq!(found(&archive, "\"word0\""), [""; 0]);
    assert_eq!(archive.index_pending(2).unwrap(), 3);
    assert_eq!(found(&archive, "\"word1\""), ["msg_2"]);
    assert_eq!(found(&archive, "\"word2\""), [""; 0]);
    archive.index_outputs(&[part("out", 1, "between", true)]).unwrap();
    assert_eq!(archive.index_pending(3).unwrap(), 1);
    assert_eq!(archive.index_pending(3).unwrap(), 0);
    assert_eq!(found(&archive, "\"word4\""), ["msg_5"]);
    assert_eq!(archive.index_pending(3).unwrap(), 0);
    assert_eq!(found(&archive, "word").len(), 5);
}

#[test]
fn what_the_system_said_and_what_was_recalled_is_kept_but_not_found() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let bodies =
        [said("system", "cobalt"), said("tool", "{\"recalled\": true, \"text\": \"cobalt\"}"), said("tool", "cobalt")];
    let bodies: Vec<&str> = bodies.iter().map(String::as_str).collect();
    archive.append("s", 0, 0, &bodies, 1.0).unwrap();
    archive.index_pending(10).unwrap();
    assert_eq!(found(&archive, "cobalt"), ["msg_3"]);
    assert_eq!(archive.reader().transcript("s").unwrap(), bodies);
}

#[test]
fn a_message_is_found_before_and_after_it_was_removed() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let body = said("user", "cobalt");
    archive.append("s", 0, 0, &[&body], 1.0).unwrap();
    archive.index_pending(10).unwrap();
    let removal = crate::removed::Removal {
        handle: "h",
        session: "s",
        generation: 1,
        time: 2.0,
        summary: "",
        messages: &[(0, &body)],
        after: Some(&[]),
        is_transcript: false,
    };
    archive.keep_removed(&removal).unwrap();
    archive.index_pending(10).unwrap();
    assert_eq!(found(&archive, "cobalt"), ["msg_1"]);
}

#[test]
fn an_output_that_is_begun_again_is_there_once() {
    let (_folder, mut archive) = archive();
    archive.index_outputs(&[part("out", 1, "cobalt nought", false)]).unwrap();
    assert_eq!(archive.reader().indexed_outputs().unwrap(), [""; 0]);
    archive.index_outputs(&[part("out", 1, "cobalt one", false), part("out", 11, "cobalt two", true)]).unwrap();
    assert_eq!(found(&archive, "nought"), [""; 0]);
    archive.index_outputs(&[part("other", 1, "cobalt three", true)]).unwrap();
    assert_eq!(archive.reader().indexed_outputs().unwrap(), ["out", "other"]);
    assert_eq!(found(&archive, "cobalt").len(), 3);
    assert!(archive.index_outputs(&[part("other", u64::MAX, "cobalt", true)]).is_err());
    archive.forget_outputs(&["out".into(), "unknown".into()]).unwrap();
    assert_eq!(archive.reader().indexed_outputs().unwrap(), ["other"]);
    assert_eq!(found(&archive, "cobalt"), ["other"]);
}

#[test]
fn a_memory_text_is_kept_once_for_each_revision() {
    let (_folder, mut archive) = archive();
    let memory = MemoryText {
        profile: "p",
        target: "user",
        revision: 3,
        time: 1.0,
        session: Some("s"),
        action: "add",
        text: "likes cobalt",
    };
    archive.index_memory(&memory).unwrap();
    archive.index_memory(&MemoryText { text: "another", ..memory }).unwrap();
    archive.index_memory(&MemoryText { revision: 2, ..memory }).unwrap();
    archive.index_memory(&MemoryText { target: "memory", revision: 0, text: "", ..memory }).unwrap();
    assert!(archive.index_memory(&MemoryText { revision: u64::MAX, ..memory }).is_err());
    let reader = archive.reader();
    assert_eq!(reader.indexed_memory().unwrap(), [("p".into(), "memory".into(), 0), ("p".into(), "user".into(), 3)]);
    assert_eq!(found(&archive, "cobalt"), ["mem_2", "mem_1"]);
    let kept = reader.memory_text(1).unwrap().unwrap();
    assert_eq!((kept.text.as_str(), kept.session.as_deref(), kept.revision), ("likes cobalt", Some("s"), 3));
    assert_eq!(reader.memory_text(9).unwrap(), None);
    assert_eq!(reader.memory_text(u64::MAX).unwrap(), None);
}

#[test]
fn parts_that_follow_each_other_are_one_result() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let part = |line, start, text, is_last| OutputPart { start, chars: 100, ..part("out", line, text, is_last) };
    archive
        .index_outputs(&[
            part(1, 0, "the heron", false),
            part(11, 100, "the heron, and the blue heron", false),
            part(21, 200, "the end", false),
            part(31, 300, "heron", true),
        ])
        .unwrap();
    let search = Search { of_one_output: 9, ..search("blue heron") };
    let hits = archive.reader().search(&search).unwrap().hits;
    let lines: Vec<u64> = hits
        .iter()
        .filter_map(|hit| match hit.source {
            Source::Output { line, .. } => Some(line),
            _ => None,
        })
        .collect();
    assert_eq!(lines, [11, 31]);
}
