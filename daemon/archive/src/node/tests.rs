#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::Archive;
use crate::compression::CompressionExtras;
use crate::node::opened::OpenedRow;
use crate::original::Shortened;
use crate::removed::{After, Removal};
use crate::session::SnapshotRow;
use crate::testing::{archive, said, session};
use crate::undo::{Undo, Undoable};

fn node(session: &str, number: u64, depth: u32, range: Range<u64>, of: Stands) -> NodeRow {
    NodeRow {
        id: format!("nod_{session}_{number}"),
        number,
        depth,
        first: range.start,
        next: range.end,
        since: 1.0,
        until: 2.0,
        tokens: 10,
        writer: "extractive".into(),
        of,
        text: format!("text {number}"),
        references: "Paths:\na.rs".into(),
        state: "file a.rs".into(),
        warnings: vec!["careful".into()],
    }
}

#[test]
fn what_stayed_in_a_shorter_form_does_not_come_back_with_a_node() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let list: Vec<String> = (0..6).map(|at| said("user", &at.to_string())).collect();
    let texts: Vec<&str> = list.iter().map(String::as_str).collect();
    archive.append("s", 0, 0, &texts, 5.0).unwrap();
    let (handoff, short) = (said("user", "handoff"), said("user", "short"));
    let after = [After::Kept(0), After::New(&handoff), After::New(&short), After::Kept(5)];
    let messages: Vec<(u64, &str)> = (1..5).zip(texts[1..5].iter().copied()).collect();
    let removal = Removal {
        handle: "cmp_s_1",
        session: "s",
        generation: 1,
        time: 9.0,
        summary: "",
        messages: &messages,
        after: Some(&after),
        is_transcript: true,
    };
    let nodes = [node("s", 0, 0, 1..5, Stands::Messages(1..5))];
    let extras = CompressionExtras {
        nodes: &nodes,
        replaced: &[Shortened { from: 3, to: 2, body: &short }],
        ..CompressionExtras::default()
    };
    archive.keep_compression(&removal, &extras).unwrap();
    let opened = archive.reader().node_messages("s", "nod_s_0").unwrap().unwrap().1;
    assert_eq!(opened, [texts[1], texts[2], texts[4]]);
    let paged = archive.reader().gone_range("cmp_s_1", 0..u64::MAX, 1, 2).unwrap();
    assert_eq!(paged.iter().map(|one| one.body.as_str()).collect::<Vec<_>>(), [texts[2], texts[4]]);
    // A node of another session that covers this session's compression has no shortened message either.
    archive.create_session(&session("t")).unwrap();
    let removal =
        Removal { handle: "cmp_t_1", session: "t", messages: &[], after: None, is_transcript: false, ..removal };
    let taken_over = [node("t", 0, 0, 1..5, Stands::Handle("cmp_s_1".into()))];
    archive
        .keep_compression(&removal, &CompressionExtras { nodes: &taken_over, ..CompressionExtras::default() })
        .unwrap();
    let opened = archive.reader().node_messages("t", "nod_t_0").unwrap().unwrap().1;
    assert_eq!(opened, [texts[1], texts[2], texts[4]]);
    assert_eq!(archive.reader().removed_page("cmp_s_1", 0, 9).unwrap().len(), 4, "it is there to be read");
}

