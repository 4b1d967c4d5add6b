//! Ranks the entities of a conversation.

use std::cmp::Ordering;

use super::entity::Entity;

/// Score for each occurrence in the arguments of calls; the most occurrences that count.
const GIVEN: f64 = 2.0;
/// See [`GIVEN`].
const MOST_GIVEN: u32 = 4;
/// Score for each other occurrence.
const SAID: f64 = 0.2;
/// See [`SAID`].
const MOST_SAID: u32 = 12;
/// Score if there are facts about it.
const DESCRIBED: f64 = 0.5;
/// Score for an occurrence in the last message.
const NEWEST: f64 = 4.0;
/// Messages after which half of that score is left.
const HALF_LIFE: f64 = 40.0;

/// Returns the score; entities with a higher score come first.
pub(super) fn score(entity: &Entity, messages: u64) -> f64 {
    let age = messages.saturating_sub(entity.last.saturating_add(1));
    #[expect(clippy::cast_precision_loss, reason = "a count of messages")]
    let recency = NEWEST * (-(age as f64) / HALF_LIFE).exp2();
    let connected = GIVEN * f64::from(entity.given.min(MOST_GIVEN)) + SAID * f64::from(entity.said.min(MOST_SAID));
    let described = if entity.attributes.is_empty() { 0.0 } else { DESCRIBED };
    (recency + connected + described) * worth(&entity.kind)
}

/// Returns the factor for a kind that only describes how a name is written: numbers are common, and later
/// calls seldom use them.
fn worth(kind: &str) -> f64 {
    match kind {
        "number" => 0.3,
        "date" | "name" => 0.6,
        "id" => 0.8,
        _ => 1.0,
    }
}

/// Orders by score, best first; equal ones by position, newest first, then by name.
pub(super) fn order((score, one): (f64, &Entity), (other_score, other): (f64, &Entity)) -> Ordering {
    other_score.total_cmp(&score).then(other.last.cmp(&one.last)).then_with(|| one.id.cmp(&other.id))
}
