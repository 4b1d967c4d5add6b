//! The summarizers that ask something outside this process: a model behind HTTP, or a program.
//!
//! [`Summarizers::write`] does one call and says how it ended. Which summarizer comes next, how
//! long a failed one is left alone and whether a summary is good enough is its caller's to decide:
//! nothing is tried a second time here, except a request that names its own repair
//! ([`openai`]). Keys are read from the environment once and appear in no text that leaves this
//! module but the header of a request.

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

/// The live runtime of a session: what its agent uses at the moment of the call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Main {
    /// The model's name.
    pub model: Option<String>,
    /// Who serves it.
    pub provider: Option<String>,
    /// Where it is served.
    pub base_url: Option<String>,
    /// How it is spoken to.
    pub api_mode: Option<String>,
}

/// What is asked of a summarizer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    /// The whole prompt; it goes out as one user message, or to a program's standard input.
    pub prompt: &'a str,
    /// Most tokens of the answer. A program isn't told.
    pub max_tokens: u64,
    /// The summary model that the session was given: a name, `auto` or `main`. It wins over the
    /// configured one; a program isn't told.
    pub model: Option<&'a str>,
    /// The session's live runtime.
    pub main: &'a Main,
}

/// A summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    /// Its text: trimmed, not empty, as the model wrote it. Not redacted.
    pub text: String,
    /// The model that was asked for, or, where none was named, the one that answered. Of a
    /// command the program's name.
    pub model: String,
}

/// Why there is no summary.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    /// The status of the HTTP answer, where there was one that said no.
    pub status: Option<u16>,
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// Seconds to wait before the next call, where the endpoint said so: 0 to a day.
    pub retry_after_s: Option<f64>,
    /// What happened, in one line of at most 220 chars; safe to show.
    pub text: String,
    /// The model that was asked for; empty where none was named.
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
    /// Takes the keys from the environment.
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

    /// The summarizers in the order in which they are to be tried.
    pub(crate) fn chain(&self) -> &[Kind] {
        &self.config.chain
    }

    /// Whether a summarizer can be used: `extractive` and `client` always, the others when they
    /// have a table, in the chain or not.
    pub(crate) const fn is_configured(&self, kind: Kind) -> bool {
        self.config.has(kind)
    }

    /// The summarizer of a name that can be used.
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

    /// The window of the model behind a summarizer, in tokens, where the configuration tells it.
    pub(crate) fn context_length(&self, kind: Kind) -> Option<u64> {
        match kind {
            Kind::Command => self.config.command.as_ref()?.context_length,
            other => self.config.endpoint(other)?.context_length,
        }
    }

    /// The model that a call without a summary model of its own would ask for; empty where the
    /// endpoint takes one by itself, or nobody is there to be asked.
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

    /// Has a summary written. Dropping the future ends the call: the connection is closed, a
    /// program and its process group are killed.
    ///
    /// # Errors
    /// Whatever kept the summary from being written. `extractive` and `client` are not written
    /// here, and answer [`FailureKind::NoProvider`].
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
