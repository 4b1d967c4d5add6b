use proptest::prelude::*;

use super::*;
use crate::Settings;
use crate::compressor::prepare;
use crate::episodes::{Anchors, Episode};
use crate::fingerprint::Fingerprint;
use crate::pairs;
use crate::request::{CompressRequest, Gain};
use crate::run::{ArchiveNote, Compressed, EngineState, Summary};
use crate::slot::Slot;
use crate::testing::{list, settings};
use crate::wishes::MessageRequests;

fn pins(messages: &[Message], at: &[usize]) -> Pins {
    at.iter().map(|&at| Fingerprint::of(&messages[at])).collect()
}

fn compressed(messages: &[Message], settings: &Settings, pins: Pins) -> Compressed {
    let request = CompressRequest {
        wishes: MessageRequests { pins, ..MessageRequests::default() },
        ..CompressRequest::default()
    };
    let prepared = prepare(messages, settings, &EngineState::default(), &request).unwrap();
    let note = ArchiveNote { handle: "cmp_1_1".into(), messages: prepared.dropped() };
    prepared.finish(Summary { body: "what was done".into(), ..Summary::default() }, note)
}

/// Returns the input positions that are in the new list byte for byte.
fn whole(compressed: &Compressed) -> Vec<usize> {
    let kept = |slot: &Slot| if let Slot::Kept(at) = slot { Some(*at) } else { None };
    compressed.slots.iter().filter_map(kept).collect()
}

#[test]
fn a_pinned_message_stays_with_its_pair_and_with_whom_it_stands_beside() {
    // Question, call with its result, and answer, many times.
    let messages = list(&format!("s{}", "UcTA".repeat(20)));
    let settings = settings(60_000, 0, 4);
    for (pinned, stays) in [
        (vec![22], vec![22, 23]),
        (vec![23], vec![22, 23]),
        // A question stays with its answer, and the tail, which begins within another exchange, with its
        // question.
        (vec![21], vec![21, 24, 57]),
        // The tail begins with a call. The user's message before it goes between two messages of the model.
        (vec![24], vec![24, 57]),
        (vec![13, 22], vec![13, 16, 21, 22, 23]),
        // An answer goes between two user messages.
        (vec![13, 21], vec![13, 16, 21, 24, 57]),
        (vec![15, 21], vec![14, 15, 16, 21, 24, 57]),
    ] {
        let new = compressed(&messages, &settings, pins(&messages, &pinned));
        let tail = messages.len() - new.numbers.tail;
        assert_eq!(tail, 58);
        let middle: Vec<usize> = whole(&new).into_iter().filter(|at| (1..tail).contains(at)).collect();
        assert_eq!(middle, stays, "{pinned:?}");
        assert!(new.unpinned.is_empty());
        let all: Vec<&Message> = new.messages(&messages).collect();
        assert_eq!(pairs::pairing(all.iter().copied()), pairs::Pairing::default());
    }
    let free = compressed(&messages, &settings, Pins::default());
    assert_eq!(whole(&free).into_iter().filter(|at| (1..58).contains(at)).count(), 0);
}

#[test]
fn it_stays_through_many_compressions_and_gets_no_shorter_in_the_tail() {
    let settings = settings(60_000, 0, 4);
    let mut messages = list(&format!("s{}", "UcTA".repeat(20)));
    let pinned = pins(&messages, &[23, 79]);
    let texts = [messages[23].raw().to_owned(), messages[79].raw().to_owned()];
    for round in 0..6 {
        let new = compressed(&messages, &settings, pinned.clone());
        messages = new.messages(&messages).cloned().collect();
        for text in &texts {
            assert!(messages.iter().any(|message| message.raw() == text), "round {round}");
        }
        messages.extend(
            list(&format!("s{}", "UcTA".repeat(20)))
                .into_iter()
                .skip(1)
                .map(|message| Message::parse(message.raw().replace("word", &format!("word{round}"))).unwrap()),
        );
    }
}

#[test]
fn one_that_a_handoff_was_put_in_front_of_is_known_again_and_freed_of_it() {
    let settings = settings(60_000, 0, 4);
    // A user message follows an assistant message, so the handoff is merged into the user's message.
    let mut messages = list(&format!("sua{}", "UcTA".repeat(20)));
    let settings = Settings { protect_first_n: 2, ..settings };
    let pinned = pins(&messages, &[3]);
    for _ in 0..3 {
        let new = compressed(&messages, &settings, pinned.clone());
        assert!(new.unpinned.is_empty());
        messages = new.messages(&messages).cloned().collect();
        let found: Vec<&Message> = messages.iter().filter(|message| pinned.has(message)).collect();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].text().matches(crate::constants().prefix).count(), 1);
        messages.extend(list(&format!("s{}", "UcTA".repeat(20))).into_iter().skip(1));
    }
}

#[test]
fn what_is_pinned_gives_way_where_the_list_could_not_be_sent_with_it() {
    let messages = list(&format!("s{}", "UcTA".repeat(20)));
    let all: Vec<usize> = (1..76).collect();
    let small = settings(10_000, 0, 4);
    let new = compressed(&messages, &small, pins(&messages, &all));
    assert!(new.over.is_none(), "{:?}", new.over);
    assert!(!new.unpinned.is_empty());
    let some = compressed(&messages, &small, pins(&messages, &[23]));
    assert!(some.unpinned.is_empty() && some.over.is_none());
    assert!(whole(&some).contains(&23));
}

