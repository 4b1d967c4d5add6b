//! The summarizers outside this process: a model that is reached through HTTP, or a program.
//!
//! [`Summarizers::write`] makes one call and returns its result. The caller decides which summarizer comes next, how
//! long a failed one is skipped and whether a summary is good enough. This module never tries again, except for a
//! request whose error names its own repair ([`openai`]). Keys are read from the environment once. They leave this
//! module only in the header of a request.

mod anthropic;
pub(in crate::owners) mod command;
pub(in crate::owners) mod endpoint;
pub(in crate::owners) mod masker;
mod openai;
mod reply;
mod retry_after;

use std::fmt;
use std::sync::Arc;

use herma_context::outcome::FailureKind;

use self::command::Command;
use self::endpoint::Endpoint;
use self::masker::{Secret, SecretMasker};
use crate::data::config::{EndpointConfig, SummarizerConfig};
use crate::data::error::{Error, Outcome};
use crate::data::summarizer_kind::Kind;

/// The live runtime of a session: the model and endpoint that its agent uses at the time of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Main {
    /// The model's name.
    pub model: Option<String>,
    /// The provider that serves the model.
    pub provider: Option<String>,
    /// The URL at which it is served.
    pub base_url: Option<String>,
    /// The API that is used to call it.
    pub api_mode: Option<String>,
}

/// A call of a summarizer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The whole prompt. It is sent as one user message, or to a program's standard input.
    pub prompt: &'a str,
    /// The largest number of tokens of the answer. A program does not get it.
    pub max_tokens: u64,
    /// The summary model of the session: a name, `auto` or `main`. It overrides the configured one. A program does not
    /// get it.
    pub model: Option<&'a str>,
    /// The session's live runtime.
    pub main: &'a Main,
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// Its text as the model wrote it: trimmed, not empty, not redacted.
    pub text: String,
    /// The requested model or, if none was named, the model that answered. For a command, the program's name.
    pub model: String,
}

/// The reason why there is no summary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    /// The status of an HTTP answer that refused the call, if there was one.
    pub status: Option<u16>,
    /// The kind of the failure.
    pub kind: FailureKind,
    /// Seconds to wait before the next call, if the endpoint named them: 0 to a day.
    pub retry_after_s: Option<f64>,
    /// A description in one line of at most 220 chars, safe to show.
    pub text: String,
    /// The requested model; empty if none was named.
    pub model: String,
}

impl Failure {
    pub(in crate::owners) fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        Self { status: None, kind, retry_after_s: None, text: text.into(), model: String::new() }
    }

    fn no_provider(why: fmt::Arguments<'_>) -> Self {
        Self::new(FailureKind::NoProvider, format!("no provider configured: {why}"))
    }
}

/// The configured summarizers.
#[derive(Debug)]
pub(crate) struct Summarizers {
    config: SummarizerConfig,
    endpoints: Vec<(Kind, Endpoint)>,
    command: Option<Command>,
    masker: Arc<SecretMasker>,
}

impl Summarizers {
    /// Creates the configured summarizers, with their keys from the environment.
    pub(crate) fn new(config: &SummarizerConfig) -> Self {
        Self::with_keys(config, |name| std::env::var(name).ok())
    }

    fn with_keys(config: &SummarizerConfig, variable: impl Fn(&str) -> Option<String>) -> Self {
        let key = |endpoint: &EndpointConfig| {
            let text = variable(endpoint.api_key_env.as_deref()?)?;
            Secret::new(text.trim())
        };
        let configured = Kind::ALL.into_iter().filter_map(|kind| Some((kind, config.endpoint(kind)?)));
        let keyed: Vec<_> = configured.map(|(kind, endpoint)| (kind, key(endpoint), endpoint.clone())).collect();
        let masker = Arc::new(SecretMasker::over(keyed.iter().filter_map(|(_, key, _)| key.clone()).collect()));
        let endpoint = |(kind, key, config)| (kind, Endpoint::new(config, key, Arc::clone(&masker)));
        Self {
            endpoints: keyed.into_iter().map(endpoint).collect(),
            command: config.command.clone().map(|config| Command::new(config, Arc::clone(&masker))),
            masker: Arc::clone(&masker),
            config: config.clone(),
        }
    }

