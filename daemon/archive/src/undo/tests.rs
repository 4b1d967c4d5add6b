#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use proptest::prelude::*;

use super::*;
use crate::compression::CompressionExtras;
use crate::removed::Removal;
use crate::testing::{archive, session};

/// A compression of a list: `kept` are the indexes of the messages that stay, and a handoff is inserted at `at`.
struct Cut<'a> {
    list: &'a [String],
    kept: &'a [usize],
    at: usize,
    handle: &'a str,
    generation: u64,
    /// Whether the messages are in the session's transcript.
    appended: bool,
}

impl Cut<'_> {
    fn keep(&self, archive: &mut Archive) -> Vec<String> {
        let handoff = format!("handoff of {}", self.handle);
        let to_u64 = |at: usize| u64::try_from(at).unwrap();
        let mut slots: Vec<After<'_>> = self.kept.iter().map(|at| After::Kept(to_u64(*at))).collect();
        slots.insert(self.at, After::New(&handoff));
        let mut new: Vec<&str> = self.kept.iter().map(|at| self.list[*at].as_str()).collect();
        new.insert(self.at, &handoff);
        let gone: Vec<(u64, &str)> = (0..self.list.len())
            .filter(|at| !self.kept.contains(at))
            .map(|at| (to_u64(at), self.list[at].as_str()))
            .collect();
        let removal = Removal {
            handle: self.handle,
            session: "s",
            generation: self.generation,
            time: 1.0,
            summary: "",
            messages: &gone,
            after: self.appended.then_some(&slots),
            is_transcript: self.appended,
        };
        let undoable = Undoable { length: to_u64(self.list.len()), slots: &slots, list: &new };
        let engine = EngineRow { state: format!("after {}", self.handle), summary: None };
        let extras = CompressionExtras { undo: Some(&undoable), engine: Some(&engine), ..CompressionExtras::default() };
        archive.keep_compression(&removal, &extras).unwrap();
        new.into_iter().map(str::to_owned).collect()
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn refs(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn undo(
    archive: &mut Archive,
    to: Option<u64>,
    list: Option<&[&str]>,
    handle: &str,
) -> Result<RestoredList, UndoRejection> {
    let undo = Undo { session: "s", to, list };
    let seen = archive.reader().undone(&undo).unwrap();
    let done = archive.undo(&undo, handle, 2.0, Option::unwrap_or_default).unwrap();
    let next = |undone: RestoredList| RestoredList { generation: undone.generation + 1, ..undone };
    assert_eq!(seen.map(next), done, "a look says what will be done");
    done
}

#[test]
fn a_list_that_only_the_caller_has_comes_back_and_is_kept() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.save_engine_state("s", "before").unwrap();
    let list = texts(&["a", "b", "c", "d"]);
    let cut = Cut { list: &list, kept: &[0, 3], at: 1, handle: "h1", generation: 1, appended: false };
    let mut now = cut.keep(&mut archive);
    now.push("e".into());
    assert_eq!(undo(&mut archive, None, None, "u").unwrap_err(), UndoRejection::NoList);
    let other = UndoRejection::OtherList { handle: "h1".into(), length: 3 };
    assert_eq!(undo(&mut archive, None, Some(&["a", "x", "d"]), "u").unwrap_err(), other);
    assert_eq!(undo(&mut archive, None, Some(&["a"]), "u").unwrap_err(), other);

    let undone = undo(&mut archive, None, Some(&refs(&now)), "u").unwrap();
    assert_eq!(undone.list, ["a", "b", "c", "d", "e"]);
    assert_eq!((undone.restored, undone.since, undone.handles), (0, 1, vec!["h1".to_owned()]));
    assert_eq!(undone.engine, Some(EngineRow { state: "before".into(), summary: None }));
    assert_eq!(archive.reader().transcript("s").unwrap(), ["a", "b", "c", "d", "e"]);
    assert_eq!(archive.reader().session("s").unwrap().unwrap().generation, 2);
    assert_eq!(archive.reader().removed("h1").unwrap(), []);
    assert_eq!(archive.reader().removed("u").unwrap(), [(1, "handoff of h1".into())]);
    archive.append("s", 2, 5, &["f"], 3.0).unwrap();
    assert_eq!(undo(&mut archive, None, None, "v").unwrap_err(), UndoRejection::Nothing);
}

#[test]
fn what_leaves_by_an_undo_is_kept_and_counted() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let list = texts(&["a", "b", "c"]);
    archive.append("s", 0, 0, &refs(&list), 1.0).unwrap();
    Cut { list: &list, kept: &[0, 2], at: 1, handle: "h1", generation: 1, appended: true }.keep(&mut archive);
    archive.append("s", 1, 3, &["d"], 1.0).unwrap();
    assert_eq!(undo(&mut archive, None, None, "u").unwrap().list, ["a", "b", "c", "d"]);
    assert_eq!(archive.reader().transcript("s").unwrap(), ["a", "b", "c", "d"]);
    assert_eq!(archive.reader().removed("u").unwrap(), [(1, "handoff of h1".into())]);
    let described = archive.reader().describe("s").unwrap();
    let shown: Vec<_> = described.iter().map(|one| (one.generation, one.messages, one.back_to, one.undone)).collect();
    assert_eq!(shown, [(1, 1, None, Some(2)), (2, 1, Some(0), None)]);
    archive.remove_session("s").unwrap();
    let left: u64 = archive.connection().query_row("SELECT count(*) FROM list_before", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn five_are_kept_and_each_generation_on_the_way_can_be_wanted() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let mut list = texts(&["a", "b", "c"]);
    archive.append("s", 0, 0, &refs(&list), 1.0).unwrap();
    let mut lists = vec![list.clone()];
    for generation in 1..=6 {
        let handle = format!("h{generation}");
        list =
            Cut { list: &list, kept: &[0, 2], at: 1, handle: &handle, generation, appended: true }.keep(&mut archive);
        lists.push(list.clone());
    }
    assert!(matches!(undo(&mut archive, Some(0), None, "u"), Err(UndoRejection::NotKept { generation: 1 })));
    assert!(matches!(undo(&mut archive, Some(7), None, "u"), Err(UndoRejection::NotThere { wanted: 7, .. })));
    let at_it = Undo { session: "s", to: Some(6), list: None };
    assert_eq!(archive.reader().undone(&at_it).unwrap().unwrap().list, lists[6], "it can be looked at");
    let refused = archive.undo(&at_it, "u", 2.0, Option::unwrap_or_default).unwrap();
    assert!(matches!(refused, Err(UndoRejection::NotThere { wanted: 6, .. })));
    let undone = undo(&mut archive, Some(3), None, "u7").unwrap();
    assert_eq!((undone.list, undone.handles), (lists[3].clone(), texts(&["h6", "h5", "h4"])));
    assert!(matches!(undo(&mut archive, Some(5), None, "u"), Err(UndoRejection::NotThere { wanted: 5, .. })));
    assert_eq!(undo(&mut archive, None, None, "u8").unwrap().list, lists[2]);
    assert_eq!(undo(&mut archive, Some(1), None, "u9").unwrap().list, lists[1]);
    assert!(matches!(undo(&mut archive, None, None, "u"), Err(UndoRejection::NotKept { generation: 1 })));
}

#[test]
fn a_compression_of_before_and_messages_that_are_gone_are_told() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let list = texts(&["a", "b", "c"]);
    archive.append("s", 0, 0, &refs(&list), 1.0).unwrap();
    let cut = Cut { list: &list, kept: &[0], at: 1, handle: "h1", generation: 1, appended: true };
    cut.keep(&mut archive);
    archive.connection().execute("DELETE FROM message_row WHERE position = 2 AND compression = 'h1'", []).unwrap();
    let gone = UndoRejection::Gone { handle: "h1".into(), messages: 1 };
    assert_eq!(undo(&mut archive, None, None, "u").unwrap_err(), gone);
    archive.connection().execute("DELETE FROM list_before", []).unwrap();
    assert_eq!(undo(&mut archive, None, None, "u").unwrap_err(), UndoRejection::NotKept { generation: 1 });
    assert!(archive.undo(&Undo { session: "t", to: None, list: None }, "u", 1.0, Option::unwrap_or_default).is_err());
}

