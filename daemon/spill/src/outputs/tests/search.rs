//! Searches for a text or a pattern in outputs.

use herma_disk::append::Appender;
use proptest::prelude::*;

use super::*;
use crate::search::needle::{Hits, Ready};

fn search(outputs: &Outputs, needle: Needle, scope: Scope, context: usize, limit: usize) -> crate::search::Found {
    outputs.search(&Query { needle, scope, context, limit }, &|| false).unwrap()
}

#[test]
fn rows_have_their_lines_and_what_is_around() {
    let home = Home::new();
    let (outputs, _) = home.open();
    keep(&outputs, "s", "1", "one\r\nä two two\r\n\r\nthree\r\nlast two");
    let find = |needle, context, limit| search(&outputs, needle, Scope::Session("s".into()), context, limit);
    let found = find(Needle::Literal("two".into()), 1, 9);
    let rows: Vec<_> =
        found.matches.iter().map(|row| (row.line, row.text.as_str(), row.offset, row.start, row.end)).collect();
    assert_eq!(rows, [(2, "ä two two", 7, 2, 5), (5, "last two", 30, 5, 8)]);
    assert_eq!(
        (&found.matches[0].before[..], &found.matches[0].after[..]),
        (&["one".to_owned()][..], &[String::new()][..])
    );
    assert_eq!((&found.matches[1].before[..], found.matches[1].after.len()), (&["three".to_owned()][..], 0));
    for (pattern, lines) in [
        ("^$", &[3][..]),
        ("o$", &[2, 5]),
        ("^o", &[1]),
        (r"e\s", &[]),
        ("(?i)T", &[2, 4, 5]),
        ("x*", &[1, 2, 3, 4, 5]),
    ] {
        let found = find(Needle::Regex(pattern.into()), 0, 9);
        assert_eq!(found.matches.iter().map(|row| row.line).collect::<Vec<_>>(), lines, "{pattern}");
    }
    for (limit, more) in [(1, true), (2, false), (3, false)] {
        assert_eq!(find(Needle::Literal("two".into()), 0, limit).more, more);
    }
    for needle in [
        Needle::Literal(String::new()),
        Needle::Regex("(".into()),
        Needle::Regex("x".repeat(1_001)),
        Needle::Regex("\\w{999999}".into()),
    ] {
        let query = Query { needle, scope: Scope::All, context: 0, limit: 1 };
        assert!(matches!(outputs.search(&query, &|| false), Err(SpillError::Pattern(_))));
    }
    let query = Query { needle: Needle::Literal("two".into()), scope: Scope::All, context: 0, limit: 1 };
    assert!(matches!(outputs.search(&query, &|| true), Err(SpillError::Cancelled)));
}

#[test]
fn hits_where_two_blocks_meet_are_found() {
    let home = Home::new();
    let outputs = Outputs::new(home.root());
    for (at, id) in (-14..=14).zip(0..) {
        let before = "x".repeat(usize::try_from((1 << 20) + at).unwrap());
        let kept = keep(&outputs, "s", &format!("{id}"), &format!("{before}needle\nneedle\n"));
        for needle in [Needle::Literal("needle".into()), Needle::Regex("n.edle".into())] {
            let found = search(&outputs, needle, Scope::Handle(kept.handle.to_string()), 0, 9);
            let lines: Vec<u64> = found.matches.iter().map(|row| row.line).collect();
            assert_eq!((lines, found.matches[0].offset), (vec![1, 2], before.len() as u64), "{at}");
        }
    }
}

#[test]
fn a_long_line_is_shown_round_each_hit() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let text = format!("{}needle{}needle needle{}", "é".repeat(1_200_000), "-".repeat(1_800_000), "é".repeat(900_000));
    let kept = keep(&outputs, "s", "1", &text);
    for needle in [Needle::Literal("needle".into()), Needle::Regex("n[e]{2}dle".into())] {
        let found = search(&outputs, needle, Scope::Handle(kept.handle.to_string()), 2, 9);
        let offsets: Vec<_> = found.matches.iter().map(|row| row.offset).collect();
        assert_eq!(offsets, [1_200_000, 3_000_006]);
        for row in &found.matches {
            let shown: Vec<char> = row.text.chars().collect();
            assert!(row.cut && row.line == 1 && shown.len() <= 2_000);
            assert_eq!(shown[row.start..row.end].iter().collect::<String>(), "needle");
        }
    }
}

