//! What a summary has to pass before it counts.

use herma_guard::Policy;

use super::Prepared;
use crate::check::{Checked, Refused, Span, check};
use crate::message::Message;

impl Prepared {
    /// Checks what a summarizer wrote for these turns, and repairs it where that is possible.
    pub fn check(&self, body: &str, policy: &Policy) -> Result<Checked, Refused> {
        let turns: Vec<&Message> = self.turns().collect();
        let previous = self.previous_summary();
        let replaced = self.replaced_chars() + previous.map_or(0, |text| text.chars().count());
        // What replaces a few short turns may be as long as any handoff may.
        let replaced_chars = replaced.max(self.handoff_chars());
        let rules: Vec<&str> = self.constraints().constraints.iter().map(|rule| rule.text.as_str()).collect();
        check(body, &Span { turns: &turns, previous, constraints: &rules, replaced_chars, policy })
    }

    /// The same for the record without a model, for which nothing can stand in: what can't be
    /// repaired is let through with a warning.
    pub fn repaired(&self, body: String, policy: &Policy) -> Checked {
        self.check(&body, policy).unwrap_or_else(|refused| match refused {
            // It is short and made of the user's own words; a few turns can be shorter.
            Refused::TooLong { .. } | Refused::Empty | Refused::Language { .. } => {
                Checked { body, unverified: Vec::new(), warnings: Vec::new() }
            }
            Refused::Unrepairable => {
                Checked { body, unverified: Vec::new(), warnings: vec!["the record could not be checked".into()] }
            }
        })
    }
}
