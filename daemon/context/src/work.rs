//! The state of the work: what a conversation is about, by exact names, with what is known of it.
//!
//! It is read from what calls were given and what they gave, and from what people and the model said:
//! orders, people, files, tests and whatever else has a name. Nothing is understood, only read, counted
//! and ranked: of two values of one field the newest counts, the one before is marked; what later
//! calls were given, and what is named often and lately, comes first.

mod entity;
mod object;
mod parse;
mod places;
mod rank;
mod read;
mod render;
mod tests;
mod value;

use std::collections::{HashMap, HashSet};

pub use entity::{Attribute, Entity};
pub(crate) use object::fields;
pub(crate) use parse::parse;
pub(crate) use render::Outline;
pub(crate) use value::values;

use crate::message::Message;

/// Entities that are kept at most.
const MOST_ENTITIES: usize = 4_000;

/// The state of the work.
#[derive(Clone, Debug, Default)]
pub struct WorkState {
    entities: Vec<Entity>,
    places: HashMap<String, usize>,
    /// Messages that were read.
    messages: u64,
}

impl WorkState {
    /// What these messages say, and what was known before them.
    #[must_use]
    pub fn read(turns: &[Message], earlier: Self) -> Self {
        let mut state = read::read(turns, earlier.messages);
        state.append(earlier);
        state.bound();
        state
    }

    /// All that is known, in no order.
    #[must_use]
    pub fn entities(&self) -> &[Entity] {
        &self.entities
    }

    /// Things with a name, what is needed most first; a date and a number alone are none.
    #[must_use]
    pub fn ranked(&self) -> Vec<&Entity> {
        Outline::of(self).ranked()
    }

    /// The entity of this name.
    fn entity(&mut self, id: &str, new: impl FnOnce() -> Entity) -> &mut Entity {
        let at = match self.places.get(id) {
            Some(at) => *at,
            None => {
                self.places.insert(id.to_owned(), self.entities.len());
                self.entities.push(new());
                self.entities.len() - 1
            }
        };
        &mut self.entities[at]
    }

    /// Adds what was known before.
    fn append(&mut self, older: Self) {
        self.messages = self.messages.max(older.messages);
        for entity in older.entities {
            match self.places.get(&entity.id) {
                Some(at) => self.entities[*at].append(entity),
                None => {
                    self.places.insert(entity.id.clone(), self.entities.len());
                    self.entities.push(entity);
                }
            }
        }
    }

    /// Keeps the best.
    fn bound(&mut self) {
        if self.entities.len() <= MOST_ENTITIES {
            return;
        }
        let messages = self.messages;
        let score = |entity: &Entity| rank::score(entity, messages);
        self.entities.sort_by(|one, other| rank::order((score(one), one), (score(other), other)));
        self.entities.truncate(MOST_ENTITIES);
        self.places = self.entities.iter().enumerate().map(|(at, entity)| (entity.id.clone(), at)).collect();
    }
}

impl PartialEq for WorkState {
    fn eq(&self, other: &Self) -> bool {
        self.entities == other.entities && self.messages == other.messages
    }
}

/// The values that stand in texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known(HashSet<String>);

impl Known {
    /// Those of messages.
    pub(crate) fn of<'a>(messages: impl Iterator<Item = &'a Message>) -> Self {
        let mut known = Self::default();
        for message in messages {
            known.add(&message.text());
            message.tool_calls().iter().for_each(|call| known.add(&message.arguments(call)));
        }
        known
    }

    /// Adds those of a text.
    pub(crate) fn add(&mut self, text: &str) {
        for value in values(text) {
            if !self.0.contains(value.text) {
                self.0.insert(value.text.to_owned());
            }
        }
    }

    /// Whether a name stands there.
    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

#[cfg(test)]
mod checks;
