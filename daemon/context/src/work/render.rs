//! Renders the state as text for a handoff, as much as fits.
//!
//! The useful content are exact values, each with a weight. The candidates are fields and names. The next one
//! is always the one that adds the most weight for its length; values that are already in the text add
//! nothing. This is the greedy approximation of the maximum weight cover under a budget, which is never far
//! from the best one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use super::entity::{Attribute, Entity, NONE, TOO_LONG, has_name};
use super::value::{value, values};
use super::{Known, WorkState};

/// The text before entities that are only named, and were given to calls.
pub(super) const USED: &str = "Also used: ";
/// The text before other entities that are only named.
pub(super) const NAMED: &str = "Also named: ";
/// The most chars of an older value.
const WAS_CHARS: usize = 40;
/// The weight of a field without an exact value.
const PLAIN: f64 = 0.02;
/// The most chars of such a field.
const PLAIN_CHARS: usize = 60;
/// The weight of a changed value.
const CHANGED: f64 = 0.5;
/// The weight of an exact value that is not an entity.
const UNKNOWN: f64 = 0.1;
/// The most entities that are considered.
const MOST: usize = 2_400;

/// All candidates of a state.
pub(crate) struct Outline<'a> {
    /// The entities, the best first.
    ranked: Vec<&'a Entity>,
    parts: Vec<Part<'a>>,
    /// The weight of each exact value.
    weights: HashMap<&'a str, f64>,
}

impl<'a> Outline<'a> {
    pub(crate) fn of(state: &'a WorkState) -> Self {
        let scored = state.scored();
        let weights = scored.iter().map(|(score, entity)| (entity.id.as_str(), *score)).collect();
        let all = scored.into_iter().map(|(_, entity)| entity);
        let is_shown = |entity: &&Entity| has_name(&entity.kind) || entity.kind == "date" || entity.given > 0;
        let ranked: Vec<&Entity> = all.filter(is_shown).take(MOST).collect();
        Self { parts: parts(&ranked), ranked, weights }
    }

    /// Returns the most chars that all of it would need.
    pub(crate) fn chars(&self) -> usize {
        let renderings =
            self.parts.iter().filter_map(|part| part.field.as_ref().map(|(_, text)| text.chars().count() + 2));
        let named = self.ranked.iter().map(|entity| entity.kind.chars().count() + entity.id.chars().count() + 4);
        renderings.chain(named).sum()
    }

    /// Returns the chars for all fields, and for the names in the arguments of calls. Other names may be
    /// needed, these are.
    pub(crate) fn needed_chars(&self) -> usize {
        let renderings =
            self.parts.iter().filter_map(|part| part.field.as_ref().map(|(_, text)| text.chars().count() + 2));
        let given = self.ranked.iter().filter(|entity| entity.given > 0);
        renderings.chain(given.map(|entity| entity.kind.chars().count() + entity.id.chars().count() + 4)).sum()
    }

    /// Renders the best parts that fit and are not already elsewhere.
    pub(crate) fn render(&self, chars: usize, known: &[&Known]) -> String {
        let mut choice = Choice {
            outline: self,
            left: chars,
            known,
            said: HashSet::new(),
            in_fields: HashSet::new(),
            kinds: HashSet::new(),
            renderings: vec![Rendering::Not; self.ranked.len()],
        };
        let mut heap: BinaryHeap<Next> = (0..).zip(&self.parts).map(|(at, part)| choice.next(at, part)).collect();
        while let Some(next) = heap.pop().filter(|next| next.ratio > 0.0) {
            let Some(part) = self.parts.get(next.part) else { continue };
            let again = choice.next(next.part, part);
            if again.ratio < next.ratio {
                heap.push(again);
                continue;
            }
            choice.take(part);
            // The other fields of an entity cost less once it has its line.
            let others = (0..).zip(&self.parts).skip(part.first).take_while(|(_, other)| other.of == part.of);
            heap.extend(others.filter(|(_, other)| other.field.is_some()).map(|(at, other)| choice.next(at, other)));
        }
        choice.text()
    }
}

