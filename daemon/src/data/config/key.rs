//! The tree of keys: how a section is declared, and how a file is laid over it.

use herma_protocol::nearest::most_like;
use toml::{Table, Value};

/// Declares a section: a struct with a field for each key, and with each field its default and
/// its [`Format`](super::format::Format). The first line of a field's doc is the comment
/// beside the key in the template; all else follows from the declaration too.
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

/// A table of the file.
pub(super) trait Section {
    /// Its keys in the order in which they are shown, each bound to its field.
    fn keys(&mut self) -> Vec<Key<'_>>;
}

/// A key of a section.
pub(super) struct Key<'a> {
    /// Its name in the file.
    pub name: &'static str,
    /// One sentence.
    pub comment: &'static str,
    /// What stands behind it.
    pub held: Held<'a>,
}

/// What stands behind a key.
pub(super) enum Held<'a> {
    /// One value.
    Value(Field<'a>),
    /// A section that is always there.
    Section(&'a mut dyn Section),
    /// A section that is there when the file has it.
    Optional {
        /// The section, if it is there.
        held: Option<Box<dyn Section>>,
        /// What it is in the template.
        example: Box<dyn Section>,
        /// Takes the whole section from the file.
        read: Read<'a>,
    },
    /// A table with names of the user's choice.
    Named {
        /// Takes the whole table from the file.
        read: Read<'a>,
        /// How many names stand before a value.
        depth: usize,
        /// Lines that it could have.
        example: &'static str,
    },
}

/// Takes a value from the file.
type Read<'a> = Box<dyn FnOnce(&Value) -> Result<(), Mistake> + 'a>;

/// A field of a section.
pub(super) struct Field<'a> {
    /// Its unit, and which values it may have.
    pub range: String,
    /// What is wrong when the file has its section without it, if that is wrong.
    pub needed: Option<String>,
    /// What it holds, as it would stand in the file. None: nothing would stand there.
    pub shown: Option<Value>,
    /// Takes a value from the file.
    pub read: Read<'a>,
}

/// What is wrong in a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    /// The names that lead to it.
    pub path: Vec<String>,
    /// What is wrong, to be read after the key.
    pub words: String,
}

impl Mistake {
    pub(super) fn new(words: impl Into<String>) -> Self {
        Self { path: Vec::new(), words: words.into() }
    }

    /// The same mistake, seen from the table that has it under this name.
    pub(super) fn at(mut self, name: &str) -> Self {
        self.path.insert(0, name.to_owned());
        self
    }

    /// The whole key.
    pub(super) fn key(&self) -> String {
        self.path.iter().fold(String::new(), |path, name| join(&path, name))
    }
}

/// Lays a table of the file over the fields of a section.
pub(super) fn read(section: &mut dyn Section, said: &Value) -> Result<(), Mistake> {
    let table = table(said)?;
    let keys = section.keys();
    let names = keys.iter().map(|key| key.name);
    if let Some(unknown) = table.keys().find(|name| names.clone().all(|known| known != **name)) {
        let near = most_like(unknown, names.clone()).unwrap_or_default();
        let all = names.collect::<Vec<_>>().join(", ");
        return Err(Mistake::new(format!("is unknown; did you mean `{near}`? Known here: {all}")).at(unknown));
    }
    for Key { name, held, .. } in keys {
        let said = table.get(name);
        match (held, said) {
            (Held::Section(section), Some(said)) => read(section, said),
            (Held::Value(Field { read, .. }) | Held::Optional { read, .. } | Held::Named { read, .. }, Some(said)) => {
                read(said)
            }
            (Held::Value(Field { needed: Some(words), .. }), None) => {
                Err(Mistake::new(format!("is needed, and {words}")))
            }
            (_, None) => Ok(()),
        }
        .map_err(|mistake| mistake.at(name))?;
    }
    Ok(())
}

/// A section of its own, with what a table of the file says.
pub(super) fn section_of<T: Section + Default>(said: &Value) -> Result<T, Mistake> {
    let mut section = T::default();
    read(&mut section, said)?;
    Ok(section)
}

/// A value that has to be a table.
pub(super) fn table(said: &Value) -> Result<&Table, Mistake> {
    said.as_table().ok_or_else(|| Mistake::new(format!("must be a table; it is {said}")))
}

/// The path of a name below another.
pub(super) fn join(path: &str, name: &str) -> String {
    let gap = if path.is_empty() { "" } else { "." };
    format!("{path}{gap}{}", quoted(name))
}

/// A name as a key of TOML.
pub(super) fn quoted(name: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { Value::from(name).to_string() }
}
