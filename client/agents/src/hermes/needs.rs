//! The settings in the agent's `config.yaml` that put herma to use, and those to remove at an uninstall.

use serde_json::Value;

use super::yaml::{self, Edit, Word};

/// One setting that the file must contain, or must not contain.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need<'a> {
    /// The setting in one line.
    pub(super) line: &'static str,
    pub(super) edit: Edit<'a>,
}

// Parts of herma that an agent uses only on request.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::Args)]
pub(super) struct Parts {
    /// Make herma the memory provider as well
    #[arg(long)]
    provider: bool,
    /// Replace the agent's own memory tool with herma as well
    #[arg(long)]
    memory: bool,
    /// Let herma keep large tool results as well
    #[arg(long)]
    results: bool,
}

impl Parts {
    /// Returns the parts that a file asks for.
    pub(super) fn of(data: &Value) -> Self {
        let is = |edit| yaml::is_done(data, &edit);
        Self {
            provider: is(Edit::Set("memory", "provider", Word::Text("herma"))),
            memory: is(Edit::Set("herma", "memory", Word::True)),
            results: is(Edit::Set("herma", "results", Word::True)),
        }
    }

    /// Returns each choice of parts.
    #[cfg(test)]
    pub(super) fn all() -> impl Iterator<Item = Self> {
        (0..8).map(|bits| Self { provider: bits & 1 > 0, memory: bits & 2 > 0, results: bits & 4 > 0 })
    }
}

/// Returns the settings that the file must contain.
pub(super) fn needed(parts: Parts) -> Vec<Need<'static>> {
    let herma = Word::Text("herma");
    let need = |line, edit, is_wanted: bool| is_wanted.then_some(Need { line, edit });
    [
        need("plugins.disabled: without herma", Edit::Take("plugins", "disabled", "herma"), true),
        need("plugins.enabled: [herma]", Edit::Add("plugins", "enabled", "herma"), true),
        need("context.engine: herma", Edit::Set("context", "engine", herma), true),
        need("memory.provider: herma", Edit::Set("memory", "provider", herma), parts.provider),
        need("herma.memory: true", Edit::Set("herma", "memory", Word::True), parts.memory),
        need("herma.results: true", Edit::Set("herma", "results", Word::True), parts.results),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the settings to remove from the file at an uninstall. A word that an install replaced returns.
///
/// `replaced` returns the word that the install replaced, by section and key.
pub(super) fn unneeded<'a>(replaced: impl Fn(&str, &str) -> Option<&'a str>) -> Vec<Need<'a>> {
    let back = |section, key| match replaced(section, key) {
        Some(word) => Edit::Swap(section, key, "herma", word),
        None => Edit::Drop(section, key, "herma"),
    };
    vec![
        Need { line: "plugins.enabled: [herma]", edit: Edit::Take("plugins", "enabled", "herma") },
        Need { line: "context.engine: herma", edit: back("context", "engine") },
        Need { line: "memory.provider: herma", edit: back("memory", "provider") },
        Need { line: "herma", edit: Edit::DropSection("herma") },
    ]
}

/// Returns whether nothing in the data is of herma.
pub(super) fn is_without_herma(data: &Value) -> bool {
    unneeded(|_, _| None).iter().all(|need| yaml::is_done(data, &need.edit))
}
