//! Parses the state in an earlier handoff.

use super::WorkState;
use super::entity::Attribute;
use super::render::{NAMED, USED};

/// The count of occurrences for an entity from an earlier handoff. It was chosen there already, and new names that
/// were seen once should not replace it.
const CARRIED: u32 = 8;
/// The count of calls for such an entity, if calls were given it.
const CARRIED_GIVEN: u32 = 1;

/// Parses a section.
pub(crate) fn parse(text: &str) -> WorkState {
    let mut state = WorkState::default();
    for line in text.lines().map(str::trim) {
        let listed = line.strip_prefix(USED).map(|kinds| (kinds, CARRIED_GIVEN));
        match listed.or_else(|| line.strip_prefix(NAMED).map(|kinds| (kinds, 0))) {
            Some((kinds, given)) => kinds.split("; ").for_each(|kind| {
                let Some((kind, ids)) = kind.split_once(": ") else { return };
                ids.split(", ").for_each(|id| add(&mut state, kind, id, given, Vec::new()));
            }),
            None => {
                let (named, described) = line.split_once(": ").unwrap_or((line, ""));
                let Some((kind, id)) = named.split_once(' ') else { continue };
                let attributes = described.split("; ").filter_map(attribute).collect();
                add(&mut state, kind, id, 0, attributes);
            }
        }
    }
    state
}

fn add(state: &mut WorkState, kind: &str, id: &str, given: u32, attributes: Vec<Attribute>) {
    let (kind, id) = (kind.trim(), id.trim());
    if kind.is_empty() || id.is_empty() {
        return;
    }
    let Some(entity) = state.entity(id, kind) else { return };
    entity.said = CARRIED;
    entity.given = given;
    attributes.into_iter().for_each(|attribute| entity.say_older(attribute));
}

fn attribute(text: &str) -> Option<Attribute> {
    let (name, described) = text.split_once(' ')?;
    let (value, was) = match described.strip_suffix(')').and_then(|described| described.rsplit_once(" (was ")) {
        Some((value, was)) => (value, Some(was.to_owned())),
        None => (described, None),
    };
    Some(Attribute { was, ..Attribute::of(name, value, 0) })
}
