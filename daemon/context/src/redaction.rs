//! The one door to the guard's redaction.

use std::borrow::Cow;

use herma_guard::RedactOptions;

/// Whether secrets are masked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redaction {
    /// They are.
    On,
    /// The text passes as it is.
    Off,
}

impl From<&crate::Settings> for Redaction {
    fn from(settings: &crate::Settings) -> Self {
        match settings.redact {
            true => Self::On,
            false => Self::Off,
        }
    }
}

impl Redaction {
    /// `text` with secrets masked, if they are to be.
    pub(crate) fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::On => herma_guard::redact(text, RedactOptions::default()).text,
            Self::Off => Cow::Borrowed(text),
        }
    }
}