    /// Returns the summarizers in the order in which they are tried.
    pub(crate) fn chain(&self) -> &[Kind] {
        &self.config.chain
    }

    /// Whether a summarizer can be used: `extractive` and `client` always, the others if they have a table, even
    /// outside the chain.
    pub(crate) const fn is_configured(&self, kind: Kind) -> bool {
        self.config.has(kind)
    }

    /// Returns the usable summarizer with this name.
    pub(crate) fn named(&self, name: Option<&str>) -> Outcome<Option<Kind>> {
        let Some(name) = name else { return Ok(None) };
        let usable: Vec<&str> =
            Kind::ALL.into_iter().filter(|kind| self.is_configured(*kind)).map(Kind::name).collect();
        match Kind::parse(name) {
            Some(kind) if self.is_configured(kind) => Ok(Some(kind)),
            Some(_) => {
                let words =
                    format!("{name:?} is not in use, for [summarizer.{name}] is not configured; there are {usable:?}");
                Err(Error::param("summarizer", words))
            }
            None => {
                let shown: String = name.chars().take(64).collect();
                Err(Error::param("summarizer", format!("{shown:?} is none; there are {usable:?}")))
            }
        }
    }

    /// Returns the window of a summarizer's model, in tokens, if the configuration has it.
    pub(crate) fn context_length(&self, kind: Kind) -> Option<u64> {
        match kind {
            Kind::Command => self.config.command.as_ref()?.context_length,
            other => self.config.endpoint(other)?.context_length,
        }
    }

    /// Returns the model that a call without its own summary model would request; empty if the endpoint chooses it, or
    /// if the summarizer has no model.
    pub(crate) fn model(&self, kind: Kind, main: &Main) -> String {
        self.model_of(kind, None, main)
    }

    fn model_of(&self, kind: Kind, own: Option<&str>, main: &Main) -> String {
        match kind {
            Kind::Command => self.command.as_ref().map(Command::name),
            other => self.endpoint(other).and_then(|endpoint| endpoint.model(own, main)),
        }
        .unwrap_or_default()
    }

    fn endpoint(&self, kind: Kind) -> Option<&Endpoint> {
        self.endpoints.iter().find(|(of, _)| *of == kind).map(|(_, endpoint)| endpoint)
    }

    /// Writes a summary. Dropping the future ends the call: the connection is closed, and a program and its process
    /// group are killed.
    ///
    /// # Errors
    /// Any failure of the summarizer. `extractive` and `client` are not written here, so they always fail with
    /// [`FailureKind::NoProvider`].
    pub(crate) async fn write(&self, kind: Kind, call: Call<'_>) -> Result<Written, Failure> {
        let model = self.model_of(kind, call.model, call.main);
        let written = self.ask(kind, call).await;
        written.map_err(|failure| Failure { text: self.masker.line(&failure.text), model, ..failure })
    }

    async fn ask(&self, kind: Kind, call: Call<'_>) -> Result<Written, Failure> {
        let no_table = || Failure::no_provider(format_args!("there is no table [summarizer.{}]", kind.name()));
        let endpoint = || self.endpoint(kind).ok_or_else(no_table);
        match kind {
            Kind::OpenAi => endpoint()?.within_total(openai::write(endpoint()?, call)).await,
            Kind::Anthropic => endpoint()?.within_total(anthropic::write(endpoint()?, call)).await,
            Kind::Command => self.command.as_ref().ok_or_else(no_table)?.write(call.prompt).await,
            Kind::Extractive | Kind::Client => {
                Err(Failure::no_provider(format_args!("{:?} asks nobody outside the daemon", kind.name())))
            }
        }
    }
}

#[cfg(test)]
mod tests;
