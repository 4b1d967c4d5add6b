//! A stand-in until the summarizers are there.
#![allow(dead_code, reason = "a stand-in")]

/// What writes a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The daemon itself.
    Extractive,
    /// Chat completions.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// A program.
    Command,
    /// The agent.
    Client,
}

impl Kind {
    pub(crate) const ALL: [Self; 5] = [Self::Extractive, Self::OpenAi, Self::Anthropic, Self::Command, Self::Client];
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Command => "command",
            Self::Client => "client",
        }
    }
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Main {
    pub model: Option<String>,
    pub provider: Option<String>,
    pub base_url: Option<String>,
    pub api_mode: Option<String>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub prompt: &'a str,
    pub max_tokens: u64,
    pub model: Option<&'a str>,
    pub main: &'a Main,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub text: String,
    pub model: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Failure {
    pub status: Option<u16>,
    pub kind: FailureKind,
    pub retry_after_s: Option<f64>,
    pub text: String,
    pub model: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    NoProvider,
    Json,
    Connection,
    Timeout,
    Other,
}

#[derive(Debug)]
pub(crate) struct Summarizers;

impl Summarizers {
    pub(crate) fn chain(&self) -> &[Kind] {
        &[Kind::Extractive]
    }
    pub(crate) const fn is_configured(&self, kind: Kind) -> bool {
        matches!(kind, Kind::Extractive | Kind::Client)
    }
    pub(crate) fn context_length(&self, _: Kind) -> Option<u64> {
        None
    }
    pub(crate) async fn write(&self, _: Kind, call: Call<'_>) -> Result<Written, Failure> {
        std::future::pending::<()>().await;
        Ok(Written { text: call.prompt.to_owned(), model: String::new() })
    }
}