/// If a hit ended near the end of a piece, the next search began within a char, or skipped a hit at its own start.
#[test]
fn in_a_line_of_several_pieces_no_hit_is_missed_and_none_is_within_a_char() {
    let home = Home::new();
    let (outputs, _) = home.open();
    let block = (1 << 20) + 4;
    let pattern = regex::Regex::new("n.{4}e|é{20}$|^é|end").unwrap();
    for at in [block - (64 << 10), block - 700] {
        // The needles end where a piece does, or a little before or after it.
        let lead = format!("{}x", "é".repeat((at - 1) / 2 - 200));
        let text = format!("{lead}{}\u{20ac}{}\nend", "needle€".repeat(900), "é".repeat(800_000));
        let kept = keep(&outputs, "s", &at.to_string(), &text);
        let expected: Vec<(u64, u64)> = text
            .split_inclusive('\n')
            .scan(0, |from, line| {
                let start = *from;
                *from += line.len();
                let line = line.trim_end_matches('\n');
                Some(
                    pattern
                        .find_iter(line)
                        .map(|hit| ((start + hit.start()) as u64, (start + hit.end()) as u64))
                        .collect::<Vec<_>>(),
                )
            })
            .flatten()
            .collect();
        let located = outputs.located(outputs.find(&kept.handle.to_string()).unwrap()).unwrap();
        let ready = Ready::new(&Needle::Regex("n.{4}e|é{20}$|^é|end".into())).unwrap();
        let mut hits = Hits::new(&ready, &located, &|| false);
        let (mut found, mut from) = (Vec::new(), 0);
        while let Some(hit) = hits.next(from).unwrap() {
            found.push(hit);
            from = hit.1;
        }
        assert_eq!(found.len(), expected.len(), "{at}");
        assert_eq!(found, expected, "{at}");
    }
}

/// A search never ended in a file that became shorter meanwhile, because it read the same block for ever.
#[test]
fn a_search_ends_in_a_file_that_becomes_shorter() {
    let home = Home::new();
    let (outputs, _) = home.open();
    for (length, left) in [(3 << 20, 1_500_000), (3 << 20, 10), (3 << 20, 0), (700_000, 699_999)] {
        for needle in [Needle::Regex("n.edle".into()), Needle::Literal("needle".into())] {
            home.write("s/long.txt", &"é".repeat(length / 2));
            let located = outputs.located(outputs.find(&Handle::of("s/long.txt").to_string()).unwrap());
            let located = located.unwrap();
            Appender::open(&home.root().join("s/long.txt")).unwrap().cut(left).unwrap();
            let ready = Ready::new(&needle).unwrap();
            let calls = std::cell::Cell::new(0);
            let is_cancelled = || calls.replace(calls.get() + 1) > 99;
            let found = Hits::new(&ready, &located, &is_cancelled).next(0);
            assert!(matches!(found, Ok(None) | Err(SpillError::NotText { .. })), "{length} {left} {found:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_line_with_a_hit_has_one_row(lines in prop::collection::vec("[abé]{0,6}\r?", 0..40), repeat in 1..4_000_usize) {
        let home = Home::new();
        let outputs = Outputs::new(home.root());
        let text = vec![lines.join("\n"); repeat].join("\n");
        let kept = keep(&outputs, "s", "1", &text);
        let expected: Vec<(u64, String)> = (1..)
            .zip(text.split('\n'))
            .filter(|(_, line)| line.contains("ab"))
            .map(|(number, line)| (number, line.to_owned()))
            .take(20)
            .collect();
        for needle in [Needle::Literal("ab".into()), Needle::Regex("a[b]".into())] {
            let found = search(&outputs, needle, Scope::Handle(kept.handle.to_string()), 0, 20);
            let rows: Vec<(u64, String)> = found.matches.iter().map(|row| (row.line, row.text.clone())).collect();
            let shown: Vec<(u64, String)> = expected.iter().map(|(number, line)| {
                let is_last = *number == text.split('\n').count() as u64;
                (*number, if is_last { line.clone() } else { line.strip_suffix('\r').unwrap_or(line).to_owned() })
            }).collect();
            prop_assert_eq!(rows, shown);
        }
    }
}