#[derive(Debug, Clone)]
enum Step {
    Say(u8),
    Cut { kept: Vec<prop::sample::Index>, at: prop::sample::Index },
    Undo { times: u8 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (1..4_u8).prop_map(Step::Say),
        (prop::collection::vec(any::<prop::sample::Index>(), 1..6), any::<prop::sample::Index>())
            .prop_map(|(kept, at)| Step::Cut { kept, at }),
        (1..4_u8).prop_map(|times| Step::Undo { times }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_number_of_undos_gives_the_lists_of_before(
        steps in prop::collection::vec(step(), 1..24),
        appended in any::<bool>(),
    ) {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        let mut list = texts(&["first"]);
        if appended {
            archive.append("s", 0, 0, &refs(&list), 1.0).unwrap();
        }
        let mut generation = 0;
        let mut said = 0;
        let mut appended = appended;
        // The lists on the way back, each with the length of the list that its compression made.
        let mut before: Vec<(Vec<String>, usize)> = Vec::new();
        for step in steps {
            match step {
                Step::Say(count) => for _ in 0..count {
                    said += 1;
                    let text = format!("said {said}");
                    if appended {
                        let position = u64::try_from(list.len()).unwrap();
                        archive.append("s", generation, position, &[&text], 1.0).unwrap();
                    }
                    list.push(text);
                },
                Step::Cut { kept, at } => {
                    let mut kept: Vec<usize> = kept.iter().map(|kept| kept.index(list.len())).collect();
                    kept.sort_unstable();
                    kept.dedup();
                    let at = at.index(kept.len() + 1);
                    generation += 1;
                    let handle = format!("h{generation}");
                    let new = Cut { list: &list, kept: &kept, at, handle: &handle, generation, appended }.keep(&mut archive);
                    before.push((std::mem::replace(&mut list, new.clone()), new.len()));
                    if before.len() > usize::try_from(LISTS).unwrap() {
                        before.remove(0);
                    }
                }
                Step::Undo { times } => for _ in 0..times {
                    let handle = format!("u{}", generation + 1);
                    let undone = undo(&mut archive, None, Some(&refs(&list)), &handle);
                    let Some((earlier, length)) = before.pop() else {
                        prop_assert!(undone.is_err());
                        continue;
                    };
                    let since = list.split_off(length);
                    list = earlier.into_iter().chain(since).collect();
                    prop_assert_eq!(undone.map(|undone| undone.list), Ok(list.clone()));
                    generation += 1;
                    appended = true;
                },
            }
            if appended {
                prop_assert_eq!(archive.reader().transcript("s").unwrap(), list.clone());
            }
        }
        archive.reader().check().unwrap();
    }
}
