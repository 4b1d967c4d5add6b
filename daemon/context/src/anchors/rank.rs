//! What an anchor is worth.

use hashbrown::HashMap;

use super::Kind;

/// One exact thing.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchor {
    /// What it is.
    pub kind: Kind,
    /// The words around it, on one line.
    pub text: String,
    /// What it is worth; 1 for a clear find in the newest turn.
    pub score: f64,
}

/// What an anchor of the oldest turn keeps of its worth.
const OLDEST: f64 = 0.75;
/// What the best anchor of an earlier handoff is worth.
const CARRIED: f64 = 0.85;
/// What the last one of it is worth, as a part of that.
const CARRIED_LAST: f64 = 0.75;
/// What each repetition adds.
const REPEATED: f64 = 0.05;
/// Repetitions beyond this many add nothing.
const MAX_REPEATED: f64 = 6.0;
/// How many lines of one shape halve the worth, roughly.
const COMMON: f64 = 6.0;
/// The same among sentences, which have few shapes.
const COMMON_PROSE: f64 = 40.0;

/// What a position is worth: `at` of `count`, the newest last.
#[expect(clippy::cast_precision_loss, reason = "a rank")]
pub(super) fn recency(at: usize, count: usize) -> f64 {
    OLDEST + (1.0 - OLDEST) * (at as f64 + 1.0) / (count as f64).max(1.0)
}

/// What a line of a shape is worth that occurs `count` times.
pub(super) fn rarity(count: u32) -> f64 {
    1.0 / (1.0 + (f64::from(count.saturating_sub(1)) / COMMON).ln_1p())
}

/// The same for a sentence.
pub(super) fn prose_rarity(count: u32) -> f64 {
    1.0 / (1.0 + (f64::from(count.saturating_sub(1)) / COMMON_PROSE).ln_1p())
}

/// The worth of anchors that an earlier handoff listed, best first.
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

/// The anchors, each text once, best first; what is repeated is worth more.
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
