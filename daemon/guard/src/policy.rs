//! The configured treatment of findings.

use std::collections::BTreeMap;

use crate::{Finding, FindingId, Scope, Severity, scan};

/// How a configuration treats a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Treatment {
    /// Refuse the text.
    Block,
    /// Accept the text and report the finding.
    Warn,
    /// Accept the text without a report.
    Off,
}

/// The treatment of every id at every scope. By default all findings block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// The treatments other than the default; [`Treatment::Block`] is not among the values.
    exceptions: BTreeMap<(FindingId, Scope), Treatment>,
}

impl Policy {
    /// Sets the treatment of `id` in scans at exactly these scopes; other scopes are unchanged.
    pub fn set(&mut self, id: FindingId, scopes: &[Scope], treatment: Treatment) {
        for scope in scopes {
            match treatment {
                Treatment::Block => self.exceptions.remove(&(id, *scope)),
                Treatment::Warn | Treatment::Off => self.exceptions.insert((id, *scope), treatment),
            };
        }
    }

    /// Returns the treatment of `id` in a scan at `scope`.
    pub fn treatment(&self, id: FindingId, scope: Scope) -> Treatment {
        self.exceptions.get(&(id, scope)).copied().unwrap_or(Treatment::Block)
    }

    /// Returns the findings of [`scan()`](crate::scan()) with their configured severities. A
    /// finding that is off is left out and hides no other.
    pub fn scan(&self, text: &str, scope: Scope) -> Vec<Finding> {
        let hits = scan::hits(text, scope).into_iter();
        hits.filter_map(|hit| {
            let severity = match self.treatment(hit.id, scope) {
                Treatment::Block => Severity::Block,
                Treatment::Warn => Severity::Warn,
                Treatment::Off => return None,
            };
            Some(hit.finding(severity))
        })
        .collect()
    }

    /// Returns the ids that block `text`, in the order of [`Policy::scan`].
    pub fn blocks(&self, text: &str, scope: Scope) -> Vec<FindingId> {
        let hits = scan::hits(text, scope).into_iter().map(|hit| hit.id);
        hits.filter(|id| self.treatment(*id, scope) == Treatment::Block).collect()
    }
}
