//! The savings of a run.

/// Savings in percent below which a run counts as weak (C28).
pub(crate) const WEAK_PCT: f64 = 10.0;

/// Returns the saved tokens as a percentage of those before; 0 if those are unknown.
#[expect(clippy::cast_precision_loss, reason = "a percentage for people")]
pub fn savings_pct(before: u64, after: u64) -> f64 {
    match before {
        0 => 0.0,
        _ => (before as f64 - after as f64) / before as f64 * 100.0,
    }
}
