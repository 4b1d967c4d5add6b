#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use super::*;
use crate::compressor::prepare;
use crate::episodes::{Anchors, Episode, Episodes};
use crate::fingerprint::Fingerprint;
use crate::message::Role;
use crate::pairs;
use crate::pins::Pins;
use crate::request::CompressRequest;
use crate::run::{ArchiveNote, Compressed, EngineState, Summary};
use crate::slot::Slot;
use crate::testing::{list, settings};
use crate::wishes::MessageRequests;

/// Returns an episode from a position to before another one.
fn episode(messages: &[Message], title: &str, from: usize, to: usize) -> Episode {
    let of = |at: usize| Fingerprint::of(&messages[at]);
    Episode {
        number: 1,
        title: title.into(),
        outcome: Some("it works".into()),
        after: Anchors::behind(Some(of(from - 1))),
        last: Some(of(to - 1)),
    }
}

fn compressed(messages: &[Message], window: u64, episodes: &[Episode], pins: Pins) -> Compressed {
    compressed_again(messages, window, episodes, pins, &EngineState::default())
}

fn compressed_again(
    messages: &[Message],
    window: u64,
    episodes: &[Episode],
    pins: Pins,
    state: &EngineState,
) -> Compressed {
    let episodes: Episodes = episodes.iter().cloned().collect();
    let wishes = MessageRequests { episodes, pins, ..MessageRequests::default() };
    let request = CompressRequest { wishes, ..CompressRequest::default() };
    let prepared = prepare(messages, &settings(window, 0, 4), state, &request).unwrap();
    let note = ArchiveNote { handle: "cmp_1_1".into(), messages: prepared.dropped() };
    prepared.finish(Summary { body: "what was done".into(), ..Summary::default() }, note)
}

/// Returns the input positions of messages in the new list, unchanged or shortened.
fn there(compressed: &Compressed) -> Vec<usize> {
    let of = |slot: &Slot| match slot {
        Slot::Kept(at) | Slot::Replaced { index: at, .. } => Some(*at),
        Slot::Inserted(_) => None,
    };
    compressed.slots.iter().filter_map(of).collect()
}

fn valid(messages: &[Message], compressed: &Compressed) -> Vec<Message> {
    let all: Vec<Message> = compressed.messages(messages).cloned().collect();
    assert_eq!(pairs::pairing(&all), pairs::Pairing::default());
    let alike = |pair: &[Message]| !pair[0].is(Role::Tool) && pair[0].role() == pair[1].role();
    assert!(!all.windows(2).any(alike), "{:?}", all.iter().map(|one| one.role().as_str()).collect::<Vec<_>>());
    all
}

#[test]
fn a_closed_episode_leaves_the_tail_and_what_stands_around_it_stays() {
    // Question, call, result and answer, many times. Without episodes the tail begins at 58.
    let messages = list(&format!("s{}", "UcTA".repeat(20)));
    let all = |range: Range<usize>| range.collect::<Vec<_>>();
    for (episodes, stays) in [
        (vec![], all(58..81)),
        (vec![(61, 69)], [all(58..61), all(69..81)].concat()),
        // The episode contains a call and its result, but not the answer after them.
        (vec![(62, 64)], [all(58..62), all(64..81)].concat()),
        (vec![(61, 65), (69, 73)], [all(58..61), all(65..69), all(73..81)].concat()),
        // It may begin in the middle.
        (vec![(41, 69)], all(69..81)),
        (vec![(21, 33)], all(58..81)),
        // The user's last message and the last answer stay.
        (vec![(73, 81)], [all(58..73), vec![77, 80]].concat()),
    ] {
        let named: Vec<Episode> = episodes.iter().map(|&(from, to)| episode(&messages, "look", from, to)).collect();
        let new = compressed(&messages, 60_000, &named, Pins::default());
        let behind: Vec<usize> = there(&new).into_iter().filter(|at| *at > 0).collect();
        assert_eq!(behind, stays, "{episodes:?}");
        assert_eq!(new.episodes, episodes.len());
        assert_eq!(new.handoff.contains("## Finished Episodes\n- look ("), !episodes.is_empty(), "{}", new.handoff);
        valid(&messages, &new);
    }
}

#[test]
fn its_line_tells_what_left_and_stays_through_later_compressions() {
    let mut messages = list(&format!("s{}", "UcTA".repeat(20)));
    let done = [episode(&messages, "the parser", 61, 69)];
    let new = compressed(&messages, 60_000, &done, Pins::default());
    let line = "## Finished Episodes\n- the parser (8 messages): it works\n\n## Archived Messages";
    assert!(new.handoff.contains(line), "{}", new.handoff);
    let mut new = new;
    for round in 0..4 {
        messages = valid(&messages, &new);
        messages.extend(list(&format!("s{}", "UcTA".repeat(20))).into_iter().skip(1));
        new = compressed_again(&messages, 60_000, &done, Pins::default(), &new.state);
        assert_eq!(new.handoff.matches("- the parser (").count(), 1, "round {round}: {}", new.handoff);
    }
    // Another episode with the same title has its own line.
    let [first] = done;
    let both = [first.clone(), Episode { number: 2, ..first }];
    messages = valid(&messages, &new);
    messages.extend(list(&format!("s{}", "UcTA".repeat(20))).into_iter().skip(1));
    new = compressed_again(&messages, 60_000, &both, Pins::default(), &new.state);
    assert_eq!(new.handoff.matches("- the parser (").count(), 2, "{}", new.handoff);
    assert_eq!(new.state.named_episodes, [1, 2]);
}

#[test]
fn what_is_pinned_in_it_stays() {
    let messages = list(&format!("s{}", "UcTA".repeat(20)));
    let pins: Pins = [Fingerprint::of(&messages[63])].into_iter().collect();
    let new = compressed(&messages, 60_000, &[episode(&messages, "look", 61, 73)], pins);
    let stays = there(&new);
    assert!(stays.contains(&62) && stays.contains(&63) && !stays.contains(&67), "{stays:?}");
    valid(&messages, &new);
}

#[test]
fn it_leaves_a_list_that_is_far_too_large_first() {
    let messages = list(&format!("s{}", "UcTA".repeat(20)));
    for window in [8_000, 12_000, 20_000, 30_000] {
        let new = compressed(&messages, window, &[episode(&messages, "look", 69, 77)], Pins::default());
        let stays = there(&new);
        assert!(!stays.iter().any(|at| (69..77).contains(at)), "{window}: {stays:?}");
        assert!(new.over.is_none() && new.handoff.contains("- look ("), "{window}");
        valid(&messages, &new);
    }
}

#[test]
fn an_agent_that_was_asked_once_may_close_what_it_did() {
    let messages = list(&format!("sU{}", "cT".repeat(40)));
    let new = compressed(&messages, 60_000, &[episode(&messages, "look", 20, 70)], Pins::default());
    let stays = there(&new);
    assert!(stays.contains(&1) && !stays.iter().any(|at| (20..70).contains(at)), "{stays:?}");
    assert!(stays.ends_with(&(70..82).collect::<Vec<_>>()), "{stays:?}");
}
