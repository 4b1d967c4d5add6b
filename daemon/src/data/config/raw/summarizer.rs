//! `[summarizer]` as it stands in the file, and its checks.

use std::collections::BTreeSet;
use std::time::Duration;

use reqwest::Url;
use serde::Deserialize;

use super::nearest;
use crate::data::config::summarizer::{CommandConfig, EndpointConfig, ModelChoice, SummarizerConfig};
use crate::data::config::{ConfigError, units};
use crate::data::summarizer_kind::Kind;

/// Until a connection stands.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Without a byte.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// For a whole call, and for a program.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(180);

/// The longest that a timeout may be set to: a day.
const TIMEOUT_CEILING: Duration = Duration::from_secs(24 * 3600);

/// Bytes of an answer.
const MAX_RESPONSE: usize = 1 << 20;

/// What the bytes of an answer may be set to: 1 KiB to 64 MiB.
const MAX_RESPONSE_RANGE: std::ops::RangeInclusive<usize> = 1 << 10..=64 << 20;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Summarizer {
    chain: Option<Vec<String>>,
    openai: Option<Endpoint>,
    anthropic: Option<Endpoint>,
    command: Option<Command>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Endpoint {
    base_url: Option<String>,
    model: Option<String>,
    api_key_env: Option<String>,
    context_length: Option<u64>,
    connect_timeout: Option<String>,
    read_timeout: Option<String>,
    total_timeout: Option<String>,
    max_response: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Command {
    argv: Option<Vec<String>>,
    context_length: Option<u64>,
    timeout: Option<String>,
    max_response: Option<String>,
}

/// Makes an error of a key and what its value must be.
type Wrong<'a> = &'a dyn Fn(&str, &str) -> ConfigError;

impl Summarizer {
    /// Lays what the file says over the defaults.
    pub(super) fn check(self, wrong: Wrong<'_>) -> Result<SummarizerConfig, ConfigError> {
        let mut checked = SummarizerConfig {
            openai: self.openai.map(|table| table.check("summarizer.openai", wrong)).transpose()?,
            anthropic: self.anthropic.map(|table| table.check("summarizer.anthropic", wrong)).transpose()?,
            command: self.command.map(|table| table.check("summarizer.command", wrong)).transpose()?,
            ..SummarizerConfig::default()
        };
        if let Some(names) = self.chain {
            checked.chain = chain(&names, &checked, wrong)?;
        }
        Ok(checked)
    }
}

fn chain(names: &[String], tables: &SummarizerConfig, wrong: Wrong<'_>) -> Result<Vec<Kind>, ConfigError> {
    const KEY: &str = "summarizer.chain";
    let mut seen = BTreeSet::new();
    let kinds = names.iter().map(|name| {
        let kind = Kind::parse(name).ok_or_else(|| {
            let near = nearest(name, Kind::ALL.iter().map(|kind| kind.name()));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
            wrong(KEY, &format!("has {name:?}, which is no summarizer{hint}"))
        })?;
        if !seen.insert(kind.name()) {
            return Err(wrong(KEY, &format!("has {name:?} twice")));
        }
        if !tables.has(kind) {
            return Err(wrong(KEY, &format!("has {name:?}, which needs a table [summarizer.{name}]")));
        }
        Ok(kind)
    });
    let kinds = kinds.collect::<Result<Vec<_>, _>>()?;
    if kinds.is_empty() {
        return Err(wrong(KEY, "must name at least one summarizer"));
    }
    Ok(kinds)
}

impl Endpoint {
    fn check(self, section: &str, wrong: Wrong<'_>) -> Result<EndpointConfig, ConfigError> {
        let wrong = |key: &str, words: &str| wrong(&format!("{section}.{key}"), words);
        let url = self.base_url.ok_or_else(|| wrong("base_url", "is needed, like \"http://127.0.0.1:11434/v1\""))?;
        let base_url = base_url(&url).map_err(|words| wrong("base_url", words))?;
        let model = match self.model {
            None => ModelChoice::Auto,
            Some(text) => ModelChoice::parse(&text)
                .ok_or_else(|| wrong("model", "must be the name of a model, \"auto\" or \"main\""))?,
        };
        if let Some(name) = &self.api_key_env
            && !is_variable(name)
        {
            return Err(wrong("api_key_env", "must be the name of an environment variable, never the key itself"));
        }
        Ok(EndpointConfig {
            base_url,
            model,
            api_key_env: self.api_key_env,
            context_length: window(self.context_length, &wrong)?,
            connect_timeout: timeout(self.connect_timeout, CONNECT_TIMEOUT, "connect_timeout", &wrong)?,
            read_timeout: timeout(self.read_timeout, READ_TIMEOUT, "read_timeout", &wrong)?,
            total_timeout: timeout(self.total_timeout, TOTAL_TIMEOUT, "total_timeout", &wrong)?,
            max_response: max_response(self.max_response, &wrong)?,
        })
    }
}

impl Command {
    fn check(self, section: &str, wrong: Wrong<'_>) -> Result<CommandConfig, ConfigError> {
        let wrong = |key: &str, words: &str| wrong(&format!("{section}.{key}"), words);
        let argv = self.argv.unwrap_or_default();
        if argv.first().is_none_or(String::is_empty) || argv.iter().any(|argument| argument.contains('\0')) {
            return Err(wrong("argv", "must be a program and its arguments, like [\"llm\", \"-m\", \"some-model\"]"));
        }
        Ok(CommandConfig {
            argv,
            context_length: window(self.context_length, &wrong)?,
            timeout: timeout(self.timeout, TOTAL_TIMEOUT, "timeout", &wrong)?,
            max_response: max_response(self.max_response, &wrong)?,
        })
    }
}

/// The URL, or what is wrong with it: in words that don't repeat it, for it may hold a key.
fn base_url(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text.trim()).map_err(|_| "must be a URL like \"http://127.0.0.1:11434/v1\"")?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err("must begin with http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must have no user or password in it; a key goes into the variable that api_key_env names");
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err("must have no `?` or `#` in it: paths are appended to it");
    }
    Ok(url)
}

fn is_variable(name: &str) -> bool {
    let plain = |char: char| char.is_ascii_alphanumeric() || char == '_';
    name.starts_with(|char: char| !char.is_ascii_digit()) && name.chars().all(plain)
}

fn window(tokens: Option<u64>, wrong: Wrong<'_>) -> Result<Option<u64>, ConfigError> {
    match tokens {
        Some(0) => Err(wrong("context_length", "must be at least 1")),
        other => Ok(other),
    }
}

fn timeout(text: Option<String>, default: Duration, key: &str, wrong: Wrong<'_>) -> Result<Duration, ConfigError> {
    match text {
        None => Ok(default),
        Some(text) => units::duration(&text)
            .filter(|duration| !duration.is_zero() && *duration <= TIMEOUT_CEILING)
            .ok_or_else(|| wrong(key, "must be a duration like \"60s\", \"3m\" or \"300ms\", from 1ms to 1d")),
    }
}

fn max_response(text: Option<String>, wrong: Wrong<'_>) -> Result<usize, ConfigError> {
    match text {
        None => Ok(MAX_RESPONSE),
        Some(text) => units::bytes(&text)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .filter(|bytes| MAX_RESPONSE_RANGE.contains(bytes))
            .ok_or_else(|| wrong("max_response", "must be a size like \"1MiB\", from 1KiB to 64MiB")),
    }
}

#[cfg(test)]
mod tests;
