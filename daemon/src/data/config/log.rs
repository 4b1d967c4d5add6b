//! `[log]`: what the daemon tells of its work.

use super::format::{text, word};
use super::key::section;

section! {
    /// The log.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LogConfig {
        /// Which events; or HERMA_LOG.
        pub level: String = "info".into(), text("error, warn, info, debug, trace or a filter");
        /// How they are written.
        pub format: LogFormat = LogFormat::Text, word(&[("text", LogFormat::Text), ("json", LogFormat::Json)]);
    }
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
