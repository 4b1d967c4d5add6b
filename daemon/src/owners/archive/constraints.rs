//! The rules that users gave their sessions.

use herma_archive::constraint::ConstraintRow;

use super::ArchiveHandle;
use crate::data::error::Outcome;

/// The stored state of a rule that is in force.
pub(crate) const ACTIVE: &str = "active";

/// The stored state of a rule that a person removed.
pub(crate) const REMOVED: &str = "removed";

/// The result of adding a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Added {
    /// The rule is in force.
    Kept,
    /// The session has too many other rules in force.
    TooMany,
}

impl ArchiveHandle {
    /// Returns all rules that a session ever had; none without an archive.
    pub(crate) async fn constraints(&self, session: String) -> Outcome<Vec<ConstraintRow>> {
        if !self.is_in_use() {
            return Ok(Vec::new());
        }
        self.read(move |reader| reader.constraints(&session)).await
    }

    /// Puts a rule in force, unless `most` others already are. A rule that is already in force keeps its age.
    pub(crate) async fn add_constraint(&self, session: String, rule: ConstraintRow, most: usize) -> Outcome<Added> {
        self.write(move |archive| {
            let known = archive.reader().constraints(&session)?;
            let mut active = known.iter().filter(|other| other.state == ACTIVE);
            let before = active.clone().find(|other| other.id == rule.id);
            if active.by_ref().filter(|other| other.id != rule.id).count() >= most {
                return Ok(Added::TooMany);
            }
            let at = before.map_or(rule.at, |before| before.at);
            archive.save_constraint(&session, &ConstraintRow { at, ..rule })?;
            Ok(Added::Kept)
        })
        .await
    }

    /// Removes a rule. Returns false if it is not in force.
    pub(crate) async fn remove_constraint(&self, session: String, id: String) -> Outcome<bool> {
        self.write(move |archive| {
            let mut known = archive.reader().constraints(&session)?.into_iter();
            let Some(rule) = known.find(|rule| rule.state == ACTIVE && rule.id == id) else { return Ok(false) };
            archive.save_constraint(&session, &ConstraintRow { state: REMOVED.to_owned(), ..rule })?;
            Ok(true)
        })
        .await
    }
}
