//! Plans which outputs to remove; pure.

use std::collections::HashMap;

use crate::catalog::Reason;
pub use crate::clock::Clock;
use crate::handle::Handle;

/// An output that may be removed.
#[derive(Debug, Clone, PartialEq)]
pub struct Facts<'a> {
    /// The handle of the output.
    pub handle: Handle,
    /// The session that it belongs to.
    pub session: &'a str,
    /// Bytes of its text.
    pub bytes: u64,
    /// SHA-256 of its text.
    pub content: [u8; 32],
    /// When it was saved, in Unix seconds.
    pub created_at: f64,
}

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SessionState {
    /// It is open.
    Open,
    /// It has ended.
    Closed {
        /// When, in Unix seconds.
        ended_at: f64,
    },
    /// It is unknown.
    Unknown,
}

/// Limits of age and size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Retention {
    /// Seconds that an output is kept; infinite for ever, 0 for no longer than its session.
    pub ttl_seconds: f64,
    /// Bytes of all outputs together, each content once.
    pub quota_bytes: u64,
}

/// Returns which outputs to remove, and why, in the order of removal.
///
/// By age:
///
/// - Outputs of closed sessions, once the time to live has passed since they were saved and since their session ended.
/// - Outputs of unknown sessions, once it has passed since they were saved.
///
/// Then, while the rest exceeds the quota: outputs of closed sessions, of unknown ones, of open ones, the oldest first,
/// but never the newest of all.
#[must_use]
pub fn plan(
    outputs: &[Facts<'_>],
    sessions: impl Fn(&str) -> SessionState,
    limits: Retention,
    clock: Clock,
) -> Vec<(Handle, Reason)> {
    let (now, by_age) = (clock.now(), !clock.is_doubtful());
    let is_old = |output: &Facts<'_>, state: SessionState| {
        let since = match state {
            SessionState::Open => return false,
            SessionState::Closed { ended_at } => output.created_at.max(ended_at),
            SessionState::Unknown => output.created_at,
        };
        (now - since).max(0.0) >= limits.ttl_seconds.max(0.0) && !limits.ttl_seconds.is_nan()
    };
    let mut states: HashMap<&str, SessionState> = HashMap::new();
    let mut gone = Vec::new();
    let mut left: Vec<(u8, &Facts<'_>)> = Vec::new();
    for output in outputs {
        let state = *states.entry(output.session).or_insert_with(|| sessions(output.session));
        if by_age && is_old(output, state) {
            gone.push((output.handle, Reason::Ttl));
        } else {
            let rank = match state {
                SessionState::Closed { .. } => 0,
                SessionState::Unknown => 1,
                SessionState::Open => 2,
            };
            left.push((rank, output));
        }
    }
    let mut names: HashMap<[u8; 32], usize> = HashMap::new();
    let mut total = 0_u64;
    for (_, output) in &left {
        let count = names.entry(output.content).or_default();
        *count += 1;
        if *count == 1 {
            total = total.saturating_add(output.bytes);
        }
    }
    let by_time = |a: &Facts<'_>, b: &Facts<'_>| a.created_at.total_cmp(&b.created_at).then(a.handle.cmp(&b.handle));
    let newest = left.iter().map(|(_, output)| *output).max_by(|a, b| by_time(a, b)).map(|output| output.handle);
    left.sort_by(|(rank, a), (other, b)| rank.cmp(other).then_with(|| by_time(a, b)));
    for (_, output) in left {
        if total <= limits.quota_bytes {
            break;
        }
        if Some(output.handle) == newest {
            continue;
        }
        if let Some(count) = names.get_mut(&output.content) {
            *count -= 1;
            if *count == 0 {
                total = total.saturating_sub(output.bytes);
            }
        }
        gone.push((output.handle, Reason::Quota));
    }
    gone
}

#[cfg(test)]
mod tests;