#[test]
fn of_two_that_became_the_same_line_each_comes_back_as_it_was() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let list: Vec<String> = (0..5).map(|at| said("user", &at.to_string())).collect();
    let texts: Vec<&str> = list.iter().map(String::as_str).collect();
    archive.append("s", 0, 0, &texts, 5.0).unwrap();
    let (handoff, short) = (said("user", "handoff"), said("user", "short"));
    let shortens = [After::Kept(0), After::New(&short), After::New(&short), After::Kept(3), After::Kept(4)];
    let removal = Removal {
        handle: "cmp_s_1",
        session: "s",
        generation: 1,
        time: 9.0,
        summary: "",
        messages: &[(1, texts[1]), (2, texts[2])],
        after: Some(&shortens),
        is_transcript: true,
    };
    let replaced = [1, 2].map(|at| Shortened { from: at, to: at, body: &short });
    archive
        .keep_compression(&removal, &CompressionExtras { replaced: &replaced, ..CompressionExtras::default() })
        .unwrap();
    let leaves = [After::Kept(0), After::New(&handoff), After::Kept(4)];
    let messages = [(1, short.as_str()), (2, &short), (3, texts[3])];
    let removal = Removal { handle: "cmp_s_2", generation: 2, messages: &messages, after: Some(&leaves), ..removal };
    let nodes = [node("s", 0, 0, 1..4, Stands::Messages(1..4))];
    archive.keep_compression(&removal, &CompressionExtras { nodes: &nodes, ..CompressionExtras::default() }).unwrap();
    assert_eq!(archive.reader().node_messages("s", "nod_s_0").unwrap().unwrap().1, texts[1..4]);
}

/// Appends messages up to ten, removes the second to the ninth from the list, and saves nodes with this compression.
fn compress(archive: &mut Archive, id: &str, generation: u64, nodes: &[NodeRow], go_on: Option<&SnapshotRow>) {
    let known = archive.reader().transcript(id).unwrap();
    let more: Vec<String> = (known.len()..10).map(|at| said("user", &format!("{id} {generation} {at}"))).collect();
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    archive.append(id, generation, u64::try_from(known.len()).unwrap(), &more, 5.0).unwrap();
    let list = archive.reader().transcript(id).unwrap();
    let messages: Vec<(u64, &str)> = (1..9).map(|at| (at, list[usize::try_from(at).unwrap()].as_str())).collect();
    let handoff = said("user", "handoff");
    let after = [After::Kept(0), After::New(&handoff), After::Kept(9)];
    let texts = [list[0].as_str(), &handoff, &list[9]];
    let handle = format!("cmp_{id}_{}", generation + 1);
    let removal = Removal {
        handle: &handle,
        session: id,
        generation: generation + 1,
        time: 9.0,
        summary: "",
        messages: &messages,
        after: Some(&after),
        is_transcript: true,
    };
    let undoable = Undoable { length: 10, slots: &after, list: &texts };
    let extras =
        CompressionExtras { undo: Some(&undoable), nodes, continuation: go_on, ..CompressionExtras::default() };
    archive.keep_compression(&removal, &extras).unwrap();
}

fn count(archive: &Archive, session: &str) -> u64 {
    let query = "SELECT count(*) FROM node WHERE session = ?1";
    archive.connection().query_row(query, [session], |row| row.get(0)).unwrap()
}

fn ids(map: &Map) -> Vec<&str> {
    map.nodes.iter().map(|node| node.id.as_str()).collect()
}

#[test]
fn the_map_is_what_no_other_node_stands_for_and_goes_back_with_an_undo() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    assert_eq!(archive.reader().map("s").unwrap().nodes, []);
    let leaves = [node("s", 0, 0, 1..4, Stands::Messages(1..4)), node("s", 1, 0, 4..9, Stands::Messages(4..9))];
    compress(&mut archive, "s", 0, &leaves, None);
    let map = archive.reader().map("s").unwrap();
    assert_eq!(
        (map.nodes.as_slice(), map.next, map.left, map.times.as_slice()),
        (leaves.as_slice(), 2, 8, [5.0, 9.0, 5.0].as_slice())
    );

    let above = [
        node("s", 2, 0, 9..17, Stands::Messages(1..9)),
        node("s", 3, 1, 1..9, Stands::Nodes(vec!["nod_s_0".into(), "nod_s_1".into()])),
    ];
    compress(&mut archive, "s", 1, &above, None);
    assert_eq!(ids(&archive.reader().map("s").unwrap()), ["nod_s_3", "nod_s_2"]);

    let engine = |row: Option<_>| row.unwrap_or(crate::engine::EngineRow { state: "{}".into(), summary: None });
    archive.undo(&Undo { session: "s", to: None, list: None }, "cmp_s_3", 10.0, engine).unwrap().unwrap();
    let map = archive.reader().map("s").unwrap();
    assert_eq!((ids(&map), map.next), (vec!["nod_s_0", "nod_s_1"], 4));
    let gone = archive.reader().node("nod_s_3").unwrap().unwrap();
    assert_eq!((gone.undone, gone.made_by.as_str(), gone.profile.as_str()), (Some(3), "cmp_s_2", "default"));
}

