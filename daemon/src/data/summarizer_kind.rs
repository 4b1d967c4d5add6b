//! The names of the summarizers.

/// What writes a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The daemon itself, from the words of the conversation.
    Extractive,
    /// Any endpoint for chat completions.
    OpenAi,
    /// An endpoint for Anthropic's messages.
    Anthropic,
    /// A program.
    Command,
    /// The agent that asked for the compression.
    Client,
}

impl Kind {
    /// All of them.
    pub(crate) const ALL: [Self; 5] = [Self::Extractive, Self::OpenAi, Self::Anthropic, Self::Command, Self::Client];

    /// Its name, in the configuration and on the wire.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Extractive => "extractive",
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::Command => "command",
            Self::Client => "client",
        }
    }

    /// The summarizer of a name, exactly as it is written.
    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}
