//! `[summarizer]`: the summarizers, which write the summaries of compressions.

use std::time::Duration;

use herma_protocol::nearest::most_like;
use toml::Value;
use url::Url;

use super::format::{Format, Optional, bytes, time, whole};
use super::key::{KeyError, section};
use crate::data::summarizer_kind::Kind;

section! {
    /// The summarizers.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SummarizerConfig {
        /// The summarizers, in the order in which they are tried; some need a table of their own.
        pub chain: Vec<Kind> = vec![Kind::Extractive], chain();
        /// Any endpoint for chat completions.
        pub openai: Option<EndpointConfig> = None, Optional(EndpointConfig::example(LOCAL, "OPENAI_API_KEY"));
        /// An endpoint for Anthropic's messages.
        pub anthropic: Option<EndpointConfig> = None,
            Optional(EndpointConfig::example("https://api.anthropic.com", "ANTHROPIC_API_KEY"));
        /// A program: the prompt on its standard input, the summary on its standard output.
        pub command: Option<CommandConfig> = None,
            Optional(CommandConfig { context_length: WINDOW, ..CommandConfig::default() });
    }
}

section! {
    /// A model that is reached through HTTP.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EndpointConfig {
        /// The URL to which paths are appended.
        pub base_url: Url = url(LOCAL), base_url().required();
        /// The model to request.
        pub model: ModelChoice = ModelChoice::Auto, model();
        /// The variable with the API key; without it no key is sent.
        pub api_key_env: Option<String> = None, variable().optional();
        /// The model's window, if it is known.
        pub context_length: Option<u64> = None, whole(1.., "tokens").optional();
        /// The time limit for connecting, including TLS.
        pub connect_timeout: Duration = Duration::from_secs(5), timeout();
        /// The time limit for the headers, and then between any two bytes.
        pub read_timeout: Duration = Duration::from_secs(60), timeout();
        /// The time limit of the whole call.
        pub total_timeout: Duration = TOTAL, timeout();
        /// The largest answer.
        pub max_response: usize = 1 << 20, response();
    }
}

section! {
    /// A program that reads a prompt and prints a summary.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct CommandConfig {
        /// The command, run without a shell.
        pub argv: Vec<String> = vec!["llm".to_owned()], arguments().required();
        /// The window of its model, if it is known.
        pub context_length: Option<u64> = None, whole(1.., "tokens").optional();
        /// The time limit of a run.
        pub timeout: Duration = TOTAL, timeout();
        /// The largest summary.
        pub max_response: usize = 1 << 20, response();
    }
}

/// The address of a model server on this machine.
const LOCAL: &str = "http://127.0.0.1:11434/v1";

/// The window of the examples, in tokens.
const WINDOW: Option<u64> = Some(128_000);

/// The time limit of a whole call, and of a program.
const TOTAL: Duration = Duration::from_secs(180);

/// The model that a call to an endpoint names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    /// The session's model if the session uses this very endpoint, else the endpoint's default model.
    Auto,
    /// The model that the session uses at the time of the call.
    Main,
    /// The model with this name.
    Named(String),
}

impl ModelChoice {
    /// Reads `auto`, `main` or a name; None for an empty text.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        match text.trim() {
            "" => None,
            "auto" => Some(Self::Auto),
            "main" => Some(Self::Main),
            name => Some(Self::Named(name.to_owned())),
        }
    }
}

impl SummarizerConfig {
    /// Returns the endpoint of a summarizer; `None` if it has none.
    pub(crate) const fn endpoint(&self, kind: Kind) -> Option<&EndpointConfig> {
        match kind {
            Kind::OpenAi => self.openai.as_ref(),
            Kind::Anthropic => self.anthropic.as_ref(),
            Kind::Extractive | Kind::Command | Kind::Client => None,
        }
    }

    /// Whether the file has the table that this summarizer needs.
    pub(crate) const fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::Extractive | Kind::Client => true,
            Kind::OpenAi | Kind::Anthropic => self.endpoint(kind).is_some(),
            Kind::Command => self.command.is_some(),
        }
    }

    /// Checks that each summarizer of the chain has its table.
    pub(super) fn check(&self) -> Result<(), KeyError> {
        self.chain.iter().find(|kind| !self.has(**kind)).map_or(Ok(()), |kind| {
            let name = kind.name();
            let words = format!("has {name:?}, which needs a table [summarizer.{name}]");
            Err(KeyError::new(words).at("chain").at("summarizer"))
        })
    }
}

