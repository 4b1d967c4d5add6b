//! `[log]`: the daemon's log.

use super::format::{bytes, text, word};
use super::key::section;

section! {
    /// The daemon's log.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LogConfig {
        /// Which events; or HERMA_LOG.
        pub level: String = "info".into(), text("error, warn, info, debug, trace or a filter");
        /// What herma/hermad.log may have before it becomes hermad.log.1, in bytes; 0B for no limit.
        pub size: u64 = 8 << 20, bytes(..);
        /// How they are written.
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
