use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::testing::{archive, session};
use crate::transcript::{Appended, to_u64};

fn removal<'a>(handle: &'a str, generation: u64, messages: &'a [(u64, &'a str)]) -> Removal<'a> {
    Removal { handle, session: "s", generation, time: 1.0, summary: "", messages, after: None, is_transcript: false }
}

#[test]
fn messages_and_generation_change_together_or_not_at_all() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let messages = [(3, "{\"a\": 1.0}"), (4, "\"bare\"")];
    archive.keep_removed(&removal("h", 1, &messages)).unwrap();
    let reader = archive.reader();
    assert_eq!(reader.removed("h").unwrap(), [(3, "{\"a\": 1.0}".into()), (4, "\"bare\"".into())]);
    assert_eq!(reader.session("s").unwrap().unwrap().generation, 1);
    let described = &reader.describe("s").unwrap()[0];
    assert_eq!((described.messages, described.chars), (2, 16));
    assert!(archive.keep_removed(&removal("h", 2, &messages)).is_err());
    assert!(archive.keep_removed(&removal("i", 1, &messages)).is_err());
    assert!(archive.keep_removed(&removal("j", u64::MAX, &[])).is_err());
    assert!(archive.keep_removed(&removal("k", 2, &[(u64::MAX, "x")])).is_err());
    assert!(archive.keep_removed(&Removal { session: "unknown", ..removal("l", 1, &[]) }).is_err());
    assert_eq!(archive.reader().session("s").unwrap().unwrap().generation, 1);
    assert_eq!(archive.reader().describe("s").unwrap().len(), 1);
    assert_eq!(archive.reader().show("s").unwrap().unwrap().messages, 2);
}

#[test]
fn a_list_that_can_not_come_out_of_the_transcript_is_refused() {
    for (after, messages) in [
        (&[After::Kept(2)][..], &[][..]),
        (&[After::Kept(u64::MAX)], &[]),
        (&[After::Kept(0), After::Kept(0)], &[]),
        (&[After::Kept(0)], &[(0, "a")]),
    ] {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        archive.append("s", 0, 0, &["a", "b"], 1.0).unwrap();
        let removal = Removal { after: Some(after), ..removal("h", 1, messages) };
        assert!(matches!(archive.keep_removed(&removal), Err(ArchiveError::Misfit { .. })), "{removal:?}");
        assert_eq!(archive.reader().transcript("s").unwrap(), ["a", "b"]);
        assert_eq!(archive.reader().session("s").unwrap().unwrap().generation, 0);
    }
}

#[test]
fn a_transcript_goes_on_after_its_compression() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.append("s", 0, 0, &["a", "b", "c", "d"], 1.0).unwrap();
    // The order changes, and the given text of position 1 is not the stored one.
    let after = [After::Kept(3), After::New("summary"), After::Kept(0)];
    archive.keep_removed(&Removal { after: Some(&after), ..removal("h", 1, &[(1, "B"), (2, "c")]) }).unwrap();
    let reader = archive.reader();
    assert_eq!(reader.transcript("s").unwrap(), ["d", "summary", "a"]);
    assert_eq!(reader.removed("h").unwrap(), [(1, "b".into()), (1, "B".into()), (2, "c".into())]);
    assert_eq!(reader.describe("s").unwrap()[0].messages, 3);
    assert_eq!(archive.append("s", 0, 3, &["e"], 2.0).unwrap(), Appended::Conflict { generation: 1, position: 3 });
    assert_eq!(archive.append("s", 1, 2, &["a", "e"], 2.0).unwrap(), Appended::Next(4));
    assert_eq!(archive.reader().removed_page("h", 0, 1).unwrap()[0].generation, 0);
    assert_eq!(archive.reader().around(1, 0, 0).unwrap()[0].generation, 1);
}

