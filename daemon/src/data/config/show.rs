//! What is in force, and where each value came from.

use toml::{Table, Value};

use super::Config;
use super::key::{Field, Held, Key, Section, join};

/// Column at which the sources stand.
const COLUMN: usize = 44;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Nobody said anything else.
    Default,
    /// The configuration file.
    File,
    /// This environment variable.
    Environment(&'static str),
    /// This flag of the command line.
    Flag(&'static str),
}

/// A value in force.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// Section and key, as in `memory.user_limit`.
    pub key: String,
    /// As it would stand in the file.
    pub value: Value,
    /// Where it came from.
    pub source: Source,
}

/// All values in force. `text` is the file that they were read from, if there is one;
/// `overridden` says which keys something else has set since.
#[must_use]
pub fn settings(config: &Config, text: Option<&str>, overridden: &[(&str, Source)]) -> Vec<Setting> {
    let file: Table = text.and_then(|text| text.parse().ok()).unwrap_or_default();
    let mut all = Vec::new();
    gather(&mut config.clone(), "", Some(&file), &mut all);
    for setting in &mut all {
        if let Some((_, source)) = overridden.iter().find(|(key, _)| *key == setting.key) {
            setting.source = source.clone();
        }
    }
    all
}

/// The settings of a section that is at `path`, where the file has this table.
fn gather(section: &mut dyn Section, path: &str, file: Option<&Table>, all: &mut Vec<Setting>) {
    for Key { name, held, .. } in section.keys() {
        let key = join(path, name);
        let said = file.and_then(|file| file.get(name));
        let within = said.and_then(Value::as_table);
        match held {
            Held::Value(Field { shown, .. }) => {
                let source = if said.is_some() { Source::File } else { Source::Default };
                all.extend(shown.map(|value| Setting { key, value, source }));
            }
            Held::Section(section) => gather(section, &key, within, all),
            Held::Optional { held, .. } => {
                held.into_iter().for_each(|mut section| gather(&mut *section, &key, within, all));
            }
            Held::Named { depth, .. } => said.into_iter().for_each(|said| leaves(key.clone(), said, depth, all)),
        }
    }
}

/// The values that are so many names below a value of the file.
fn leaves(key: String, said: &Value, depth: usize, all: &mut Vec<Setting>) {
    match said.as_table().filter(|_| depth > 0) {
        Some(table) => table.iter().for_each(|(name, said)| leaves(join(&key, name), said, depth - 1, all)),
        None => all.push(Setting { key, value: said.clone(), source: Source::File }),
    }
}

/// The settings as a file that would say the same, with the sources as comments.
#[must_use]
pub fn as_file(settings: &[Setting]) -> String {
    let mut text = String::new();
    let mut current = "";
    for Setting { key, value, source } in settings {
        let (section, name) = split(key);
        if section != current {
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}[{section}]\n"));
            current = section;
        }
        let line = format!("{name} = {value}");
        text.push_str(&format!("{line:<COLUMN$} # {}\n", source.words()));
    }
    text
}

impl Source {
    /// As a person reads it.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Default => "default".into(),
            Self::File => "config.toml".into(),
            Self::Environment(name) | Self::Flag(name) => (*name).into(),
        }
    }
}

/// Section and name of a key; a name in quotes may have dots.
fn split(key: &str) -> (&str, &str) {
    let end = if key.ends_with('"') { key.rfind(".\"") } else { key.rfind('.') };
    end.map_or(("", key), |at| (key.get(..at).unwrap_or(""), key.get(at + 1..).unwrap_or("")))
}

#[cfg(test)]
mod tests;
