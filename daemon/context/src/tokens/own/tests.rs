use std::collections::BTreeMap;

use super::*;

/// Texts, one per line, with the counts of two tokenizers.
const COUNTS: &str = include_str!("counts.jsonl");

/// The same counts in the documentation.
const TABLE: &str = include_str!("../../../../../docs/counting.md");

/// The largest error of the mean of a kind, and of a single text.
const MEAN: f64 = 0.10;
const SINGLE: f64 = 0.30;

#[derive(serde::Deserialize)]
struct Counted {
    kind: String,
    text: String,
    o200k_base: u32,
    cl100k_base: u32,
}

/// Returns by how much an estimate exceeds a count, as a share of the count.
fn off(estimate: u64, count: u32) -> f64 {
    estimate as f64 / f64::from(count) - 1.0
}

#[test]
fn every_kind_of_text_is_met() {
    let mut kinds: BTreeMap<String, Vec<[f64; 4]>> = BTreeMap::new();
    for line in COUNTS.lines() {
        let counted: Counted = serde_json::from_str(line).unwrap();
        let (own, rough) = (own_estimate_text(&counted.text), crate::tokens::estimate_text(&counted.text));
        let (new, old) = (counted.o200k_base, counted.cl100k_base);
        let single = off(own, new);
        assert!(single.abs() <= SINGLE, "{}: {own}, not {new}: {}", counted.kind, counted.text);
        kinds.entry(counted.kind).or_default().push([off(rough, new), off(own, new), off(rough, old), off(own, old)]);
    }
    assert_eq!(kinds.len(), 15);
    for (kind, rows) in kinds {
        assert!(rows.len() >= 5, "{kind}");
        let mean = |at: usize| rows.iter().map(|row| row[at]).sum::<f64>() / rows.len() as f64;
        let largest = rows.iter().map(|row| row[1].abs()).fold(0.0, f64::max);
        let [rough, own, rough_old, own_old] = [0, 1, 2, 3].map(|at| 100.0 * mean(at));
        let row = format!(
            "| {kind} | {} | {rough:+.0} % | {own:+.0} % | {:.0} % | {rough_old:+.0} % | {own_old:+.0} % |",
            rows.len(),
            100.0 * largest
        );
        assert!(TABLE.contains(&row), "docs/counting.md has no row {row}");
        assert!(mean(1).abs() <= MEAN, "{kind}: {own:+.1} %");
    }
}

#[test]
fn a_text_costs_the_same_in_pieces_and_escaped() {
    for line in COUNTS.lines() {
        let counted: Counted = serde_json::from_str(line).unwrap();
        let whole = cost(&counted.text);
        let token = serde_json::to_string(&counted.text).unwrap();
        assert_eq!(string_cost(&token), whole, "{token}");
        let mut pieces = Counter::default();
        counted.text.chars().for_each(|char| pieces.text(char.encode_utf8(&mut [0; 4])));
        assert_eq!(pieces.thousandths, whole, "{}", counted.text);
    }
}

#[test]
fn blocks_do_not_show() {
    for length in (0..2_000).step_by(7).chain(230..260) {
        let text: String = "aB c9,\n".chars().cycle().take(length).collect();
        let by_byte: u64 = std::iter::once(ascii::NOTHING)
            .chain(text.bytes())
            .zip(text.bytes())
            .map(|(before, now)| ascii::cost(before, &[now]))
            .sum();
        assert_eq!(cost(&text), by_byte, "{length}");
    }
}

#[test]
fn nothing_costs_nothing() {
    assert_eq!(own_estimate_text(""), 0);
}

#[test]
fn no_char_is_free() {
    for c in (0x80..=0x10_FFFF).filter_map(char::from_u32) {
        assert!((ALPHABET.min(CYRILLIC)..=SYMBOL).contains(&char_cost(c)), "{c:?}");
    }
}
