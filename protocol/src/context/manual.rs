//! `context.manual`: support for a command that a person types to compress a conversation.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Json;

/// Params of `context.manual`: the fields for one of its four requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ManualParams {
    /// The arguments of the command, to parse.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub text: Option<String>,
    /// A conversation to split.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub history: Option<Vec<Json>>,
    /// With `history`: the number of latest exchanges that stay.
    pub keep: Option<u64>,
    /// The compressed part of a conversation, to join with `tail`.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub head: Option<Vec<Json>>,
    /// The part that was not compressed.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub tail: Option<Vec<Json>>,
    /// The conversation before the compression, for a message to the user.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub before: Option<Vec<Json>>,
    /// The conversation after the compression.
    #[serde(default, serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
    pub after: Option<Vec<Json>>,
    /// Tokens before.
    pub tokens_before: Option<u64>,
    /// Tokens after.
    pub tokens_after: Option<u64>,
}

/// Result of `context.manual`: one variant for each of the four requests.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ManualResult {
    /// For `text`.
    Parsed {
        /// Whether the latest exchanges stay uncompressed.
        partial: bool,
        /// How many of them stay.
        keep: u64,
        /// A topic to keep in most detail.
        focus: Option<String>,
    },
    /// For `history` and `keep`.
    Split {
        /// The messages to compress.
        #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
        head: Vec<Json>,
        /// The messages that stay.
        #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
        tail: Vec<Json>,
    },
    /// For `head` and `tail`.
    Rejoined {
        /// Both parts as one valid list.
        #[serde(serialize_with = "crate::attached::serialize", deserialize_with = "crate::attached::deserialize")]
        messages: Vec<Json>,
    },
    /// For `before` and `after`.
    Feedback {
        /// Whether nothing changed.
        noop: bool,
        /// A line for the user.
        headline: String,
        /// A line about the size.
        token_line: String,
        /// An additional sentence, if one is needed.
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