#[test]
fn a_message_is_in_a_leaf_and_a_leaf_gives_its_messages() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let leaves = [node("s", 0, 0, 1..4, Stands::Messages(1..4)), node("s", 1, 0, 4..9, Stands::Messages(4..9))];
    compress(&mut archive, "s", 0, &leaves, None);
    let page = archive.reader().gone_range("cmp_s_1", 4..9, 1, 3).unwrap();
    assert_eq!(page.iter().map(|message| message.position).collect::<Vec<_>>(), [5, 6, 7]);
    let leaf = |message| archive.reader().leaf_of(message).unwrap();
    assert_eq!(leaf(page[0].id), Some("nod_s_1".into()));
    let first = archive.reader().gone_range("cmp_s_1", 1..4, 0, 1).unwrap();
    assert_eq!(leaf(first[0].id), Some("nod_s_0".into()));
    assert_eq!((leaf(0), leaf(u64::MAX)), (None, None));
}

#[test]
fn a_session_that_goes_on_has_the_map_of_the_one_before() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let snapshot = SnapshotRow { sha256: "11".into(), ..SnapshotRow::default() };
    compress(&mut archive, "s", 0, &[node("s", 0, 0, 1..9, Stands::Messages(1..9))], Some(&snapshot));
    compress(&mut archive, "s-c2", 0, &[node("s-c2", 0, 0, 9..17, Stands::Messages(1..9))], None);
    let map = archive.reader().map("s-c2").unwrap();
    assert_eq!((ids(&map), map.next, map.left), (vec!["nod_s_0", "nod_s-c2_0"], 1, 16));
    archive.remove_session("s-c2").unwrap();
    assert_eq!((count(&archive, "s-c2"), count(&archive, "s")), (0, 1));
    archive.remove_session("s").unwrap();
    assert_eq!(count(&archive, "s"), 0);
}

#[test]
fn a_node_is_open_in_the_list_of_one_generation_until_it_is_closed() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.create_session(&session("t")).unwrap();
    let row = |node: &str| OpenedRow { node: node.into(), before: Some("user".into()), behind: None };
    assert!(matches!(archive.save_opened("u", 1, &row("nod_s_0")), Err(ArchiveError::NoSession { .. })));
    let leaves = [node("s", 0, 0, 1..5, Stands::Messages(1..5)), node("s", 1, 0, 5..9, Stands::Messages(5..9))];
    let above = node("s", 2, 1, 1..9, Stands::Nodes(vec!["nod_s_0".into(), "nod_s_1".into()]));
    let all: Vec<NodeRow> = leaves.into_iter().chain([above]).collect();
    compress(&mut archive, "s", 0, &all, None);
    let texts = |at: Range<usize>| -> Vec<String> { at.map(|at| said("user", &format!("s 0 {at}"))).collect() };
    assert_eq!(archive.reader().node_messages("s", "nod_s_2").unwrap().unwrap().1, texts(1..9));
    assert_eq!(archive.reader().node_messages("t", "nod_s_2").unwrap(), None);
    assert_eq!(archive.reader().node_messages("s", "nod_s_9").unwrap(), None);
    archive.save_opened("s", 1, &row("nod_s_1")).unwrap();
    archive.save_opened("s", 1, &row("nod_s_0")).unwrap();
    let opened = archive.reader().opened("s", 1).unwrap();
    let shown: Vec<_> = opened.iter().map(|one| (one.row.node.as_str(), one.first, one.next)).collect();
    assert_eq!(shown, [("nod_s_0", 1, 5), ("nod_s_1", 5, 9)]);
    assert_eq!((&opened[1].messages, &opened[1].row), (&texts(5..9), &row("nod_s_1")));
    assert_eq!(archive.reader().opened("s", 2).unwrap(), []);
    assert_eq!(archive.reader().open_nodes("s").unwrap(), ["nod_s_0", "nod_s_1"]);
    archive.remove_opened("s", &["nod_s_0".into(), "nod_s_7".into()]).unwrap();
    assert_eq!(archive.reader().opened("s", 1).unwrap().len(), 1);
    // Opening a node in a later list deletes the notes about an earlier list.
    archive.save_opened("s", 2, &row("nod_s_0")).unwrap();
    assert!(archive.reader().open_nodes("s").unwrap().is_empty());
    assert_eq!(archive.reader().opened("s", 1).unwrap(), []);
    archive.remove_session("s").unwrap();
    assert_eq!(archive.reader().opened("s", 2).unwrap(), []);
}