impl EndpointConfig {
    fn example(base_url: &'static str, variable: &str) -> Self {
        Self {
            base_url: url(base_url),
            api_key_env: Some(variable.to_owned()),
            context_length: WINDOW,
            ..Self::default()
        }
    }
}

#[expect(clippy::expect_used, reason = "only for the URLs of this file, which the tests read")]
pub(super) fn url(text: &'static str) -> Url {
    Url::parse(text).expect("a URL")
}

fn timeout() -> Format<Duration> {
    time(Duration::from_millis(1)..=Duration::from_hours(24))
}

fn response() -> Format<usize> {
    bytes(1 << 10..=64 << 20)
}

/// The names of summarizers: at least one, none twice.
fn chain() -> Format<Vec<Kind>> {
    let read = |said: &Value| {
        let mut kinds = Vec::new();
        for name in said.as_array().into_iter().flatten() {
            let text = name.as_str().unwrap_or_default();
            let kind = Kind::parse(text).ok_or_else(|| {
                let near = most_like(text, Kind::ALL.into_iter().map(Kind::name)).unwrap_or_default();
                KeyError::new(format!("has {name}, which is no summarizer; did you mean {near:?}?"))
            })?;
            if kinds.contains(&kind) {
                return Err(KeyError::new(format!("has {name} twice")));
            }
            kinds.push(kind);
        }
        if kinds.is_empty() { Err(KeyError::new("must name at least one summarizer")) } else { Ok(kinds) }
    };
    let show = |held: &Vec<Kind>| held.iter().map(|kind| kind.name()).collect::<Vec<_>>();
    Format::with_mistakes("", Kind::ALL.map(Kind::name).join(", "), read, show)
}

/// A URL to which paths can be appended. Error messages don't repeat it, because it may hold a key.
pub(super) fn base_url() -> Format<Url> {
    const FORM: &str = "a URL like \"http://127.0.0.1:11434/v1\"";
    let read = |said: &Value| {
        let url = said.as_str().and_then(|text| Url::parse(text.trim()).ok());
        let url = url.ok_or_else(|| KeyError::new(format!("must be {FORM}")))?;
        let words = if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            "must begin with http:// or https://"
        } else if !url.username().is_empty() || url.password().is_some() {
            "must have no user or password in it; a key goes into the variable that api_key_env names"
        } else if url.query().is_some() || url.fragment().is_some() {
            "must have no `?` or `#` in it: paths are appended to it"
        } else {
            return Ok(url);
        };
        Err(KeyError::new(words))
    };
    Format::with_mistakes(FORM, "http or https".to_owned(), read, |held| held.as_str().to_owned())
}

/// The name of a model, `auto` or `main`.
fn model() -> Format<ModelChoice> {
    let show = |held: &ModelChoice| match held {
        ModelChoice::Auto => "auto".to_owned(),
        ModelChoice::Main => "main".to_owned(),
        ModelChoice::Named(name) => name.clone(),
    };
    Format::new("", "a name, \"auto\" or \"main\"", |said| ModelChoice::parse(said.as_str()?), show)
}

/// The name of an environment variable. Error messages don't repeat it, because it may be the key itself.
pub(super) fn variable() -> Format<String> {
    const FORM: &str = "the name of an environment variable, never the key itself";
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '_';
    let is_name =
        move |name: &&str| !name.is_empty() && !name.starts_with(char::is_numeric) && name.chars().all(is_plain);
    let read = move |said: &Value| {
        let name = said.as_str().filter(is_name).map(str::to_owned);
        name.ok_or_else(|| KeyError::new(format!("must be {FORM}")))
    };
    Format::with_mistakes(FORM, String::new(), read, String::clone)
}

/// A program and its arguments. The arguments may be keys, so they are never shown or repeated.
pub(super) fn arguments() -> Format<Vec<String>> {
    const RANGE: &str = "a program and its arguments, like [\"llm\", \"-m\", \"some-model\"]";
    let argument = |said: &Value| said.as_str().filter(|text| !text.contains('\0')).map(str::to_owned);
    let read = move |said: &Value| {
        let argv = said.as_array().and_then(|argv| argv.iter().map(argument).collect::<Option<Vec<_>>>());
        let argv = argv.filter(|argv| argv.first().is_some_and(|program| !program.is_empty()));
        argv.ok_or_else(|| KeyError::new(format!("must be {RANGE}")))
    };
    let hidden = |held: &Vec<String>| (held.len() > 1).then(|| "…".to_owned());
    let show = move |held: &Vec<String>| held.iter().take(1).cloned().chain(hidden(held)).collect::<Vec<_>>();
    Format::with_mistakes("", RANGE.to_owned(), read, show)
}

#[cfg(test)]
mod tests;
