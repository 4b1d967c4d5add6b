//! The score of an anchor.

use hashbrown::HashMap;

use super::Kind;

/// One exact string.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// Its kind.
    pub kind: Kind,
    /// The words around it, on one line.
    pub text: String,
    /// Its score; 1 for a clear match in the newest turn.
    pub score: f64,
}

/// The factor on the score of an anchor of the oldest turn.
const OLDEST: f64 = 0.75;
/// The score of the best anchor of an earlier handoff.
const CARRIED: f64 = 0.85;
/// The factor on the score of its last anchor.
const CARRIED_LAST: f64 = 0.75;
/// The share of the score that each repetition adds.
const REPEATED: f64 = 0.05;
/// The most repetitions that count.
const MAX_REPEATED: f64 = 6.0;
/// Lines of one shape that roughly halve the score.
const COMMON: f64 = 6.0;
/// The same for sentences, which have few shapes.
const COMMON_PROSE: f64 = 40.0;

/// Returns the factor for a position: `at` of `count`, the newest last.
#[expect(clippy::cast_precision_loss, reason = "a rank")]
pub(super) fn recency(at: usize, count: usize) -> f64 {
    OLDEST + (1.0 - OLDEST) * (at as f64 + 1.0) / (count as f64).max(1.0)
}

/// Returns the factor for a line whose shape occurs `count` times.
pub(super) fn rarity(count: u32) -> f64 {
    1.0 / (1.0 + (f64::from(count.saturating_sub(1)) / COMMON).ln_1p())
}

/// Returns the same for a sentence.
pub(super) fn prose_rarity(count: u32) -> f64 {
    1.0 / (1.0 + (f64::from(count.saturating_sub(1)) / COMMON_PROSE).ln_1p())
}

/// Returns the anchors of an earlier handoff with their scores, best first.
#[expect(clippy::cast_precision_loss, reason = "a rank")]
pub(super) fn carried(list: &[(Kind, &str)]) -> Vec<Anchor> {
    let mut of_kind = [0_usize; Kind::ALL.len()];
    for (kind, _) in list {
        of_kind[kind.index()] += 1;
    }
    let mut seen = [0_usize; Kind::ALL.len()];
    list.iter()
        .map(|&(kind, text)| {
            let place = seen[kind.index()] as f64 / of_kind[kind.index()] as f64;
            seen[kind.index()] += 1;
            Anchor { kind, text: text.to_owned(), score: CARRIED * (1.0 - (1.0 - CARRIED_LAST) * place) }
        })
        .collect()
}

/// Returns the anchors, each text once, best first. Repetitions raise the score.
pub(super) fn ranked(found: Vec<Anchor>) -> Vec<Anchor> {
    let mut at: HashMap<String, (usize, f64)> = HashMap::with_capacity(found.len());
    let mut list: Vec<Anchor> = Vec::with_capacity(found.len());
    for anchor in found {
        match at.get_mut(&anchor.text) {
            Some((place, times)) => {
                *times += 1.0;
                let kept = &mut list[*place];
                kept.score = kept.score.max(anchor.score);
            }
            None => {
                at.insert(anchor.text.clone(), (list.len(), 0.0));
                list.push(anchor);
            }
        }
    }
    for anchor in &mut list {
        let times = at.get(&anchor.text).map_or(0.0, |(_, times)| times.min(MAX_REPEATED));
        anchor.score *= 1.0 + REPEATED * times;
    }
    list.sort_by(|a, b| b.score.total_cmp(&a.score));
    list
}
