//! `[log]`: the daemon's log.

use super::format::{bytes, text, word};
use super::key::section;

section! {
    /// The daemon's log.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LogConfig {
        /// The events to log; HERMA_LOG overrides it.
        pub level: String = "info".into(), text("error, warn, info, debug, trace or a filter");
        /// The size at which herma/hermad.log is renamed to hermad.log.1; 0B means never.
        pub size: u64 = 8 << 20, bytes(..);
        /// The format of the log.
        pub format: LogFormat = LogFormat::Text, word(&[("text", LogFormat::Text), ("json", LogFormat::Json)]);
    }
}

/// The format of log lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// One JSON object per line.
    Json,
}
