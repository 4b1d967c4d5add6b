//! The only access to the guard's redaction.

mod capture;
mod message;

use std::borrow::Cow;
use std::sync::LazyLock;

use herma_guard::{MaskStyle, RedactOptions};

use self::message::TextChange;
use crate::message::Message;
use crate::pattern::Pattern;

pub use self::capture::{Capture, CaptureCounts, Scrub};

/// The replacement for a secret that is removed entirely.
const REMOVED: &str = "[REDACTED]";

/// GitHub's tokens, also short ones that the guard misses, and cut ones.
static GITHUB_TOKEN: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(r"(?:gh[pousr]_|github_pat_)(?:[A-Za-z0-9_]{0,12}\.\.\.[A-Za-z0-9_]*|[A-Za-z0-9_]{4,})")
});

/// How secrets are handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Redaction {
    /// They are masked: the two ends of a long secret stay.
    On,
    /// They are removed entirely, also those that were masked before.
    Full,
    /// The text is unchanged.
    Off,
}

impl From<&crate::Settings> for Redaction {
    fn from(settings: &crate::Settings) -> Self {
        if settings.redact { Self::On } else { Self::Off }
    }
}

impl Redaction {
    /// Returns a message as JSON text, with the secrets of its text and its calls' arguments masked or
    /// removed.
    #[must_use]
    pub fn json(self, message: String) -> String {
        self.message(&Message::of_json(message)).raw().to_owned()
    }

    /// Returns the mode for a text that no model wrote: secrets are removed entirely, unless redaction is
    /// off.
    pub(crate) fn without_model(self) -> Self {
        match self {
            Self::On | Self::Full => Self::Full,
            Self::Off => Self::Off,
        }
    }

    /// Returns `text` with its secrets masked or removed, depending on the mode.
    pub fn apply(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::On => herma_guard::redact(text, RedactOptions::default()).text,
            Self::Full => match GITHUB_TOKEN.replace_all(text, REMOVED) {
                Cow::Borrowed(text) => removed(text),
                Cow::Owned(text) => Cow::Owned(removed(&text).into_owned()),
            },
            Self::Off => Cow::Borrowed(text),
        }
    }
}

impl TextChange for Redaction {
    fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.apply(text)
    }

    fn secret_value<'t>(&self, text: &'t str) -> Cow<'t, str> {
        match self {
            Self::Full => REMOVED.into(),
            Self::On => herma_guard::mask(&self.apply(text)).into(),
            Self::Off => text.into(),
        }
    }
}

fn removed(text: &str) -> Cow<'_, str> {
    herma_guard::redact(text, RedactOptions { shown: MaskStyle::Nothing, ..RedactOptions::default() }).text
}