/// A candidate: the name of an entity, or one field of it.
struct Part<'a> {
    /// The index of the entity.
    of: usize,
    /// The index of its first part.
    first: usize,
    /// The index of the field and its text; `None` for the name alone.
    field: Option<(usize, String)>,
    /// Whether the field had another value before.
    has_changed: bool,
    /// The exact values in it.
    values: Vec<&'a str>,
}

fn parts<'a>(ranked: &[&'a Entity]) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    for (of, entity) in ranked.iter().copied().enumerate() {
        let first = parts.len();
        parts.push(Part { of, first, field: None, has_changed: false, values: vec![&entity.id] });
        for (at, attribute) in entity.attributes.iter().enumerate() {
            let values: Vec<&str> = values(&attribute.value).map(|value| value.text).collect();
            let is_told = match attribute.value.as_str() {
                TOO_LONG => false,
                // An empty value is only news if there was a value before.
                NONE => attribute.was.is_some(),
                value => !values.is_empty() || value.chars().count() <= PLAIN_CHARS,
            };
            // The parser would split the line at the wrong place.
            if is_told && !entity.id.contains(": ") {
                let has_changed = attribute.was.is_some();
                parts.push(Part { of, first, field: Some((at, field_text(attribute))), has_changed, values });
            }
        }
    }
    parts
}

fn field_text(attribute: &Attribute) -> String {
    let (name, value) = (&attribute.name, &attribute.value);
    match &attribute.was {
        Some(was) if was.chars().count() <= WAS_CHARS => format!("{name} {value} (was {was})"),
        _ => format!("{name} {value}"),
    }
}

/// How an entity is shown so far.
#[derive(Clone, PartialEq, Eq)]
enum Rendering {
    Not,
    Named,
    /// With a line of these fields.
    Line(Vec<(usize, String)>),
}

struct Choice<'a> {
    outline: &'a Outline<'a>,
    left: usize,
    known: &'a [&'a Known],
    said: HashSet<&'a str>,
    /// The values that fields contain.
    in_fields: HashSet<&'a str>,
    /// Kinds with entities that are only named, each with whether calls were given them.
    kinds: HashSet<(bool, &'a str)>,
    renderings: Vec<Rendering>,
}

