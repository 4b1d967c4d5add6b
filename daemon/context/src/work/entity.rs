//! What the state of the work is made of.

use super::value::ValueKind;

/// Something that the work is about, known by an exact name: an order, a person, a file, a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// What it is, in the words of those who named it: `reservation`, `file`, `command`.
    pub kind: String,
    /// Its exact name.
    pub id: String,
    /// What is known of it, in the order in which it was said; the newest value of each.
    pub attributes: Vec<Attribute>,
    /// The position of the message that last named it.
    pub last: u64,
    /// How often a call was given it.
    pub given: u32,
    /// How often people, the model or results named it otherwise.
    pub said: u32,
}

/// One thing that is known of an entity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attribute {
    /// As those who said it call it.
    pub name: String,
    /// Its newest value, on one line.
    pub value: String,
    /// The position of the message that says so.
    pub at: u64,
    /// What it was before.
    pub was: Option<String>,
    /// Another value may only mean that something else was asked, as in the rows of a search.
    pub(super) is_row: bool,
}

impl Attribute {
    /// What a message says.
    pub(super) fn of(name: &str, value: &str, at: u64) -> Self {
        // In a line of a handoff a semicolon ends a field.
        Self { name: plain_name(name), value: value.replace(';', ","), at, ..Self::default() }
    }

    /// The same of a row.
    pub(super) fn of_row(name: &str, value: &str, at: u64) -> Self {
        Self { is_row: true, ..Self::of(name, value, at) }
    }
}

/// What stands for a value that is no more.
pub(super) const NONE: &str = "none";
/// What stands for a value that is too long to be told.
pub(super) const UNTOLD: &str = "";
/// Chars of the longest name of a field or kind.
const NAME_CHARS: usize = 40;

/// A name of a field or kind as one word: what comes from a key of JSON may be any text.
pub(super) fn plain_name(name: &str) -> String {
    let plain = |char: char| if char.is_alphanumeric() || "_-.".contains(char) { char } else { '_' };
    name.trim().chars().take(NAME_CHARS).map(plain).collect()
}

/// Attributes that are kept of one entity.
const MOST_ATTRIBUTES: usize = 32;

impl Entity {
    /// Whether it is a thing by itself; a date and a number say nothing without what they are of.
    #[must_use]
    pub fn has_name(&self) -> bool {
        has_name(&self.kind)
    }

    /// Says something of it that is older than all that is known of it.
    pub(super) fn say_older(&mut self, older: Attribute) {
        let has_room = self.attributes.len() < MOST_ATTRIBUTES;
        match self.attributes.iter_mut().find(|known| known.name == older.name) {
            Some(known) if known.was.is_some() || known.is_row || older.is_row => {}
            Some(known) if known.value == older.value => known.was = older.was,
            Some(known) if older.value != UNTOLD => known.was = Some(older.value),
            Some(_) => {}
            None if has_room => self.attributes.push(older),
            None => {}
        }
    }

    /// Adds what was known of it before.
    pub(super) fn append(&mut self, older: Self) {
        self.last = self.last.max(older.last);
        self.given = self.given.saturating_add(older.given);
        self.said = self.said.saturating_add(older.said);
        if is_vague(&self.kind) && !is_vague(&older.kind) {
            self.kind = older.kind;
        }
        older.attributes.into_iter().for_each(|attribute| self.say_older(attribute));
    }
}

/// What values of a kind are called where nobody says what they are.
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

/// Whether things of a kind are told of; a date and a number say nothing by themselves.
pub(super) fn has_name(kind: &str) -> bool {
    !matches!(kind, "number" | "date")
}

/// Whether a kind only says how the name is written.
pub(super) fn is_vague(kind: &str) -> bool {
    matches!(kind, "" | "id" | "name" | "number" | "date" | "item" | "email" | "link")
}
