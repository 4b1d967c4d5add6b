//! The configuration in force, and the source of each value.

use toml::{Table, Value};

use super::Config;
use super::key::{Field, Key, KeyValue, Section, join};

/// The column of the sources.
const COLUMN: usize = 44;

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// The default, which nothing overrides.
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
    /// The value as the file would have it.
    pub value: Value,
    /// The source of the value.
    pub source: Source,
}

/// Returns all values in force. `text` is the configuration file, if there is one. `overridden` lists the keys that a
/// flag or a variable set after that.
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

/// Gathers the settings of the section at `path`. `file` is its table in the file.
fn gather(section: &mut dyn Section, path: &str, file: Option<&Table>, all: &mut Vec<Setting>) {
    for Key { name, held, .. } in section.keys() {
        let key = join(path, name);
        let said = file.and_then(|file| file.get(name));
        let within = said.and_then(Value::as_table);
        match held {
            KeyValue::Value(Field { shown, .. }) => {
                let source = if said.is_some() { Source::File } else { Source::Default };
                all.extend(shown.map(|value| Setting { key, value, source }));
            }
            KeyValue::Section(section) => gather(section, &key, within, all),
            KeyValue::Optional { held, .. } => {
                held.into_iter().for_each(|mut section| gather(&mut *section, &key, within, all));
            }
            KeyValue::Named { depth, .. } => said.into_iter().for_each(|said| leaves(key.clone(), said, depth, all)),
        }
    }
}

/// Gathers the values that are at most `depth` names below a value of the file.
fn leaves(key: String, said: &Value, depth: usize, all: &mut Vec<Setting>) {
    match said.as_table().filter(|_| depth > 0) {
        Some(table) => table.iter().for_each(|(name, said)| leaves(join(&key, name), said, depth - 1, all)),
        None => all.push(Setting { key, value: said.clone(), source: Source::File }),
    }
}

/// Returns the settings as a configuration file with the same values; comments name the sources.
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
    /// Returns the source as words for people.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Default => "default".into(),
            Self::File => "config.toml".into(),
            Self::Environment(name) | Self::Flag(name) => (*name).into(),
        }
    }
}

/// Splits a key into section and name. A name in quotes may contain dots.
fn split(key: &str) -> (&str, &str) {
    let end = if key.ends_with('"') { key.rfind(".\"") } else { key.rfind('.') };
    end.map_or(("", key), |at| (key.get(..at).unwrap_or(""), key.get(at + 1..).unwrap_or("")))
}

#[cfg(test)]
mod tests;
