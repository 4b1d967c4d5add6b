//! What the outcome of a summary call leads to: another model, or a pause before the next call.

mod cooldown;

pub use cooldown::{Cooldown, Cooldowns};

use crate::redaction::Redaction;
use crate::run::AuxFailure;
use crate::text::{cut_with, longer_than};

/// Chars of an error text that stay whole.
const ERROR_CHARS: usize = 220;
/// What ends a longer one; text and mark together take [`ERROR_CHARS`].
const ERROR_MARK: &str = "...";
/// Seconds of pause where no provider is configured: only a person can change that.
const NO_PROVIDER_S: u64 = 600;
/// Seconds of pause after what is likely to pass: a broken stream, a garbled reply.
const PASSING_S: u64 = 30;
/// Seconds of pause after any other failure.
const OTHER_S: u64 = 60;

/// Statuses with which an endpoint says that it does not serve the model.
const NOT_FOUND_STATUSES: [u16; 2] = [404, 503];
/// Statuses with which an endpoint, or what stands before it, says that it took too long.
const TIMEOUT_STATUSES: [u16; 4] = [408, 429, 502, 504];
/// Texts of a missing configuration, lower-case as all texts below.
const NO_PROVIDER_TEXTS: [&str; 3] =
    ["no provider configured", "no llm provider configured", "no provider is configured"];
/// Texts of a model that is not there.
const NOT_FOUND_TEXTS: [&str; 3] = ["model_not_found", "does not exist", "no available channel"];
/// Texts of a call that took too long.
const TIMEOUT_TEXTS: [&str; 1] = ["timeout"];
/// Texts of a reply that is no JSON.
const JSON_TEXTS: [&str; 4] = ["jsondecodeerror", "json decode error", "json decoding error", "expecting value"];
/// Texts of a connection that was not made or did not last.
const CONNECTION_TEXTS: [&str; 13] = [
    "connection refused",
    "connection reset",
    "name or service not known",
    "no route to host",
    "network is unreachable",
    "timed out",
    "incomplete chunked read",
    "peer closed connection",
    "response ended prematurely",
    "unexpected eof",
    "remoteprotocolerror",
    "localprotocolerror",
    "temporary failure in name resolution",
];
/// What the error says where no provider is configured.
const NO_PROVIDER_ERROR: &str = "no provider configured for the summary";
/// What the error says where the failed call said nothing.
const NO_REASON: &str = "the call failed without a reason";
/// What the error of an empty reply says.
const EMPTY_REPLY: &str = "the model replied with an empty summary";

/// A summary call that gave no summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The HTTP status, if there was a reply.
    pub status: Option<u16>,
    /// What the caller knows of the failure's kind.
    pub kind: Option<FailureKind>,
    /// The error as it was reported; it may hold secrets and be of any length.
    pub text: String,
}

impl CallFailure {
    /// A call that went through and gave nothing: that is a failure too.
    pub fn empty_reply() -> Self {
        Self { status: None, kind: None, text: EMPTY_REPLY.to_owned() }
    }
}

/// The kind of a failure, as the caller of the summarizer saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No provider is configured.
    NoProvider,
    /// The reply could not be read.
    Json,
    /// The connection was not made or broke: DNS, TLS, a closed stream.
    Connection,
    /// A deadline of the caller passed.
    Timeout,
    /// Text and status have to tell.
    Other,
}

/// What kind of failure a call ended with, as far as it matters for what follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// No provider is configured; another model would not help.
    NoProvider,
    /// The endpoint does not serve the model.
    ModelNotFound,
    /// The endpoint took too long, by its own account.
    Timeout,
    /// The reply was no JSON.
    Json,
    /// The connection was not made or broke; a caller's own timeout is among these (C22).
    Connection,
    /// Anything else, an empty reply included.
    Unknown,
}

impl Class {
    /// Seconds before the same summarizer may be called again.
    pub fn cooldown_s(self) -> u64 {
        match self {
            Self::NoProvider => NO_PROVIDER_S,
            Self::Json | Self::Connection => PASSING_S,
            Self::ModelNotFound | Self::Timeout | Self::Unknown => OTHER_S,
        }
    }
}

/// The class of a failure. A failure that several classes describe is in the one with the shorter
/// pause: a gateway's 503 over a reset connection is a broken connection.
pub fn classify(failure: &CallFailure) -> Class {
    match failure.kind {
        Some(FailureKind::NoProvider) => return Class::NoProvider,
        Some(FailureKind::Json) => return Class::Json,
        Some(FailureKind::Connection | FailureKind::Timeout) => return Class::Connection,
        Some(FailureKind::Other) | None => {}
    }
    let text = failure.text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|words| text.contains(words));
    let has = |statuses: &[u16]| failure.status.is_some_and(|status| statuses.contains(&status));
    if says(&NO_PROVIDER_TEXTS) {
        Class::NoProvider
    } else if says(&JSON_TEXTS) {
        Class::Json
    } else if says(&CONNECTION_TEXTS) {
        Class::Connection
    } else if has(&NOT_FOUND_STATUSES) || says(&NOT_FOUND_TEXTS) {
        Class::ModelNotFound
    } else if has(&TIMEOUT_STATUSES) || says(&TIMEOUT_TEXTS) {
        Class::Timeout
    } else {
        Class::Unknown
    }
}

/// With what the failed call was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt<'a> {
    /// The model that is set for summaries; the empty name counts as none.
    pub summary_model: Option<&'a str>,
    /// The model that the session itself uses now.
    pub main_model: &'a str,
    /// Whether the session fell back to its main model since the last success.
    pub has_fallen_back: bool,
}

/// What follows from a failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Call the main model at once, and use it from now on: set the session's flag and clear the
    /// summarizer's cooldown.
    RetryWithMain {
        /// What to remember of the model that failed.
        aux_failure: AuxFailure,
    },
    /// There is no summary.
    GiveUp {
        /// Seconds before the same summarizer may be called for this session again.
        cooldown_s: u64,
        /// What to store as the reason, at most 220 chars, secrets masked.
        error: String,
    },
}

/// Decides what follows from a failed call: one retry with the main model, whatever the failure
/// was, if another one was called; else a pause.
pub fn decide(failure: &CallFailure, attempt: &Attempt<'_>) -> Decision {
    let class = classify(failure);
    let error = error_text(failure, class);
    let other_model = attempt
        .summary_model
        .filter(|model| !model.is_empty() && *model != attempt.main_model && !attempt.main_model.is_empty());
    match other_model.filter(|_| class != Class::NoProvider && !attempt.has_fallen_back) {
        Some(model) => Decision::RetryWithMain { aux_failure: AuxFailure { model: model.to_owned(), error } },
        None => Decision::GiveUp { cooldown_s: class.cooldown_s(), error },
    }
}

/// The error as it may be stored and shown. Secrets are masked whatever is configured, and before
/// the cut, which could take from them what tells them.
fn error_text(failure: &CallFailure, class: Class) -> String {
    let text = failure.text.trim();
    let says_so = NO_PROVIDER_TEXTS.iter().any(|words| text.to_lowercase().contains(words));
    if class == Class::NoProvider && !says_so {
        return NO_PROVIDER_ERROR.to_owned();
    }
    if text.is_empty() {
        return NO_REASON.to_owned();
    }
    let masked = Redaction::On.apply(text);
    if longer_than(&masked, ERROR_CHARS) { cut_with(&masked, ERROR_CHARS, ERROR_MARK) } else { masked.into_owned() }
}

#[cfg(test)]
mod tests;
