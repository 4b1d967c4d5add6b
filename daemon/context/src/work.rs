//! The state of the work: the subjects of a conversation, as exact names, with the known facts about them.
//!
//! It is read from the arguments and results of calls, and from the texts of people and the model: orders,
//! people, files, tests and everything else with a name. The text is not interpreted, only read, counted and
//! ranked. Of two values of one field the newest counts, and the value before it is recorded. Names in the
//! arguments of later calls, and names used often and recently, come first.

mod digits;
mod entity;
mod object;
mod parse;
mod places;
mod rank;
mod read;
mod render;
mod tests;
mod value;

use std::cmp::Ordering;
use std::hash::BuildHasher;

use hashbrown::{DefaultHashBuilder, HashSet, HashTable};

pub use entity::{Attribute, Entity};
pub(crate) use object::fields;
pub(crate) use parse::parse;
pub(crate) use read::leaves;
pub(crate) use render::Outline;
pub(crate) use value::{ValueKind, values};

use crate::message::Message;

/// The most entities that are kept.
const MOST_ENTITIES: usize = 4_000;

/// The most entities that are read from some successive messages, the newest first.
const MOST_READ: usize = 2 * MOST_ENTITIES;

/// The state of the work.
#[derive(Clone, Debug, Default)]
pub struct WorkState {
    entities: Vec<Entity>,
    /// The indexes of the entities, by the hashes of their names.
    places: HashTable<usize>,
    hasher: DefaultHashBuilder,
    /// The number of messages read.
    messages: u64,
}

impl WorkState {
    /// Reads these messages, and adds the earlier state.
    #[must_use]
    pub fn read(turns: &[Message], earlier: Self) -> Self {
        let mut state = read::read(turns, earlier.messages);
        state.append(earlier);
        state.bound();
        state
    }

    /// Adds the earlier state to this one.
    pub(crate) fn over(mut self, earlier: Self) -> Self {
        self.append(earlier);
        self.bound();
        self
    }

    /// Returns all entities, in no order.
    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// Returns all entities, the most needed first.
    #[must_use]
    pub fn ranked(&self) -> Vec<&Entity> {
        self.scored().into_iter().map(|(_, entity)| entity).collect()
    }

    /// Returns the same with the score of each.
    fn scored(&self) -> Vec<(f64, &Entity)> {
        let mut scored: Vec<(f64, &Entity)> =
            self.entities.iter().map(|entity| (rank::score(entity, self.messages), entity)).collect();
        scored.sort_by(|one, other| rank::order(*one, *other));
        scored
    }

    /// Returns the entity with this name, which is created if needed; `None` if there are too many already.
    fn entity(&mut self, id: &str, kind: &str) -> Option<&mut Entity> {
        let at = match self.place(id, kind) {
            Some(at) => at,
            None if self.entities.len() >= MOST_READ => return None,
            None => self.insert(Entity { kind: kind.to_owned(), id: id.to_owned(), ..Entity::default() }),
        };
        let entity = self.entities.get_mut(at)?;
        if entity::vagueness(&entity.kind) > entity::vagueness(kind) {
            kind.clone_into(&mut entity.kind);
        }
        Some(entity)
    }

    /// Returns the index of an entity. A different kind makes a different entity, even with the same name. A
    /// vague kind, which only describes how the name is written, matches any kind.
    fn place(&self, id: &str, kind: &str) -> Option<usize> {
        let named = |at: &usize| self.entities.get(*at).filter(|entity| entity.id == id).map(|entity| (*at, entity));
        let all = || self.places.iter_hash(self.hasher.hash_one(id)).filter_map(named);
        let (first, known) = all().min_by_key(|(at, _)| *at)?;
        if known.kind == kind || entity::is_vague(&known.kind) || entity::is_vague(kind) {
            Some(first)
        } else {
            all().find(|(_, entity)| entity.kind == kind).map(|(at, _)| at)
        }
    }

    fn insert(&mut self, entity: Entity) -> usize {
        let at = self.entities.len();
        let hash = self.hasher.hash_one(entity.id.as_str());
        self.entities.push(entity);
        let rehash = |at: &usize| self.hasher.hash_one(self.entities.get(*at).map_or("", |entity| entity.id.as_str()));
        self.places.insert_unique(hash, at, rehash);
        at
    }

    /// Adds the entities of an older state.
    fn append(&mut self, older: Self) {
        self.messages = self.messages.max(older.messages);
        for entity in older.entities {
            match self.place(&entity.id, &entity.kind).and_then(|at| self.entities.get_mut(at)) {
                Some(known) => known.append(entity),
                None => {
                    self.insert(entity);
                }
            }
        }
    }

    /// Keeps the entities with the best scores.
    fn bound(&mut self) {
        if self.entities.len() <= MOST_ENTITIES {
            return;
        }
        let score = |at: usize, entity: &Entity| (rank::score(entity, self.messages), at);
        let mut order: Vec<(f64, usize)> =
            self.entities.iter().enumerate().map(|(at, entity)| score(at, entity)).collect();
        let named = |at: usize| self.entities.get(at);
        order.sort_by(|&(score, one), &(other_score, other)| match (named(one), named(other)) {
            (Some(one), Some(other)) => rank::order((score, one), (other_score, other)),
            _ => Ordering::Equal,
        });
        self.places.clear();
        let mut all: Vec<Option<Entity>> = std::mem::take(&mut self.entities).into_iter().map(Some).collect();
        for (_, at) in order.into_iter().take(MOST_ENTITIES) {
            if let Some(entity) = all.get_mut(at).and_then(Option::take) {
                self.insert(entity);
            }
        }
    }
}

impl PartialEq for WorkState {
    fn eq(&self, other: &Self) -> bool {
        self.entities == other.entities && self.messages == other.messages
    }
}

/// The values in some texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(HashSet<String>);

impl Known {
    /// Returns the values in messages.
    pub(crate) fn of<'a>(messages: impl Iterator<Item = &'a Message>) -> Self {
        let mut known = Self::default();
        for message in messages {
            known.add(&message.text());
            message.tool_calls().iter().for_each(|call| known.add(&message.arguments(call)));
        }
        known
    }

    /// Adds the values in a text.
    pub(crate) fn add(&mut self, text: &str) {
        for value in values(text) {
            if !self.0.contains(value.text) {
                self.0.insert(value.text.to_owned());
            }
        }
    }

    /// Whether a name is among the values.
    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

#[cfg(test)]
mod checks;
