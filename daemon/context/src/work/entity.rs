//! The entities of the work's state.

use super::value::ValueKind;

/// A subject of the work with an exact name: an order, a person, a file, a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// Its kind, in the words of the messages: `reservation`, `file`, `command`.
    pub kind: String,
    /// Its exact name.
    pub id: String,
    /// The known facts about it, in order; each with its newest value.
    pub attributes: Vec<Attribute>,
    /// The position of the message that last named it.
    pub last: u64,
    /// How often it occurred in the arguments of a call.
    pub given: u32,
    /// How often people, the model or results named it otherwise.
    pub said: u32,
}

/// One known fact about an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribute {
    /// The name in the messages.
    pub name: String,
    /// Its newest value, on one line.
    pub value: String,
    /// The position of the message with this value.
    pub at: u64,
    /// The earlier value.
    pub was: Option<String>,
    /// Whether it comes from a row, such as in search results. Then another value may only mean another
    /// query.
    pub(super) is_row: bool,
}

impl Attribute {
    /// Returns the attribute from a message.
    pub(super) fn of(name: &str, value: &str, at: u64) -> Self {
        // In a line of a handoff a semicolon ends a field.
        Self { name: plain_name(name), value: value.replace(';', ","), at, ..Self::default() }
    }

    /// Returns the attribute from a row.
    pub(super) fn of_row(name: &str, value: &str, at: u64) -> Self {
        Self { is_row: true, ..Self::of(name, value, at) }
    }
}

/// The value of a field that became empty.
pub(super) const NONE: &str = "none";
/// The value of a field that is too long to show.
pub(super) const TOO_LONG: &str = "";
/// Chars of the longest name of a field or kind.
const NAME_CHARS: usize = 40;

/// Returns a name of a field or kind as one word, because a JSON key may be any text.
pub(super) fn plain_name(name: &str) -> String {
    let plain = |char: char| if char.is_alphanumeric() || "_-.".contains(char) { char } else { '_' };
    name.trim().chars().take(NAME_CHARS).map(plain).collect()
}

/// The most attributes of one entity.
const MOST_ATTRIBUTES: usize = 32;

impl Entity {
    /// Whether it is meaningful by itself; a date and a number are not without their subject.
    #[must_use]
    pub fn has_name(&self) -> bool {
        has_name(&self.kind)
    }

    /// Adds an attribute that is older than all known ones.
    pub(super) fn say_older(&mut self, older: Attribute) {
        let has_room = self.attributes.len() < MOST_ATTRIBUTES;
        match self.attributes.iter_mut().find(|known| known.name == older.name) {
            Some(known) if known.was.is_some() || known.is_row || older.is_row => {}
            Some(known) if known.value == older.value => known.was = older.was,
            Some(known) if older.value != TOO_LONG => known.was = Some(older.value),
            Some(_) => {}
            None if has_room => self.attributes.push(older),
            None => {}
        }
    }

    /// Adds the facts from before.
    pub(super) fn append(&mut self, older: Self) {
        self.last = self.last.max(older.last);
        self.given = self.given.saturating_add(older.given);
        self.said = self.said.saturating_add(older.said);
        if vagueness(&self.kind) > vagueness(&older.kind) {
            self.kind = older.kind;
        }
        older.attributes.into_iter().for_each(|attribute| self.say_older(attribute));
    }
}

/// Returns the name of a value kind for an entity whose kind is unknown.
pub(super) const fn noun(kind: ValueKind) -> &'static str {
    match kind {
        ValueKind::Link => "link",
        ValueKind::Email => "email",
        ValueKind::Path => "file",
        ValueKind::Name => "name",
        ValueKind::Id => "id",
        ValueKind::Date => "date",
        ValueKind::Number => "number",
    }
}

/// Whether entities of a kind mean something by themselves; a date and a number do not.
pub(super) fn has_name(kind: &str) -> bool {
    !matches!(kind, "number" | "date")
}

/// Returns how little a kind says: of two kinds of one name the one that says more counts.
pub(super) fn vagueness(kind: &str) -> u8 {
    match kind {
        "" | "number" | "date" => 2,
        _ => u8::from(is_vague(kind)),
    }
}

/// Whether a kind only describes how the name is written.
pub(super) fn is_vague(kind: &str) -> bool {
    matches!(kind, "" | "id" | "name" | "number" | "date" | "item" | "email" | "link")
}
