//! The threat scan: invisible characters, then patterns.
//!
//! A text is searched as it stands. A folded view of it (look-alike letters mapped, marks dropped)
//! belongs beside the call of [`patterns::find`] in [`hits`]: search the view with the same
//! patterns, map the hits back, and set [`Finding::folded`] on those the raw text does not give.

use crate::finding::Hit;
use crate::{Finding, Scope, Severity, invisible, patterns};

/// Everything suspicious in `text`: first the invisible characters, one finding for each distinct
/// one in the order in which they appear, then the patterns of `scope` in their fixed order, each
/// with its first hit.
pub fn scan(text: &str, scope: Scope) -> Vec<Finding> {
    hits(text, scope).map(|hit| finding(text, &hit)).collect()
}

/// A sentence for people and models about the first finding at `scope`; `None` for a clean text.
/// It says what was found and where, and repeats nothing of the text.
pub fn first_threat_message(text: &str, scope: Scope) -> Option<String> {
    let Finding { id, start, end, .. } = finding(text, &hits(text, scope).next()?);
    Some(match id.code_point() {
        Some(code) => format!(
            "Blocked: invisible unicode character {code} at char {start} ({id}). \
             Take it out and try again."
        ),
        None => format!(
            "Blocked: chars {start} to {end} read like the threat '{id}'. \
             If it is an honest note, put it in other words."
        ),
    })
}

fn hits(text: &str, scope: Scope) -> impl Iterator<Item = Hit> {
    invisible::find(text).into_iter().chain(patterns::find(text, scope))
}

fn finding(text: &str, hit: &Hit) -> Finding {
    let start = text[..hit.bytes.start].chars().count();
    Finding {
        id: hit.id,
        start,
        end: start + text[hit.bytes.clone()].chars().count(),
        folded: false,
        severity: Severity::Block,
    }
}
