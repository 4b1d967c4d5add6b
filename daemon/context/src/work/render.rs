//! The state as text for a handoff: as much of what is needed as fits.
//!
//! What is needed are exact values, each with a weight. Of all that could be told, a field or a name, that
//! is taken next which adds most weight for its length; what was said already adds nothing. That is the
//! greedy way to a cover of the most weight within a budget, which is never far from the best one.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use hashbrown::{HashMap, HashSet};

use super::entity::{Attribute, Entity, NONE, UNTOLD, has_name};
use super::value::{value, values};
use super::{Known, WorkState};

/// What stands before what is only named.
pub(super) const NAMED: &str = "Also named: ";
/// Chars of an older value that is shown.
const WAS_CHARS: usize = 40;
/// What a field is worth that has nothing exact in it.
const PLAIN: f64 = 0.02;
/// Chars of such a field that is shown.
const PLAIN_CHARS: usize = 60;
/// What it is worth to say that a field has another value now.
const CHANGED: f64 = 0.5;
/// What an exact value is worth that is not counted by itself.
const UNKNOWN: f64 = 0.1;
/// Things that are looked at.
const MOST: usize = 800;

/// All that could be told of a state.
pub(crate) struct Outline<'a> {
    /// What things there are, the best first.
    ranked: Vec<&'a Entity>,
    parts: Vec<Part<'a>>,
    /// What each exact value is worth.
    weights: HashMap<&'a str, f64>,
}

impl<'a> Outline<'a> {
    pub(crate) fn of(state: &'a WorkState) -> Self {
        let scored = state.scored();
        let weights = scored.iter().map(|(score, entity)| (entity.id.as_str(), *score)).collect();
        let all = scored.into_iter().map(|(_, entity)| entity);
        let ranked: Vec<&Entity> =
            all.filter(|entity| has_name(&entity.kind) || entity.kind == "date").take(MOST).collect();
        Self { parts: parts(&ranked), ranked, weights }
    }

    /// Chars that all of it would take at the most.
    pub(crate) fn chars(&self) -> usize {
        let told = self.parts.iter().filter_map(|part| part.field.as_ref().map(|(_, text)| text.chars().count() + 2));
        let named = self.ranked.iter().map(|entity| entity.kind.chars().count() + entity.id.chars().count() + 4);
        told.chain(named).sum()
    }

    /// Chars that fields would take, and the names that calls were given: what is only named somewhere may be needed,
    /// these are.
    pub(crate) fn needed_chars(&self) -> usize {
        let told = self.parts.iter().filter_map(|part| part.field.as_ref().map(|(_, text)| text.chars().count() + 2));
        let given = self.ranked.iter().filter(|entity| entity.given > 0);
        told.chain(given.map(|entity| entity.kind.chars().count() + entity.id.chars().count() + 4)).sum()
    }

    /// Takes the best that fits and does not stand elsewhere already.
    pub(crate) fn render(&self, chars: usize, elsewhere: &[&Known]) -> String {
        let mut choice = Choice {
            outline: self,
            left: chars.saturating_sub(NAMED.len()),
            elsewhere,
            said: HashSet::new(),
            in_fields: HashSet::new(),
            kinds: HashSet::new(),
            told: vec![Told::Not; self.ranked.len()],
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
            // The other fields of a thing cost less once it has its line.
            let others = (0..).zip(&self.parts).skip(part.first).take_while(|(_, other)| other.of == part.of);
            heap.extend(others.filter(|(_, other)| other.field.is_some()).map(|(at, other)| choice.next(at, other)));
        }
        choice.text()
    }
}

/// Something that can be told: the name of a thing, or one field of it.
struct Part<'a> {
    /// The place of the thing.
    of: usize,
    /// The place of its first part.
    first: usize,
    /// The place of the field, and how it is told; none for the name alone.
    field: Option<(usize, String)>,
    /// The field had another value before.
    has_changed: bool,
    /// Exact values in it.
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
                UNTOLD => false,
                // That something is no more is news only where it was there.
                NONE => attribute.was.is_some(),
                value => !values.is_empty() || value.chars().count() <= PLAIN_CHARS,
            };
            // What is read back must not be taken apart at another place.
            if is_told && !entity.id.contains(": ") {
                let has_changed = attribute.was.is_some();
                parts.push(Part { of, first, field: Some((at, told_of(attribute))), has_changed, values });
            }
        }
    }
    parts
}

fn told_of(attribute: &Attribute) -> String {
    let (name, value) = (&attribute.name, &attribute.value);
    match &attribute.was {
        Some(was) if was.chars().count() <= WAS_CHARS => format!("{name} {value} (was {was})"),
        _ => format!("{name} {value}"),
    }
}

/// How a thing is told so far.
#[derive(Clone, PartialEq, Eq)]
enum Told {
    Not,
    Named,
    /// With these fields.
    Line(Vec<(usize, String)>),
}