impl<'a> Choice<'a> {
    fn entity(&self, part: &Part<'_>) -> Option<&'a Entity> {
        self.outline.ranked.get(part.of).copied()
    }

    /// Returns what a part would now add for each of its chars.
    fn next(&self, at: usize, part: &Part<'a>) -> Next {
        let cost = self.cost(part);
        if cost > self.left {
            return Next { part: at, ratio: 0.0 };
        }
        let name = self.entity(part).map(|entity| entity.id.as_str());
        let is_new = |value: &&str| !self.said.contains(value) && !self.known.iter().any(|known| known.has(value));
        let mut new: Vec<&str> = part.values.iter().copied().chain(name).filter(is_new).collect();
        new.sort_unstable();
        new.dedup();
        let weight = |value: &&str| self.outline.weights.get(value).copied().unwrap_or(UNKNOWN);
        let exact: f64 = new.iter().map(weight).sum();
        let is_known = name.is_some_and(|name| self.known.iter().any(|known| known.has(name)));
        let plain = match part.field {
            Some(_) if part.has_changed => CHANGED,
            Some(_) if !is_known => PLAIN,
            _ => 0.0,
        };
        #[expect(clippy::cast_precision_loss, reason = "a length")]
        let ratio = (exact + plain) / cost.max(1) as f64;
        Next { part: at, ratio }
    }

    /// Returns the chars that it would need.
    fn cost(&self, part: &Part<'_>) -> usize {
        let Some(entity) = self.entity(part) else { return usize::MAX };
        let name = entity.id.chars().count();
        let kind = entity.kind.chars().count();
        match (&part.field, self.renderings.get(part.of)) {
            (None, Some(Rendering::Not)) if can_be_listed(entity) => {
                let is_used = entity.given > 0;
                let words = if is_used { USED } else { NAMED };
                if self.kinds.contains(&(is_used, entity.kind.as_str())) {
                    name + ", ".len()
                } else if self.kinds.iter().any(|(of_used, _)| *of_used == is_used) {
                    name + kind + ": ; ".len()
                } else {
                    words.len() + name + kind + ": \n".len()
                }
            }
            (Some((_, text)), Some(Rendering::Not | Rendering::Named)) => {
                kind + 1 + name + ": \n".len() + text.chars().count()
            }
            (Some((at, _)), Some(Rendering::Line(fields))) if fields.iter().any(|(field, _)| field == at) => usize::MAX,
            (Some((_, text)), Some(Rendering::Line(_))) => text.chars().count() + "; ".len(),
            _ => usize::MAX,
        }
    }

    fn take(&mut self, part: &Part<'a>) {
        self.left = self.left.saturating_sub(self.cost(part));
        let Some(entity) = self.entity(part) else { return };
        self.said.insert(&entity.id);
        self.said.extend(&part.values);
        if part.field.is_some() {
            self.in_fields.extend(&part.values);
        }
        let Some(rendering) = self.renderings.get_mut(part.of) else { return };
        match (&part.field, &mut *rendering) {
            (None, _) => {
                *rendering = Rendering::Named;
                self.kinds.insert((entity.given > 0, &entity.kind));
            }
            (Some(field), Rendering::Line(fields)) => fields.push(field.clone()),
            (Some(field), _) => *rendering = Rendering::Line(vec![field.clone()]),
        }
    }

    fn text(self) -> String {
        let mut lines = Vec::new();
        // The names of each kind, those that calls were given apart from the others.
        let mut kinds: Vec<((bool, &str), Vec<&str>)> = Vec::new();
        for (rendering, entity) in self.renderings.into_iter().zip(&self.outline.ranked) {
            match rendering {
                Rendering::Not => {}
                Rendering::Named if self.in_fields.contains(entity.id.as_str()) => {}
                Rendering::Line(mut fields) => {
                    fields.sort_by_key(|(at, _)| *at);
                    let fields: Vec<String> = fields.into_iter().map(|(_, text)| text).collect();
                    lines.push(format!("{} {}: {}", entity.kind, entity.id, fields.join("; ")));
                }
                Rendering::Named => {
                    let of = (entity.given > 0, entity.kind.as_str());
                    match kinds.iter_mut().find(|(kind, _)| *kind == of) {
                        Some((_, names)) => names.push(&entity.id),
                        None => kinds.push((of, vec![&entity.id])),
                    }
                }
            }
        }
        for (is_used, words) in [(true, USED), (false, NAMED)] {
            let of_words = kinds.iter().filter(|((used, _), _)| *used == is_used);
            let named: Vec<String> =
                of_words.map(|((_, kind), names)| format!("{kind}: {}", names.join(", "))).collect();
            if !named.is_empty() {
                lines.push(format!("{words}{}", named.join("; ")));
            }
        }
        lines.join("\n")
    }
}

/// Whether a name can be in the list of names: it must not look like several, and must be an exact value.
fn can_be_listed(entity: &Entity) -> bool {
    !entity.id.contains([',', ';']) && value(&entity.id).is_some()
}

/// A part in the queue of candidates.
#[derive(PartialEq)]
struct Next {
    part: usize,
    ratio: f64,
}

impl Eq for Next {}

impl Ord for Next {
    /// Orders by ratio, greatest first, then by rank.
    fn cmp(&self, other: &Self) -> Ordering {
        self.ratio.total_cmp(&other.ratio).then(other.part.cmp(&self.part))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
