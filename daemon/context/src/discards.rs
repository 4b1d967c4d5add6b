//! Tool outputs that the agent no longer needs: the next compression replaces each with one line.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::fingerprint::Fingerprint;
use crate::message::{Message, Role};
use crate::parallel::FEW_MESSAGES;

/// The outputs of a session that its agent discarded, with the reasons.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Discards(BTreeMap<Fingerprint, Option<String>>);

impl Discards {
    /// Returns the positions of the discarded outputs of a list, in order, each with its reason.
    pub(crate) fn positions(&self, messages: &[Message]) -> Vec<(usize, Option<&str>)> {
        if self.0.is_empty() {
            return Vec::new();
        }
        let all = messages.par_iter().enumerate().with_min_len(FEW_MESSAGES);
        let found = all.filter(|(_, message)| message.is(Role::Tool)).filter_map(|(at, message)| {
            let reason = self.0.get(&Fingerprint::of(message))?;
            Some((at, reason.as_deref()))
        });
        found.collect()
    }
}

impl FromIterator<(Fingerprint, Option<String>)> for Discards {
    fn from_iter<All: IntoIterator<Item = (Fingerprint, Option<String>)>>(all: All) -> Self {
        Self(all.into_iter().collect())
    }
}
