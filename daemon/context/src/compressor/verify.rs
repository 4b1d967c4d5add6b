//! The checks of a summary before it counts.

use herma_guard::Policy;

use super::Prepared;
use crate::check::{Checked, Refused, Span, check};
use crate::message::Message;

impl Prepared {
    /// Checks a summarizer's text for these turns, and repairs it where possible.
    pub fn check(&self, body: &str, policy: &Policy) -> Result<Checked, Refused> {
        let turns: Vec<&Message> = self.turns().collect();
        let previous = self.previous_summary();
        let replaced = self.replaced_chars() + previous.map_or(0, |text| text.chars().count());
        // A summary of a few short turns may be as long as any handoff.
        let replaced_chars = replaced.max(self.limit);
        let rules: Vec<&str> = self.constraints().constraints.iter().map(|rule| rule.text.as_str()).collect();
        check(body, &Span { turns: &turns, previous, constraints: &rules, replaced_chars, policy })
    }

    /// Does the same for the record without a model, which has no substitute: a record that can't be repaired
    /// passes with a warning.
    pub fn repaired(&self, body: String, policy: &Policy) -> Checked {
        self.check(&body, policy).unwrap_or_else(|refused| match refused {
            // It is short and consists of the user's own words; a few turns can be shorter.
            Refused::TooLong { .. } | Refused::Empty | Refused::Language { .. } => {
                Checked { body, unverified: Vec::new(), warnings: Vec::new() }
            }
            Refused::Unrepairable => {
                Checked { body, unverified: Vec::new(), warnings: vec!["the record could not be checked".into()] }
            }
        })
    }
}
