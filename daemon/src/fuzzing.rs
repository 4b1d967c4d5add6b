//! Properties that must hold for every input of private parts. Only with the feature `fuzzing`.
#![allow(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a panic is the finding")]

use crate::Config;
use crate::config::{as_file, settings};

/// The text of a configuration: the settings in force, shown as a file, read back as the same settings.
pub fn config(text: &str) {
    let Ok(config) = Config::read(text) else { return };
    let shown = as_file(&settings(&config, Some(text), &[]));
    let again = Config::read(&shown).unwrap_or_else(|words| panic!("{words}\n{shown}"));
    assert_eq!(as_file(&settings(&again, Some(text), &[])), shown);
}
