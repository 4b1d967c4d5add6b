//! `context.manual`: what a command of a person needs.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Json;

/// Params of `context.manual`: those of one of its four questions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ManualParams {
    /// The arguments of the command, to be parsed.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// A conversation to be split.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub history: Option<Vec<Json>>,
    /// Exchanges that stay, with `history`.
    pub keep: Option<u64>,
    /// The compressed part of a conversation to be joined.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub head: Option<Vec<Json>>,
    /// The part that stayed.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tail: Option<Vec<Json>>,
    /// The conversation before, to be told about.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub before: Option<Vec<Json>>,
    /// The conversation after.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub after: Option<Vec<Json>>,
    /// Tokens before.
    pub tokens_before: Option<u64>,
    /// Tokens after.
    pub tokens_after: Option<u64>,
}

/// Result of `context.manual`: the answer to the question that was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ManualResult {
    /// To `text`.
    Parsed {
        /// Whether the latest exchanges stay.
        partial: bool,
        /// How many.
        keep: u64,
        /// A topic to keep most of.
        focus: Option<String>,
    },
    /// To `history` and `keep`.
    Split {
        /// What is to be compressed.
        #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
        head: Vec<Json>,
        /// What stays.
        #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
        tail: Vec<Json>,
    },
    /// To `head` and `tail`.
    Rejoined {
        /// Both as one valid list.
        #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
        messages: Vec<Json>,
    },
    /// To `before` and `after`.
    Feedback {
        /// Nothing changed.
        noop: bool,
        /// A line for people.
        headline: String,
        /// A line about the size.
        token_line: String,
        /// A further sentence, where one is needed.
        note: Option<String>,
    },
}

impl<'de> Deserialize<'de> for ManualResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Members {
            partial: Option<bool>,
            keep: Option<u64>,
            focus: Option<String>,
            #[serde(default, with = "crate::attached")]
            head: Option<Vec<Json>>,
            #[serde(default, with = "crate::attached")]
            tail: Option<Vec<Json>>,
            #[serde(default, with = "crate::attached")]
            messages: Option<Vec<Json>>,
            noop: Option<bool>,
            headline: Option<String>,
            token_line: Option<String>,
            note: Option<String>,
        }
        let members = Members::deserialize(deserializer)?;
        match members {
            Members { partial: Some(partial), keep: Some(keep), focus, .. } => {
                Ok(Self::Parsed { partial, keep, focus })
            }
            Members { head: Some(head), tail: Some(tail), .. } => Ok(Self::Split { head, tail }),
            Members { messages: Some(messages), .. } => Ok(Self::Rejoined { messages }),
            Members { noop: Some(noop), headline: Some(headline), token_line: Some(token_line), note, .. } => {
                Ok(Self::Feedback { noop, headline, token_line, note })
            }
            _ => Err(D::Error::custom("an answer of context.manual that is not known")),
        }
    }
}