#[test]
fn without_the_new_list_a_transcript_ends() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    archive.append("s", 0, 0, &["a", "b"], 1.0).unwrap();
    archive.keep_removed(&removal("h", 1, &[(1, "b")])).unwrap();
    assert_eq!(archive.reader().transcript("s").unwrap(), [""; 0]);
    assert_eq!(archive.reader().removed("h").unwrap(), [(0, "a".into()), (1, "b".into())]);
    assert_eq!(archive.append("s", 1, 0, &["x"], 1.0).unwrap(), Appended::Next(1));
}

#[test]
fn without_a_transcript_a_new_list_makes_none() {
    let (_folder, mut archive) = archive();
    archive.create_session(&session("s")).unwrap();
    let after = [After::Kept(0), After::New("summary")];
    archive.keep_removed(&Removal { after: Some(&after), ..removal("h", 1, &[(1, "b")]) }).unwrap();
    assert_eq!(archive.reader().transcript("s").unwrap(), [""; 0]);
    assert_eq!(archive.reader().removed("h").unwrap(), [(1, "b".into())]);
}

/// What happens to one message at a compression.
#[derive(Debug, Clone)]
enum Fate {
    Kept,
    Removed,
    Replaced,
    Forgotten,
}

/// How many new messages, what happens to each message, where others are inserted.
type Round = (u8, Vec<Fate>, Vec<Index>);

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let fate = prop_oneof![Just(Fate::Kept), Just(Fate::Removed), Just(Fate::Replaced), Just(Fate::Forgotten)];
    prop::collection::vec((0..6_u8, prop::collection::vec(fate, 24), prop::collection::vec(any::<Index>(), 0..3)), 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// After any compressions the transcript is the new list, every removed message is found at its position, and every
    /// text has one row.
    #[test]
    fn nothing_is_lost_and_nothing_is_kept_twice(rounds in rounds()) {
        let (_folder, mut archive) = archive();
        archive.create_session(&session("s")).unwrap();
        let (mut model, mut told): (Vec<String>, usize) = (Vec::new(), 0);
        let mut fresh = || { told += 1; format!("\"{told}\"") };
        let mut texts = 0;
        for (generation, (new, fates, inserts)) in (0_u64..).zip(rounds) {
            let position = model.len();
            model.extend((0..new).map(|_| fresh()));
            texts += usize::from(new);
            let batch: Vec<&str> = model[position..].iter().map(String::as_str).collect();
            archive.append("s", generation, to_u64(position), &batch, 1.0).unwrap();
            let (mut left, mut said, mut after) = (Vec::new(), Vec::new(), Vec::new());
            for (index, (body, fate)) in model.iter().zip(fates.iter().cycle()).enumerate() {
                let position = to_u64(index);
                match fate {
                    Fate::Kept => after.push((Some(position), body.clone())),
                    Fate::Removed => said.push((position, body.as_str())),
                    Fate::Replaced => { said.push((position, body.as_str())); after.push((None, fresh())); texts += 1; }
                    Fate::Forgotten => {}
                }
                if !matches!(fate, Fate::Kept) {
                    left.push((position, body.clone()));
                }
            }
            for place in &inserts {
                let at = place.index(after.len() + 1);
                after.insert(at, (None, fresh()));
            }
            texts += inserts.len();
            let had_transcript = !model.is_empty();
            let list: Vec<After<'_>> = after.iter().map(|(old, body)| old.map_or(After::New(body), After::Kept)).collect();
            let handle = format!("h{generation}");
            let is_transcript = generation % 2 == 0;
            let removal = Removal { after: Some(&list), is_transcript, ..removal(&handle, generation + 1, &said) };
            archive.keep_removed(&removal).unwrap();
            if !had_transcript {
                texts -= inserts.len();
                after.clear();
            }
            prop_assert_eq!(archive.reader().removed(&handle).unwrap(), left);
            model = after.into_iter().map(|(_, body)| body).collect();
            prop_assert_eq!(archive.reader().transcript("s").unwrap(), model.clone());
        }
        let rows: usize = archive.connection().query_row("SELECT count(*) FROM message", [], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap();
        prop_assert_eq!(rows, texts);
        prop_assert_eq!(archive.reader().show("s").unwrap().unwrap().messages, to_u64(texts));
    }
}
