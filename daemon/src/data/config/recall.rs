//! `[recall]`: the embedder that makes vectors of texts, so that a search also finds paraphrases.

use std::time::Duration;

use url::Url;

use super::format::{Format, Optional, switch, text, time, word};
use super::key::{KeyError, section};
use super::summarizer::{arguments, base_url, url, variable};

section! {
    /// Vectors for search, in addition to words.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct RecallConfig {
        /// The embedder, which gets the texts of messages, outputs and notes.
        pub embedder: EmbedderKind = EmbedderKind::Off, word(&EmbedderKind::NAMES);
        /// Whether hooks add the best places of earlier sessions to the first prompt of a session.
        pub at_prompt: bool = true, switch();
        /// How long a search waits for the vector of its query, before it uses words only.
        pub wait: Duration = Duration::from_secs(2), timeout();
        /// Any endpoint for embeddings, as OpenAI and most local servers offer them.
        pub openai: Option<EmbeddingEndpointConfig> = None, Optional(EmbeddingEndpointConfig::example());
        /// A program: texts on its standard input, vectors on its standard output, as JSON.
        pub command: Option<EmbeddingCommandConfig> = None, Optional(EmbeddingCommandConfig::default());
    }
}

section! {
    /// An endpoint for embeddings.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EmbeddingEndpointConfig {
        /// The URL to which `/embeddings` is appended.
        pub base_url: Url = url(LOCAL), base_url().required();
        /// The model to request.
        pub model: String = "all-minilm".to_owned(), text("a name").required();
        /// The variable with the API key; without it no key is sent.
        pub api_key_env: Option<String> = None, variable().optional();
        /// The time limit of a call with up to 32 texts.
        pub timeout: Duration = Duration::from_secs(60), timeout();
    }
}

section! {
    /// A program that makes vectors.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EmbeddingCommandConfig {
        /// The command, run without a shell.
        pub argv: Vec<String> = vec!["embed".to_owned()], arguments().required();
        /// The time limit for up to 32 texts.
        pub timeout: Duration = Duration::from_secs(60), timeout();
    }
}

/// The address of a model server on this machine.
const LOCAL: &str = "http://127.0.0.1:11434/v1";

/// The kind of the embedder, which makes vectors of texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbedderKind {
    /// No embedder.
    Off,
    /// An endpoint for embeddings.
    OpenAi,
    /// A program.
    Command,
}

impl EmbedderKind {
    const NAMES: [(&str, Self); 3] = [("off", Self::Off), ("openai", Self::OpenAi), ("command", Self::Command)];
}

impl EmbeddingEndpointConfig {
    fn example() -> Self {
        Self { api_key_env: Some("OPENAI_API_KEY".to_owned()), ..Self::default() }
    }
}

impl RecallConfig {
    /// Checks that the configured embedder has its table.
    pub(super) fn check(&self) -> Result<(), KeyError> {
        let name = match self.embedder {
            EmbedderKind::OpenAi if self.openai.is_none() => "openai",
            EmbedderKind::Command if self.command.is_none() => "command",
            _ => return Ok(()),
        };
        let words = format!("is {name:?}, which needs a table [recall.{name}]");
        Err(KeyError::new(words).at("embedder").at("recall"))
    }
}

fn timeout() -> Format<Duration> {
    time(Duration::from_millis(1)..=Duration::from_hours(1))
}
