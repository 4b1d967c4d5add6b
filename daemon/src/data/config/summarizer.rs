//! What writes summaries: the checked form of `[summarizer]`.

use std::time::Duration;

use reqwest::Url;

use crate::data::summarizer_kind::Kind;

/// What writes summaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SummarizerConfig {
    /// The summarizers in the order in which they are tried: at least one, none twice, each
    /// with its table.
    pub chain: Vec<Kind>,
    /// An endpoint for chat completions.
    pub openai: Option<EndpointConfig>,
    /// An endpoint for Anthropic's messages.
    pub anthropic: Option<EndpointConfig>,
    /// A program.
    pub command: Option<CommandConfig>,
}

/// A model behind HTTP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointConfig {
    /// What paths are appended to: http or https, without user, query and fragment.
    pub base_url: Url,
    /// Which model is asked for.
    pub model: ModelChoice,
    /// The environment variable that holds the key. None: no key is sent.
    pub api_key_env: Option<String>,
    /// The model's window, in tokens, where it is known.
    pub context_length: Option<u64>,
    /// Longest time until a connection stands, its TLS included.
    pub connect_timeout: Duration,
    /// Longest time without a byte of the answer's body; also the longest time from the start of
    /// a call to the end of the answer's headers.
    pub read_timeout: Duration,
    /// Longest time for the whole call.
    pub total_timeout: Duration,
    /// Largest answer, in bytes.
    pub max_response: usize,
}

/// A program that reads a prompt and prints a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandConfig {
    /// Program and arguments, at least the program. No shell sees them.
    pub argv: Vec<String>,
    /// The window of the model behind it, in tokens, where it is known.
    pub context_length: Option<u64>,
    /// Longest time that it may run.
    pub timeout: Duration,
    /// Largest summary, in bytes.
    pub max_response: usize,
}

/// Which model an endpoint is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelChoice {
    /// The session's model where its runtime is this very endpoint, else the one that the
    /// endpoint takes by itself.
    Auto,
    /// The model that the session uses at the moment of the call.
    Main,
    /// This one.
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

impl Default for SummarizerConfig {
    fn default() -> Self {
        Self { chain: vec![Kind::Extractive], openai: None, anthropic: None, command: None }
    }
}

impl SummarizerConfig {
    /// Whether a summarizer has all that it needs from the file.
    pub(crate) const fn has(&self, kind: Kind) -> bool {
        match kind {
            Kind::Extractive | Kind::Client => true,
            Kind::OpenAi => self.openai.is_some(),
            Kind::Anthropic => self.anthropic.is_some(),
            Kind::Command => self.command.is_some(),
        }
    }
}
