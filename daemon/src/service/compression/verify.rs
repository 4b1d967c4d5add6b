//! What a summary has to pass before it counts.

use herma_context::check::{Checked, Refused, Span, check};
use herma_context::{Message, Prepared};
use herma_guard::Policy;

/// Checks what somebody wrote.
pub(super) fn checked(prepared: &Prepared, body: &str, policy: &Policy) -> Result<Checked, Refused> {
    let turns: Vec<&Message> = prepared.turns().collect();
    let previous = prepared.previous_summary();
    let replaced = prepared.replaced_chars() + previous.map_or(0, |text| text.chars().count());
    // What replaces a few short turns may be as long as any handoff may.
    let replaced_chars = replaced.max(prepared.handoff_chars());
    let rules: Vec<&str> = prepared.constraints().constraints.iter().map(|rule| rule.text.as_str()).collect();
    check(body, &Span { turns: &turns, previous, constraints: &rules, replaced_chars, policy })
}

/// The same for herma's own record, for which nobody else can stand in: what can't be
/// repaired is let through with a warning.
pub(super) fn repaired(prepared: &Prepared, body: String, policy: &Policy) -> Checked {
    checked(prepared, &body, policy).unwrap_or_else(|refused| match refused {
        // It is short and made of the user's own words; a few turns can be shorter.
        Refused::TooLong { .. } | Refused::Empty | Refused::Language { .. } => {
            Checked { body, unverified: Vec::new(), warnings: Vec::new() }
        }
        Refused::Unrepairable => {
            Checked { body, unverified: Vec::new(), warnings: vec!["the record could not be checked".into()] }
        }
    })
}
