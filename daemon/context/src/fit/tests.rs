use proptest::prelude::*;

use super::*;

fn blocks(count: usize, chars: usize) -> Vec<String> {
    let block = |at: usize| {
        let label = if at % 10 == 3 { "[USER]" } else { "[TOOL RESULT x]" };
        format!("{label}: #{at}# {}", "word ".repeat(chars / 5))
    };
    (0..count).map(block).collect()
}

/// Returns the numbers of the blocks with a part in the text.
fn numbers(text: &str) -> Vec<usize> {
    text.split('#').skip(1).step_by(2).map(|number| number.parse().unwrap()).collect()
}

#[test]
fn what_fits_is_not_touched() {
    let all = blocks(5, 100);
    let fitted = fit(&all, 10_000, 1_000, 1_000);
    assert_eq!(fitted, Fitted { text: all.join("\n\n"), omitted: 0 });
    assert_eq!(fit(&[], 10, 0, 0), Fitted { text: String::new(), omitted: 0 });
    for (window, answer, overhead, expect) in
        [(100, 0, 0, true), (100, 11, 0, false), (100, 5, 6, false), (99, 0, 0, false), (0, 5, 5, false)]
    {
        assert_eq!(fits(&"漢".repeat(115), window, answer, overhead), expect, "{window} {answer} {overhead}");
    }
}

#[test]
fn long_blocks_are_shortened_before_any_is_left_out() {
    let mut all = blocks(20, 100);
    all[5] = format!("[TOOL RESULT x]: #5# {}", "y".repeat(50_000));
    let fitted = fit(&all, 3_000, 500, 500);
    assert_eq!((fitted.omitted, numbers(&fitted.text).len()), (0, 20));
    assert!(all.iter().enumerate().all(|(at, block)| at == 5 || fitted.text.contains(block.as_str())));
    let fitted = fit(&blocks(20, 4_000), 4_000, 0, 0);
    assert_eq!(fitted.omitted, 0);
    let length = |at: usize| fitted.text.split("\n\n").nth(at).unwrap().len();
    assert!(length(3) > 3 * length(4), "the user's words stay longer: {} and {}", length(3), length(4));
}

#[test]
fn blocks_that_fit_when_they_are_short_are_all_there() {
    let all = vec![format!("[ASSISTANT]: {}", "x".repeat(400)); 100];
    let room = SHORT_BLOCK * 100;
    let fitted = fit(&all, room * 100 / USED_PERCENT + 1, 0, 0);
    assert_eq!((fitted.omitted, fitted.text.split("\n\n").count()), (0, 100));
}

#[test]
fn what_is_left_out_is_marked_and_spread_evenly() {
    let all = blocks(1_000, 1_000);
    let fitted = fit(&all, 30_000, 2_000, 1_000);
    let kept = numbers(&fitted.text);
    assert_eq!(kept.len() + fitted.omitted, 1_000);
    assert_eq!((kept.first(), kept.last()), (Some(&0), Some(&999)));
    assert!(kept.is_sorted());
    let users = kept.iter().filter(|at| *at % 10 == 3).count();
    assert!(users > 50, "of 100 turns of the user {users}");
    for tenth in kept.chunk_by(|a, b| a / 100 == b / 100) {
        assert!((15..=30).contains(&tenth.len()), "{tenth:?}");
    }
    let left_out: usize =
        fitted.text.split("[… ").skip(1).filter_map(|mark| mark.split(' ').next()?.parse::<usize>().ok()).sum();
    assert_eq!(left_out, fitted.omitted, "the marks add up");
    assert!(fits(&fitted.text, 30_000, 2_000, 1_000));
    assert!(own_estimate_text(&fitted.text) > 22_000, "the room is used: {}", own_estimate_text(&fitted.text));
}

#[test]
fn one_block_too_many_is_cut() {
    for window in [0, 1, 2, 5, 20, 200] {
        let fitted = fit(&["[USER]: ".to_owned() + &"漢".repeat(10_000)], window, 0, 0);
        assert!(fits(&fitted.text, window, 0, 0), "{window}");
        assert_eq!(fitted.omitted, usize::from(fitted.text.is_empty()), "{window}");
    }
    assert_eq!(fit(&blocks(3, 10), 5, 10, 0), Fitted { text: String::new(), omitted: 3 });
}

proptest! {
    /// For any blocks and any window the result is within the budget and in order.
    #[test]
    fn the_budget_holds(
        lengths in prop::collection::vec((0..3_000_usize, prop::sample::select(vec!["x", "é", "漢", "😀", "\n"]), any::<bool>()), 0..60),
        window in 0..20_000_u64,
        answer in 0..2_000_u64,
        overhead in 0..2_000_u64,
    ) {
        let block = |(at, (length, letter, is_user)): (usize, &(usize, &str, bool))| {
            let label = if *is_user { "[USER]: " } else { "[ASSISTANT]: " };
            format!("{label}#{at}# {}", letter.repeat(*length))
        };
        let all: Vec<String> = lengths.iter().enumerate().map(block).collect();
        let fitted = fit(&all, window, answer, overhead);
        prop_assert!(fits(&fitted.text, window, answer, overhead) || fitted.text.is_empty());
        prop_assert!(fitted.omitted <= all.len());
        let places: Vec<usize> = (0..all.len()).filter_map(|at| fitted.text.find(&format!("#{at}#"))).collect();
        prop_assert!(places.is_sorted());
    }

    /// With some room the first and the last block are present.
    #[test]
    fn the_ends_are_there(count in 2..400_usize, chars in 0..2_000_usize, window in 200..5_000_u64) {
        let kept = numbers(&fit(&blocks(count, chars), window, 0, 0).text);
        prop_assert_eq!((kept.first(), kept.last()), (Some(&0), Some(&(count - 1))));
    }
}
