//! The pause before a failed model call is repeated.

/// The longest pause without its jitter, in seconds.
const CAP_S: f64 = 30.0;

/// Returns the pause in seconds after a failed call; `attempt` counts from 0. The base doubles with each
/// attempt, up to 30 seconds, and the jitter adds up to half as much. `jitter` is a number from 0 to 1.
pub fn backoff_s(base_s: f64, attempt: u32, jitter: f64) -> f64 {
    let grown = base_s.max(0.0) * f64::from(2_u32.saturating_pow(attempt.min(30)));
    let pause = grown.min(CAP_S);
    pause + pause * 0.5 * jitter.clamp(0.0, 1.0)
}
