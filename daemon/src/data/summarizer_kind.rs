//! The names of the summarizers.

/// The kind of a summarizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The daemon itself, which extracts words of the conversation.
    Extractive,
    /// Any endpoint for chat completions.
    OpenAi,
    /// An endpoint for Anthropic's messages.
    Anthropic,
    /// A program.
    Command,
    /// The agent that requested the compression.
    Client,
}

impl Kind {
    /// All kinds.
    pub(crate) const ALL: [Self; 5] = [Self::Extractive, Self::OpenAi, Self::Anthropic, Self::Command, Self::Client];

    /// Returns its name in the configuration and on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Command => "command",
            Self::Client => "client",
        }
    }

    /// Returns the summarizer with exactly this name.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
