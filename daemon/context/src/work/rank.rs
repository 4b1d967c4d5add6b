//! Which of the things that a conversation is about are needed first.

use std::cmp::Ordering;

use super::entity::Entity;

/// What it counts that calls were given a name; the most of it that counts.
const GIVEN: f64 = 1.0;
/// See [`GIVEN`].
const MOST_GIVEN: u32 = 4;
/// What it counts that it was named otherwise.
const SAID: f64 = 0.2;
/// See [`SAID`].
const MOST_SAID: u32 = 12;
/// What it counts that something is known of it.
const DESCRIBED: f64 = 0.5;
/// What it counts to have been named in the last message.
const NEWEST: f64 = 4.0;
/// Messages after which half of that is left.
const HALF_LIFE: f64 = 40.0;

/// The more the sooner it is shown.
pub(super) fn score(entity: &Entity, messages: u64) -> f64 {
    let age = messages.saturating_sub(entity.last.saturating_add(1));
    #[expect(clippy::cast_precision_loss, reason = "a count of messages")]
    let recency = NEWEST * (-(age as f64) / HALF_LIFE).exp2();
    let connected = GIVEN * f64::from(entity.given.min(MOST_GIVEN)) + SAID * f64::from(entity.said.min(MOST_SAID));
    let described = if entity.attributes.is_empty() { 0.0 } else { DESCRIBED };
    (recency + connected + described) * worth(&entity.kind)
}

/// What a thing is worth whose kind only says how it is written: numbers are plenty, and seldom given
/// again.
fn worth(kind: &str) -> f64 {
    match kind {
        "number" => 0.3,
        "date" | "name" => 0.6,
        "id" => 0.8,
        _ => 1.0,
    }
}

/// The best first; of equal ones the newest, then by name.
pub(super) fn order((score, one): (f64, &Entity), (other_score, other): (f64, &Entity)) -> Ordering {
    other_score.total_cmp(&score).then(other.last.cmp(&one.last)).then_with(|| one.id.cmp(&other.id))
}
