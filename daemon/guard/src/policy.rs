//! What is to be done about each kind of finding.

use std::collections::BTreeMap;

use crate::{Finding, FindingId, Scope, Severity, scan};

/// What a configuration asks for where something is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Treatment {
    /// Keep the text out.
    Block,
    /// Let it in and say so.
    Warn,
    /// Do not even say so.
    Off,
}

/// The treatment of every id at every scope. By default everything blocks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Policy {
    /// What does not block; [`Treatment::Block`] is not among the values.
    exceptions: BTreeMap<(FindingId, Scope), Treatment>,
}

impl Policy {
    /// Sets the treatment of `id` in scans at exactly these scopes; the others keep theirs.
    pub fn set(&mut self, id: FindingId, scopes: &[Scope], treatment: Treatment) {
        for scope in scopes {
            match treatment {
                Treatment::Block => self.exceptions.remove(&(id, *scope)),
                Treatment::Warn | Treatment::Off => self.exceptions.insert((id, *scope), treatment),
            };
        }
    }

    /// What is to be done about `id` in a scan at `scope`.
    pub fn treatment(&self, id: FindingId, scope: Scope) -> Treatment {
        self.exceptions.get(&(id, scope)).copied().unwrap_or(Treatment::Block)
    }

    /// The findings of [`scan()`](crate::scan()), each with the severity that is set for it. What is
    /// off is left out and hides nothing.
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

    /// The ids for which `text` is to be kept out, in the order of [`Policy::scan`].
    pub fn blocks(&self, text: &str, scope: Scope) -> Vec<FindingId> {
        let hits = scan::hits(text, scope).into_iter().map(|hit| hit.id);
        hits.filter(|id| self.treatment(*id, scope) == Treatment::Block).collect()
    }
}
