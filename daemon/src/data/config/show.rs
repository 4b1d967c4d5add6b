//! What is in force, and where each value came from.

use std::time::Duration;

use serde::Serialize;
use toml::{Table, Value};

use super::{CommandConfig, CompressionMode, Config, EndpointConfig, LogFormat, ModelChoice, raw, units};

/// The file that [`Config::file`] begins with: every key, commented out, at its default.
pub const TEMPLATE: &str = include_str!("template.toml");

/// Column at which the sources stand.
const COLUMN: usize = 44;

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
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
#[derive(Debug, Clone, PartialEq, Serialize)]
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
    let mut all = values(config);
    // What only a file has: names that are nobody's defaults.
    for section in ["guard.severity", "memory.profiles", "output.tool_overrides"] {
        let named = lookup(&file, section).and_then(Value::as_table);
        let rows = named.into_iter().flatten().flat_map(|(name, value)| leaves(&join(section, name), value));
        let before = all.partition_point(|(key, _)| order(key) <= order(section));
        all.splice(before..before, rows);
    }
    all.into_iter()
        .map(|(key, value)| {
            let other = overridden.iter().find(|(name, _)| *name == key).map(|(_, source)| source.clone());
            let source = other.unwrap_or_else(|| match lookup(&file, &key) {
                Some(_) => Source::File,
                None => Source::Default,
            });
            Setting { key, value, source }
        })
        .collect()
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
        let line = format!("{} = {value}", quoted(name));
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

/// Every key that has a default, and those of the summarizers that have a table.
fn values(config: &Config) -> Vec<(String, Value)> {
    let Config { memory, output, retention, context, summarizer, limits, log, .. } = config;
    let mut all = Vec::new();
    let mut put = |key: &str, value: Value| all.push((key.to_owned(), value));
    put("memory.memory_limit", count(memory.limits.memory_limit));
    put("memory.user_limit", count(memory.limits.user_limit));
    put("memory.approval", memory.approval.into());
    put("memory.journal_revisions", count(memory.journal_revisions));
    put("guard.redact", config.redact.into());
    put("output.default_result_size", count(output.default_result_size));
    put("output.turn_budget", count(output.turn_budget));
    put("output.preview_size", count(output.preview_size));
    put("output.preview_tail_size", count(output.preview_tail_size));
    put("output.mcp_result_size", count(output.mcp_result_size));
    put("output.scale_with_window", config.scale_with_window.into());
    put("output.ttl", units::show_seconds(retention.ttl).into());
    put("output.quota", units::show_bytes(retention.quota).into());
    put("context.enabled", context.enabled.into());
    put("context.engine", raw::ENGINE.into());
    put("context.threshold", context.threshold.into());
    put("context.target_ratio", context.target_ratio.into());
    put("context.protect_first_n", wide(context.protect_first_n));
    put("context.protect_last_n", wide(context.protect_last_n));
    put("context.mode", mode(context.mode).into());
    put("context.abort_on_summary_failure", context.abort_on_summary_failure.into());
    put("context.max_per_hour", i64::from(context.max_per_hour).into());
    put("context.min_new_text", context.min_new_text.into());
    put("context.hygiene_messages", count(context.hygiene_messages));
    let chain: Vec<Value> = summarizer.chain.iter().map(|kind| kind.name().into()).collect();
    put("summarizer.chain", chain.into());
    for (name, table) in [("openai", &summarizer.openai), ("anthropic", &summarizer.anthropic)] {
        table.iter().for_each(|table| endpoint(name, table, &mut put));
    }
    summarizer.command.iter().for_each(|table| command(table, &mut put));
    put("limits.frame", units::show_bytes(limits.frame as u64).into());
    put("limits.in_flight", units::show_bytes(limits.in_flight as u64).into());
    put("limits.connections", count(limits.connections));
    put("log.level", log.level.clone().into());
    put("log.format", if log.format == LogFormat::Json { "json" } else { "text" }.into());
    all
}

fn endpoint(name: &str, table: &EndpointConfig, put: &mut dyn FnMut(&str, Value)) {
    let mut put = |key: &str, value: Value| put(&format!("summarizer.{name}.{key}"), value);
    put("base_url", table.base_url.as_str().into());
    put(
        "model",
        match &table.model {
            ModelChoice::Auto => "auto",
            ModelChoice::Main => "main",
            ModelChoice::Named(name) => name,
        }
        .into(),
    );
    table.api_key_env.iter().for_each(|name| put("api_key_env", name.as_str().into()));
    table.context_length.iter().for_each(|tokens| put("context_length", wide(*tokens)));
    put("connect_timeout", duration(table.connect_timeout));
    put("read_timeout", duration(table.read_timeout));
    put("total_timeout", duration(table.total_timeout));
    put("max_response", units::show_bytes(table.max_response as u64).into());
}

fn command(table: &CommandConfig, put: &mut dyn FnMut(&str, Value)) {
    let mut put = |key: &str, value: Value| put(&format!("summarizer.command.{key}"), value);
    // Arguments may be keys; the program tells enough.
    let program = table.argv.first().cloned().unwrap_or_default();
    let hidden = (table.argv.len() > 1).then(|| "…".to_owned());
    put("argv", std::iter::once(program).chain(hidden).map(Value::from).collect::<Vec<_>>().into());
    table.context_length.iter().for_each(|tokens| put("context_length", wide(*tokens)));
    put("timeout", duration(table.timeout));
    put("max_response", units::show_bytes(table.max_response as u64).into());
}

const fn mode(mode: CompressionMode) -> &'static str {
    match mode {
        CompressionMode::InPlace => "in_place",
        CompressionMode::Continue => "continue",
    }
}

fn duration(duration: Duration) -> Value {
    match duration.subsec_millis() {
        0 => units::show_seconds(duration.as_secs()).into(),
        _ => format!("{}ms", duration.as_millis()).into(),
    }
}

fn count(count: usize) -> Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

fn wide(count: u64) -> Value {
    i64::try_from(count).unwrap_or(i64::MAX).into()
}

/// The values within a value of the file, each with its key.
fn leaves(key: &str, value: &Value) -> Vec<(String, Value)> {
    match value.as_table() {
        Some(table) if !key.starts_with("guard.severity.") => {
            table.iter().flat_map(|(name, value)| leaves(&join(key, name), value)).collect()
        }
        _ => vec![(key.to_owned(), value.clone())],
    }
}

/// A key that has parts with dots in them is not found; it is a default's then.
fn lookup<'a>(file: &'a Table, key: &str) -> Option<&'a Value> {
    let (section, name) = split(key);
    let name = name.trim_matches('"');
    match section {
        "" => file.get(name),
        _ => lookup(file, section)?.as_table()?.get(name),
    }
}

/// Section and name of a key; a name in quotes may have dots.
fn split(key: &str) -> (&str, &str) {
    let end = if key.ends_with('"') { key.rfind(".\"") } else { key.rfind('.') };
    end.map_or(("", key), |at| (key.get(..at).unwrap_or(""), key.get(at + 1..).unwrap_or("")))
}

fn join(section: &str, name: &str) -> String {
    format!("{section}.{}", quoted(name))
}

/// A name as a key of TOML.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    match !name.is_empty() && (name.chars().all(plain) || name.starts_with('"')) {
        true => name.to_owned(),
        false => Value::from(name).to_string(),
    }
}

/// The place of a section in the file.
fn order(key: &str) -> usize {
    let section = key.split('.').next().unwrap_or("");
    ["memory", "guard", "output", "context"].iter().position(|known| *known == section).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
