//! What `config.yaml` contained before an installation, according to the copies that installations made of it.

use std::path::Path;

use herma_base::settings_file::{SettingsFile, backups};
use serde_json::Value;

use super::needs::{self, Parts};
use super::yaml::{self, Edit};

/// The copies of a file, the oldest one first.
#[derive(Debug, Default)]
pub(super) struct Copies(Vec<Copy>);

/// A copy that can be parsed.
#[derive(Debug)]
struct Copy {
    text: String,
    data: Value,
}

/// What a file was before installations.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Before<'a> {
    Missing,
    Text(&'a str),
}

impl Copies {
    /// Reads the copies of a file. One that can't be read or parsed is left out.
    pub(super) fn of(path: &Path) -> Self {
        let paths = backups(path).take_while(|path| path.exists());
        Self::new(paths.filter_map(|path| Some(SettingsFile::read(&path).ok()?.text)))
    }

    fn new(texts: impl Iterator<Item = String>) -> Self {
        Self(texts.filter_map(|text| Some(Copy { data: yaml::parse(&text).ok()?, text })).collect())
    }

    /// Returns what installations changed into `now`. `None` if something else changed the file, too.
    pub(super) fn before(&self, now: &str) -> Option<Before<'_>> {
        let mut before = None;
        // Each step back undoes one installation, so there are no more steps than copies.
        for _ in &self.0 {
            let installed = before.map_or(now, |copy: &Copy| &copy.text);
            let Some(copy) = self.0.iter().rev().find(|copy| is_installed_into(&copy.text, installed)) else { break };
            before = Some(copy);
        }
        match before {
            Some(copy) if needs::is_without_herma(&copy.data) => Some(Before::Text(&copy.text)),
            Some(copy) if is_installed_into("", &copy.text) => Some(Before::Missing),
            None if is_installed_into("", now) => Some(Before::Missing),
            _ => None,
        }
    }

    /// Returns the last word that the setting had before `word`. `None` if it was missing or is not known.
    pub(super) fn replaced(&self, section: &str, key: &str, word: &str) -> Option<&str> {
        let values = self.0.iter().rev().map(|copy| &copy.data[section][key]);
        values.filter(|value| *value != word).find_map(Value::as_str)
    }
}

/// Returns whether an installation changes the first text into the second.
fn is_installed_into(before: &str, after: &str) -> bool {
    // A part that is not in the second text was not installed, and one that was in the first changes nothing.
    let Ok(data) = yaml::parse(after) else { return false };
    let needs = needs::needed(Parts::of(&data));
    let edits: Vec<Edit<'_>> = needs.iter().map(|need| need.edit).collect();
    before != after && yaml::edit(before, &edits).is_ok_and(|edited| edited == after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(provider: bool, memory: bool, results: bool) -> Parts {
        let all = [provider, memory, results].into_iter().zip([1, 2, 4]);
        let bits = all.filter(|(is_wanted, _)| *is_wanted).map(|(_, bit)| bit).sum();
        Parts::all().nth(bits).unwrap()
    }

    fn installed(text: &str, parts: Parts) -> String {
        let edits: Vec<_> = needs::needed(parts).iter().map(|need| need.edit).collect();
        yaml::edit(text, &edits).unwrap()
    }

    fn copies(texts: &[&str]) -> Copies {
        Copies::new(texts.iter().map(|text| (*text).to_owned()))
    }

    const OWN: [&str; 6] = [
        "# mine\nmodel: x\n",
        "context:\n  engine: compressor # ours\nplugins: {disabled: [herma, x]}\n",
        "plugins:\n  enabled: []\n",
        "plugins:\n  enabled:\nmemory:\n  provider: ''\n",
        "",
        "a: 1\r\ncontext:\r\n",
    ];

    #[test]
    fn one_installation_is_undone_to_the_byte() {
        for before in OWN {
            // None and all.
            for parts in Parts::all().step_by(7) {
                let now = installed(before, parts);
                assert_eq!(copies(&[before]).before(&now), Some(Before::Text(before)), "{now:?}");
                assert_eq!(copies(&["a: other\n", before, "b: other\n"]).before(&now), Some(Before::Text(before)));
                assert_eq!(copies(&[before]).before(&format!("{now}own: 1\n")), None);
            }
        }
    }

    #[test]
    fn several_installations_are_undone_to_the_byte() {
        for before in OWN {
            let first = installed(before, parts(false, false, true));
            let second = installed(&first, parts(true, true, false));
            assert_eq!(copies(&[before, &first]).before(&second), Some(Before::Text(before)), "{second:?}");
            // Without the oldest copy nobody knows what was there.
            assert_eq!(copies(&[&first]).before(&second).is_some(), before.is_empty(), "{second:?}");
        }
    }

    #[test]
    fn a_file_that_an_installation_created_goes() {
        for parts in Parts::all() {
            let now = installed("", parts);
            assert_eq!(copies(&[]).before(&now), Some(Before::Missing));
            assert_eq!(copies(&[]).before(&format!("{now}own: 1\n")), None);
        }
    }

    #[test]
    fn the_word_that_was_replaced_last_is_known() {
        let copies =
            copies(&["context: {engine: a}\n", "context: {engine: b}\n", "context: {engine: herma}\n", "- no\n"]);
        assert_eq!(copies.replaced("context", "engine", "herma"), Some("b"));
        assert_eq!(copies.replaced("memory", "provider", "herma"), None);
    }
}
