//! The tree of keys: how a section is declared, and how a file is applied to it.

use herma_protocol::nearest::most_like;
use toml::{Table, Value};

/// Declares a section: a struct with one field per key. Each field has a default and a
/// [`Format`](super::format::Format). The first line of a field's doc is the comment next to the key in the template;
/// everything else follows from the declaration too.
macro_rules! section {
    (
        $(#[$attribute:meta])*
        pub struct $Section:ident {
            $(
                #[doc = $comment:literal]
                $(#[doc = $more:literal])*
                pub $key:ident: $Type:ty = $default:expr, $format:expr;
            )*
        }
    ) => {
        $(#[$attribute])*
        pub struct $Section {
            $(
                #[doc = $comment]
                $(#[doc = $more])*
                pub $key: $Type,
            )*
        }

        impl Default for $Section {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }

        impl $crate::data::config::key::Section for $Section {
            fn keys(&mut self) -> Vec<$crate::data::config::key::Key<'_>> {
                use $crate::data::config::key::Key;
                vec![$(Key { name: stringify!($key), comment: $comment, held: $format.bind(&mut self.$key) },)*]
            }
        }
    };
}
pub(super) use section;

/// A table of the configuration file.
pub(super) trait Section {
    /// Returns its keys in the order in which they are shown, each bound to its field.
    fn keys(&mut self) -> Vec<Key<'_>>;
}

/// A key of a section.
pub(super) struct Key<'a> {
    /// Its name in the file.
    pub name: &'static str,
    /// The comment in the template: one sentence, empty for a section that is always there.
    pub comment: &'static str,
    /// The value, section or table of the key.
    pub held: KeyValue<'a>,
}

/// The value, section or table of a key.
pub(super) enum KeyValue<'a> {
    /// One value.
    Value(Field<'a>),
    /// A section that always exists.
    Section(&'a mut dyn Section),
    /// A section that exists only if the file has it.
    Optional {
        /// The section, if the file has it.
        held: Option<Box<dyn Section>>,
        /// Its example in the template.
        example: Box<dyn Section>,
        /// Reads the whole section from the file.
        read: Read<'a>,
    },
    /// A table whose names the user chooses.
    Named {
        /// Reads the whole table from the file.
        read: Read<'a>,
        /// The number of names between the key and a value.
        depth: usize,
        /// Example lines for the template.
        example: &'static str,
    },
}

/// Reads a value from the file into a field.
type Read<'a> = Box<dyn FnOnce(&Value) -> Result<(), KeyError> + 'a>;

/// A field of a section.
pub(super) struct Field<'a> {
    /// The unit and the allowed values.
    pub range: String,
    /// The error message if the file has the section without this key; `None` if the key is not required.
    pub needed: Option<String>,
    /// The value as the file would have it; `None` for an absent value.
    pub shown: Option<Value>,
    /// Reads a value from the file into the field.
    pub read: Read<'a>,
}

/// A mistake in a configuration file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct KeyError {
    /// The path of the key, outermost name first.
    pub path: Vec<String>,
    /// The error message, to be read after the key.
    pub words: String,
}

impl KeyError {
    pub(super) fn new(words: impl Into<String>) -> Self {
        Self { path: Vec::new(), words: words.into() }
    }

    /// Puts the name of the key or table that contains the mistake in front of its path.
    pub(super) fn at(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_owned());
        self
    }

    /// Returns the whole key, with dots.
    pub(super) fn key(&self) -> String {
        self.path.iter().fold(String::new(), |path, name| join(&path, name))
    }
}

/// Applies a table of the file to the fields of a section.
pub(super) fn read(section: &mut dyn Section, said: &Value) -> Result<(), KeyError> {
    let table = table(said)?;
    let keys = section.keys();
    let names = keys.iter().map(|key| key.name);
    if let Some(unknown) = table.keys().find(|name| names.clone().all(|known| known != **name)) {
        let near = most_like(unknown, names.clone()).unwrap_or_default();
        let all = names.collect::<Vec<_>>().join(", ");
        return Err(KeyError::new(format!("is unknown; did you mean `{near}`? Known here: {all}")).at(unknown));
    }
    for Key { name, held, .. } in keys {
        let said = table.get(name);
        match (held, said) {
            (KeyValue::Section(section), Some(said)) => read(section, said),
            (
                KeyValue::Value(Field { read, .. }) | KeyValue::Optional { read, .. } | KeyValue::Named { read, .. },
                Some(said),
            ) => read(said),
            (KeyValue::Value(Field { needed: Some(words), .. }), None) => {
                Err(KeyError::new(format!("is needed, and {words}")))
            }
            (_, None) => Ok(()),
        }
        .map_err(|mistake| mistake.at(name))?;
    }
    Ok(())
}

/// Reads a table of the file as a new section.
pub(super) fn section_of<T: Section + Default>(said: &Value) -> Result<T, KeyError> {
    let mut section = T::default();
    read(&mut section, said)?;
    Ok(section)
}

/// Returns a value as a table; the error is for any other value.
pub(super) fn table(said: &Value) -> Result<&Table, KeyError> {
    said.as_table().ok_or_else(|| KeyError::new(format!("must be a table; it is {said}")))
}

/// Appends a name to a dotted path.
pub(super) fn join(path: &str, name: &str) -> String {
    let gap = if path.is_empty() { "" } else { "." };
    format!("{path}{gap}{}", quoted(name))
}

/// Writes a name as a TOML key, with quotes if it needs them.
pub(super) fn quoted(name: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { Value::from(name).to_string() }
}