#[test]
fn a_node_that_was_written_anew_stands_in_the_place_of_the_one_before() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let leaf = |number: u64, range: Range<u64>| node("s", number, 0, range.clone(), Stands::Messages(range));
    compress(&mut archive, "s", 0, &[leaf(0, 1..5), leaf(1, 5..9)], None);
    let anew = |older: u64, id: &str| NodeRow {
        id: id.into(),
        number: (1 << 32) + older,
        writer: "openai".into(),
        text: "better".into(),
        warnings: Vec::new(),
        ..leaf(older, 0..0)
    };
    let another = archive.save_rewritten(("nod_s_0", "of a session that was removed"), &anew(0, "nod_s_0_2"));
    assert!(!another.unwrap());
    assert!(archive.save_rewritten(("nod_s_0", "text 0"), &anew(0, "nod_s_0_2")).unwrap());
    assert!(!archive.save_rewritten(("nod_s_0", "text 0"), &anew(0, "nod_s_0_3")).unwrap(), "another one stands there");
    assert!(!archive.save_rewritten(("nod_s_7", "text 7"), &anew(7, "nod_s_7_2")).unwrap(), "there is none");
    let map = archive.reader().map("s").unwrap();
    assert_eq!((ids(&map), map.next), (vec!["nod_s_0_2", "nod_s_1"], 2));
    let better = &map.nodes[0];
    assert_eq!((better.text.as_str(), better.writer.as_str(), better.first, better.next), ("better", "openai", 1, 5));
    assert_eq!(better.references, "Paths:\na.rs");
    let texts = |id: &str| archive.reader().node_messages("s", id).unwrap().unwrap().1;
    assert_eq!(texts("nod_s_0_2"), texts("nod_s_0"), "either opens the same");
    let message = archive.reader().gone_range("cmp_s_1", 1..5, 0, 1).unwrap()[0].id;
    assert_eq!(archive.reader().leaf_of(message).unwrap().as_deref(), Some("nod_s_0_2"));
    // A node that was made without knowing the rewritten one covers the older one, and so both.
    let above = node("s", 2, 1, 1..9, Stands::Nodes(vec!["nod_s_0".into(), "nod_s_1".into()]));
    compress(&mut archive, "s", 1, &[above], None);
    assert_eq!(ids(&archive.reader().map("s").unwrap()), ["nod_s_2"]);
    let Stands::Nodes(children) = archive.reader().node("nod_s_2").unwrap().unwrap().row.of else { panic!("no nodes") };
    assert_eq!(children, ["nod_s_0_2", "nod_s_1"]);
    assert!(archive.save_rewritten(("nod_s_1", "text 1"), &anew(1, "nod_s_1_2")).unwrap());
    assert_eq!(ids(&archive.reader().map("s").unwrap()), ["nod_s_2"]);
    archive.remove_session("s").unwrap();
    assert_eq!(count(&archive, "s"), 0);
}

#[test]
fn the_map_is_found_without_the_texts_of_what_it_does_not_show() {
    let (_folder, archive) = archive();
    let mut query = archive.connection().prepare(&format!("EXPLAIN QUERY PLAN {COUNTED}")).unwrap();
    let plan: Vec<String> = query.query_map(["s"], |row| row.get(3)).unwrap().map(Result::unwrap).collect();
    assert!(plan.iter().any(|step| step.contains("COVERING INDEX node_mapped")), "{plan:?}");
}