struct Choice<'a> {
    outline: &'a Outline<'a>,
    left: usize,
    elsewhere: &'a [&'a Known],
    said: HashSet<&'a str>,
    /// What of it fields said.
    in_fields: HashSet<&'a str>,
    /// Kinds of which something is only named.
    kinds: HashSet<&'a str>,
    told: Vec<Told>,
}

impl<'a> Choice<'a> {
    fn entity(&self, part: &Part<'_>) -> Option<&'a Entity> {
        self.outline.ranked.get(part.of).copied()
    }

    /// What a part would add now for each of its chars.
    fn next(&self, at: usize, part: &Part<'a>) -> Next {
        let cost = self.cost(part);
        if cost > self.left {
            return Next { part: at, ratio: 0.0 };
        }
        let name = self.entity(part).map(|entity| entity.id.as_str());
        let is_new = |value: &&str| !self.said.contains(value) && !self.elsewhere.iter().any(|known| known.has(value));
        let mut new: Vec<&str> = part.values.iter().copied().chain(name).filter(is_new).collect();
        new.sort_unstable();
        new.dedup();
        let weight = |value: &&str| self.outline.weights.get(value).copied().unwrap_or(UNKNOWN);
        let exact: f64 = new.iter().map(weight).sum();
        let is_elsewhere = name.is_some_and(|name| self.elsewhere.iter().any(|known| known.has(name)));
        let plain = match part.field {
            Some(_) if part.has_changed => CHANGED,
            Some(_) if !is_elsewhere => PLAIN,
            _ => 0.0,
        };
        #[expect(clippy::cast_precision_loss, reason = "a length")]
        let ratio = (exact + plain) / cost.max(1) as f64;
        Next { part: at, ratio }
    }

    /// Chars that it would take.
    fn cost(&self, part: &Part<'_>) -> usize {
        let Some(entity) = self.entity(part) else { return usize::MAX };
        let name = entity.id.chars().count();
        let kind = entity.kind.chars().count();
        match (&part.field, self.told.get(part.of)) {
            (None, Some(Told::Not)) if can_be_listed(entity) => {
                if self.kinds.contains(entity.kind.as_str()) {
                    name + ", ".len()
                } else {
                    name + kind + ": ; ".len()
                }
            }
            (Some((_, text)), Some(Told::Not | Told::Named)) => kind + 1 + name + ": \n".len() + text.chars().count(),
            (Some((at, _)), Some(Told::Line(fields))) if fields.iter().any(|(told, _)| told == at) => usize::MAX,
            (Some((_, text)), Some(Told::Line(_))) => text.chars().count() + "; ".len(),
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
        let Some(told) = self.told.get_mut(part.of) else { return };
        match (&part.field, &mut *told) {
            (None, _) => {
                *told = Told::Named;
                self.kinds.insert(&entity.kind);
            }
            (Some(field), Told::Line(fields)) => fields.push(field.clone()),
            (Some(field), _) => *told = Told::Line(vec![field.clone()]),
        }
    }

    fn text(self) -> String {
        let mut lines = Vec::new();
        let mut kinds: Vec<(&str, Vec<&str>)> = Vec::new();
        for (told, entity) in self.told.into_iter().zip(&self.outline.ranked) {
            match told {
                Told::Not => {}
                Told::Named if self.in_fields.contains(entity.id.as_str()) => {}
                Told::Line(mut fields) => {
                    fields.sort_by_key(|(at, _)| *at);
                    let fields: Vec<String> = fields.into_iter().map(|(_, text)| text).collect();
                    lines.push(format!("{} {}: {}", entity.kind, entity.id, fields.join("; ")));
                }
                Told::Named => match kinds.iter_mut().find(|(kind, _)| *kind == entity.kind) {
                    Some((_, names)) => names.push(&entity.id),
                    None => kinds.push((&entity.kind, vec![&entity.id])),
                },
            }
        }
        if !kinds.is_empty() {
            let named: Vec<String> = kinds.iter().map(|(kind, ids)| format!("{kind}: {}", ids.join(", "))).collect();
            lines.push(format!("{NAMED}{}", named.join("; ")));
        }
        lines.join("\n")
    }
}

/// A name among others must not look like several, and without its fields it must be exact.
fn can_be_listed(entity: &Entity) -> bool {
    !entity.id.contains([',', ';']) && value(&entity.id).is_some()
}

/// A part in the order in which parts are tried.
#[derive(PartialEq)]
struct Next {
    part: usize,
    ratio: f64,
}

impl Eq for Next {}

impl Ord for Next {
    /// The greatest ratio first, then what is ranked first.
    fn cmp(&self, other: &Self) -> Ordering {
        self.ratio.total_cmp(&other.ratio).then(other.part.cmp(&self.part))
    }
}

impl PartialOrd for Next {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
