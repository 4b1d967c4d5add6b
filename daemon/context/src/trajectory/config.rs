//! The configuration of a run: sections and keys, what they may be, and what they are by default.

mod read;

use serde::Serialize;

/// The checked configuration; every key has a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Config {
    /// The tokenizer that the data is meant for.
    pub tokenizer: Tokenizer,
    /// How short a trajectory is to be.
    pub compression: Compression,
    /// Which turns stay.
    pub protected_turns: ProtectedTurns,
    /// How a model is asked.
    pub summarization: Summarization,
    /// What is written.
    pub output: Output,
    /// How the work is done.
    pub processing: Processing,
    /// What is told of it.
    pub metrics: Metrics,
}

/// `tokenizer`: for a caller that counts by itself; herma fetches none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tokenizer {
    /// Its name.
    pub name: String,
    /// Whether code that comes with it may run. Nothing of herma runs such code.
    pub trust_remote_code: bool,
}

/// `compression`, in tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compression {
    /// What a trajectory may have; 1 to 100 million.
    pub target_max_tokens: u64,
    /// What a summary is to have; 1 to a million.
    pub summary_target_tokens: u64,
}

/// `protected_turns`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProtectedTurns {
    /// The first system turn stays.
    pub first_system: bool,
    /// The first human turn stays.
    pub first_human: bool,
    /// The first gpt turn stays.
    pub first_gpt: bool,
    /// The first tool turn stays.
    pub first_tool: bool,
    /// So many turns at the end stay; 0 to a million.
    pub last_n_turns: usize,
}

/// `summarization`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summarization {
    /// The model.
    pub model: String,
    /// Where it is served.
    pub base_url: Option<String>,
    /// The environment variable with the key.
    pub api_key_env: Option<String>,
    /// 0 to 2; not sent to models that take none.
    pub temperature: f64,
    /// Calls for one summary; 1 to 20.
    pub max_retries: u32,
    /// Seconds before the second call, doubled with each; 0 to 600.
    pub retry_delay: f64,
}

/// `output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Whether the first system turn is told that there is a summary.
    pub add_summary_notice: bool,
    /// In these words, which are put right behind its own.
    pub summary_notice_text: String,
    /// What the name of an output gets where none is given; no `/`.
    pub output_suffix: String,
}

/// `processing`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Processing {
    /// Trajectories that are worked on at one time; 1 to 64.
    pub num_workers: usize,
    /// Calls of models at one time; 1 to 1,000.
    pub max_concurrent_requests: usize,
    /// Trajectories at or under the target stay as they are.
    pub skip_under_target: bool,
    /// Trajectories that are still over the target are written, too.
    pub save_over_limit: bool,
    /// Seconds that one trajectory may take; 1 to 3,600.
    pub per_trajectory_timeout: u64,
}

/// `metrics`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Metrics {
    /// Whether they are written.
    pub enabled: bool,
    /// Whether each compressed trajectory gets its own.
    pub per_trajectory: bool,
    /// The name of their file.
    pub output_file: String,
}

/// What a configuration without a model of its own names; no endpoint is asked for it.
pub const DEFAULT_MODEL: &str = "google/gemini-3-flash-preview";

impl Default for Tokenizer {
    fn default() -> Self {
        Self { name: "moonshotai/Kimi-K2-Thinking".to_owned(), trust_remote_code: true }
    }
}

impl Default for Compression {
    fn default() -> Self {
        Self { target_max_tokens: 15_250, summary_target_tokens: 750 }
    }
}

impl Default for ProtectedTurns {
    fn default() -> Self {
        Self { first_system: true, first_human: true, first_gpt: true, first_tool: true, last_n_turns: 4 }
    }
}

impl Default for Summarization {
    fn default() -> Self {
        Self {
            model: DEFAULT_MODEL.to_owned(),
            base_url: None,
            api_key_env: None,
            temperature: 0.3,
            max_retries: 3,
            retry_delay: 2.0,
        }
    }
}

impl Default for Output {
    fn default() -> Self {
        Self {
            add_summary_notice: true,
            summary_notice_text: "\n\nA summary stands for some of the earlier turns, to save context.".to_owned(),
            output_suffix: "_compressed".to_owned(),
        }
    }
}

impl Default for Processing {
    fn default() -> Self {
        Self {
            num_workers: 4,
            max_concurrent_requests: 50,
            skip_under_target: true,
            save_over_limit: true,
            per_trajectory_timeout: 300,
        }
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self { enabled: true, per_trajectory: true, output_file: "compression_metrics.json".to_owned() }
    }
}

/// Why a configuration can't be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// Not YAML.
    #[error("not YAML: {0}")]
    Yaml(String),
    /// Not an object of sections.
    #[error("must be an object of sections: {}", Config::SECTIONS.join(", "))]
    NoSections,
    /// A section that there is not.
    #[error("there is no section `{0}`; known are {known}", known = Config::SECTIONS.join(", "))]
    Section(String),
    /// A key that there is not, or a value of the wrong type.
    #[error("{section}: {words}")]
    Key {
        /// Its section.
        section: &'static str,
        /// What is wrong.
        words: String,
    },
    /// A value out of its range.
    #[error("{key} must be {range}")]
    Range {
        /// Section and key.
        key: &'static str,
        /// What it may be.
        range: &'static str,
    },
}