#[test]
fn of_equal_messages_the_newest_stays() {
    let mut messages = list(&format!("s{}", "UcTA".repeat(20)));
    messages[9] = messages[21].clone();
    assert_eq!(pins(&messages, &[9]).positions(&messages), [21]);
}

#[test]
fn where_all_that_could_leave_is_pinned_nothing_leaves() {
    let messages = list(&format!("s{}", "Ua".repeat(6)));
    let all: Vec<usize> = (0..messages.len()).collect();
    let wishes = MessageRequests { pins: pins(&messages, &all), ..MessageRequests::default() };
    let request = CompressRequest { wishes, ..CompressRequest::default() };
    let declined = prepare(&messages, &settings(60_000, 0, 4), &EngineState::default(), &request);
    assert!(declined.is_err());
}

/// Returns the input position of a message of the new list.
fn place(slot: &Slot) -> Option<usize> {
    match slot {
        Slot::Kept(at) | Slot::Replaced { index: at, .. } => Some(*at),
        Slot::Inserted(_) => None,
    }
}

proptest! {
    /// Holds for all pins, discards, closed episodes, ranges and window sizes: pinned messages are present or
    /// reported, pairs are whole, no message occurs twice, and the handoff covers every message that left.
    #[test]
    fn any_wishes_give_a_valid_list(
        turns in prop::collection::vec(prop::sample::select(vec!["u", "U", "a", "A", "ct", "cT", "UcTa", "UA"]), 8..60),
        more in prop::collection::vec(prop::sample::select(vec!["u", "a", "ct", "cT", "UcTa", "ctcTa"]), 0..20),
        pinned in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        discarded in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        done in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..3),
        ranges in prop::collection::vec(prop::option::of((0_usize..80, 1_usize..80)), 1..4),
        window in prop::sample::select(vec![4_000_u64, 12_000, 60_000, 1_000_000]),
        said in prop::option::of(prop::sample::select(vec![4_000_i64, 12_000, 16_000, 60_000])),
        overflow in any::<bool>(),
        first in 0_usize..4,
    ) {
        let mut messages = list(&format!("s{}", turns.concat()));
        let fingerprint = |at: &prop::sample::Index| Fingerprint::of(&messages[at.index(messages.len())]);
        let wishes = MessageRequests {
            pins: pinned.iter().map(fingerprint).collect(),
            discards: discarded.iter().map(|at| (fingerprint(at), None)).collect(),
            episodes: done
                .iter()
                .map(|(after, last)| Episode {
                    number: 1,
                    title: "look".into(),
                    outcome: None,
                    after: Anchors::behind(Some(fingerprint(after))),
                    last: Some(fingerprint(last)),
                })
                .collect(),
        };
        let settings = settings(window, first, 4);
        let mut state = EngineState::default();
        for (round, range) in ranges.into_iter().enumerate() {
            let range = range.map(|(from, length)| from..from + length);
            let gain = Gain::Any;
            let request =
                CompressRequest { wishes: wishes.clone(), range, overflow, current_tokens: said, gain, ..CompressRequest::default() };
            let Ok(prepared) = prepare(&messages, &settings, &state, &request) else { continue };
            let covered = prepared.brief.indexes.clone();
            let note = ArchiveNote { handle: "cmp_1_1".into(), messages: prepared.dropped() };
            let new = prepared.finish(Summary { body: "what was done".into(), ..Summary::default() }, note);
            let mut next: Vec<Message> = new.messages(&messages).cloned().collect();
            let there = |wanted: &Message| next.iter().any(|one| Fingerprint::of(one) == Fingerprint::of(wanted));
            for (at, message) in messages.iter().enumerate().filter(|(_, message)| request.wishes.pins.has(message)) {
                let is_named = new.unpinned.iter().any(|lost| Fingerprint::of(&messages[*lost]) == Fingerprint::of(message));
                prop_assert!(there(message) != is_named, "{at}");
            }
            let places: Vec<usize> = new.slots.iter().filter_map(place).collect();
            prop_assert!(places.is_sorted_by(|one, other| one < other), "{places:?}");
            prop_assert!(new.numbers.dropped <= messages.len());
            let is_gone = |at: &usize| !places.contains(at) && !handoff::is_only_handoff(&messages[*at]);
            let lost: Vec<usize> = (0..messages.len()).filter(is_gone).filter(|at| !covered.contains(at)).collect();
            prop_assert_eq!(lost, Vec::<usize>::new());
            prop_assert_eq!(pairs::pairing(&next), pairs::Pairing::default());
            let handoffs = next.iter().filter(|message| handoff::is_handoff(message)).count();
            prop_assert!(handoffs <= 1 || new.state.has_scattered_handoffs);
            state = new.state;
            let grown = list(&more.concat()).into_iter();
            next.extend(grown.map(|one| Message::parse(one.raw().replace("id", &format!("n{round}id"))).unwrap()));
            messages = next;
        }
    }
}
