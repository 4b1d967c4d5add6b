use crate::Settings;
use crate::compressor::prepare;
use crate::handoff;
use crate::message::Message;
use crate::request::CompressRequest;
use crate::run::{ArchiveNote, Compressed, EngineState, Rejection, Summary};
use crate::slot::Slot;
use crate::testing::{list, settings};
use std::ops::Range;

fn compressed(messages: &[Message], settings: &Settings, range: Range<usize>) -> Result<Compressed, Rejection> {
    let request = CompressRequest { range: Some(range), ..CompressRequest::default() };
    let prepared = prepare(messages, settings, &EngineState::default(), &request)?;
    let note = ArchiveNote { handle: "cmp_1_1".into(), messages: prepared.dropped() };
    Ok(prepared.finish(Summary { body: "what was done".into(), ..Summary::default() }, note))
}

fn gone(compressed: &Compressed) -> Vec<usize> {
    let kept: Vec<usize> = compressed
        .slots
        .iter()
        .filter_map(|slot| match slot {
            Slot::Kept(at) | Slot::Replaced { index: at, .. } => Some(*at),
            Slot::Inserted(_) => None,
        })
        .collect();
    (0..compressed.numbers.messages_before).filter(|at| !kept.contains(at)).collect()
}

#[test]
fn only_what_lies_in_the_range_leaves() {
    // Positions: system 0, then U 1, c 2, T 3, A 4 and so on.
    let messages = list(&format!("s{}", "UcTA".repeat(20)));
    for window in [1_000_000, 20_000] {
        let settings = settings(window, 0, 4);
        for (range, expected) in [
            (9..21, 9..21),
            // Calls stay with their results, at both ends.
            (11..20, 12..20),
            (9..19, 9..18),
            // The head and the last exchange stay, and so does the user's last message.
            (0..21, 1..21),
            (61..1_000, 61..80),
        ] {
            let new = compressed(&messages, &settings, range.clone()).unwrap();
            let expected: Vec<usize> = expected.filter(|at| *at != 77).collect();
            assert_eq!(gone(&new), expected, "{range:?} of {window}");
        }
        for range in [0..1, 15..15, 80..90, 500..600, 3..4] {
            assert_eq!(
                compressed(&messages, &settings, range.clone()).err(),
                Some(Rejection::NothingBetween),
                "{range:?}"
            );
        }
    }
}

#[test]
fn an_earlier_handoff_goes_into_the_new_one_and_what_lies_before_the_range_stays() {
    // The window is so small that outputs before the range would otherwise be shortened.
    let settings = settings(20_000, 0, 4);
    let messages = list(&format!("s{}", "UcTA".repeat(20)));
    let first = compressed(&messages, &settings, 1..21).unwrap();
    let shorter: Vec<Message> = first.messages(&messages).cloned().collect();
    let at = shorter.iter().position(handoff::is_handoff).unwrap();
    let second = compressed(&shorter, &settings, at + 9..at + 17).unwrap();
    let list: Vec<&Message> = second.messages(&shorter).collect();
    assert_eq!(list.iter().filter(|message| handoff::is_handoff(message)).count(), 1);
    let own: Vec<&str> = shorter[at + 1..at + 9].iter().map(Message::raw).collect();
    let stays: Vec<&str> = list.iter().map(|message| message.raw()).collect();
    assert!(own.iter().all(|raw| stays.contains(raw)));
    assert_eq!(list.len(), shorter.len() - 8);
}
