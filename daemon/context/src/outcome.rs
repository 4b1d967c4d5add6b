//! The reaction to a failed summary call: another model, or a pause before the next call.

mod cooldown;

pub use cooldown::{Cooldown, Cooldowns};

use crate::redaction::Redaction;
use crate::run::AuxFailure;
use crate::text::{cut_with, longer_than};

/// Chars of an error text that stay uncut.
const ERROR_CHARS: usize = 220;
/// The end of a cut text; text and mark together take [`ERROR_CHARS`].
const ERROR_MARK: &str = "...";
/// Seconds of pause if no provider is configured; only a person can fix that.
const NO_PROVIDER_S: u64 = 600;
/// Seconds of pause after a failure that is likely to pass: a broken stream, a garbled reply.
const PASSING_S: u64 = 30;
/// Seconds of pause after any other failure.
const OTHER_S: u64 = 60;

/// Statuses of an endpoint that does not serve the model.
const NOT_FOUND_STATUSES: [u16; 2] = [404, 503];
/// Statuses of an endpoint, or of a gateway before it, that took too long.
const TIMEOUT_STATUSES: [u16; 4] = [408, 429, 502, 504];
/// Texts of a missing configuration. Like all texts below they are lower-case.
const NO_PROVIDER_TEXTS: [&str; 3] =
    ["no provider configured", "no llm provider configured", "no provider is configured"];
/// Texts of a model that does not exist.
const NOT_FOUND_TEXTS: [&str; 3] = ["model_not_found", "does not exist", "no available channel"];
/// Texts of a call that took too long.
const TIMEOUT_TEXTS: [&str; 1] = ["timeout"];
/// Texts of a reply that is not JSON.
const JSON_TEXTS: [&str; 4] = ["jsondecodeerror", "json decode error", "json decoding error", "expecting value"];
/// Texts of a connection that failed or broke.
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
/// The error text if no provider is configured.
const NO_PROVIDER_ERROR: &str = "no provider configured for the summary";
/// The error text if the failed call gave no reason.
const NO_REASON: &str = "the call failed without a reason";
/// The error text of an empty reply.
const EMPTY_REPLY: &str = "the model replied with an empty summary";

/// A summary call without a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The HTTP status, if there was a reply.
    pub status: Option<u16>,
    /// The kind of the failure, if the caller knows it.
    pub kind: Option<FailureKind>,
    /// The error as reported; it may contain secrets and be of any length.
    pub text: String,
}

impl CallFailure {
    /// Returns the failure for a successful call with an empty reply.
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
    /// The connection failed or broke: DNS, TLS, a closed stream.
    Connection,
    /// A deadline of the caller passed.
    Timeout,
    /// Unknown; text and status decide the class.
    Other,
}

/// The class of a failure, as far as the reaction depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// No provider is configured; another model would not help.
    NoProvider,
    /// The endpoint does not serve the model.
    ModelNotFound,
    /// The endpoint took too long, as it reports itself.
    Timeout,
    /// The reply was not JSON.
    Json,
    /// The connection failed or broke; a caller's own timeout belongs here too (C22).
    Connection,
    /// Anything else, an empty reply included.
    Unknown,
}

impl Class {
    /// Returns the seconds before the same summarizer may be called again.
    pub fn cooldown_s(self) -> u64 {
        match self {
            Self::NoProvider => NO_PROVIDER_S,
            Self::Json | Self::Connection => PASSING_S,
            Self::ModelNotFound | Self::Timeout | Self::Unknown => OTHER_S,
        }
    }
}

/// Returns the class of a failure. If several classes match, the one with the shorter pause counts: a
/// gateway's 503 over a reset connection is a broken connection.
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

/// The models of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt<'a> {
    /// The configured summary model; an empty name counts as none.
    pub summary_model: Option<&'a str>,
    /// The model that the session itself uses now.
    pub main_model: &'a str,
    /// Whether the session fell back to its main model since the last success.
    pub has_fallen_back: bool,
}

/// The reaction to a failed call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Call the main model now, and use it from now on: set the session's flag and clear the summarizer's
    /// cooldown.
    RetryWithMain {
        /// The error of the failed model, to remember.
        aux_failure: AuxFailure,
    },
    /// There is no summary.
    GiveUp {
        /// Seconds before the same summarizer may be called for this session again.
        cooldown_s: u64,
        /// The reason to store, at most 220 chars, secrets masked.
        error: String,
    },
}

/// Decides the reaction to a failed call: one retry with the main model, whatever the failure, if another
/// model was called; else a pause.
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

/// Returns the error text to store and show. Secrets are masked always, and before the cut: a cut secret
/// might not be recognised.
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
