//! The configuration of a run: sections and keys, their ranges and defaults.

mod read;

use serde::Serialize;

/// The checked configuration; every key has a value.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Config {
    /// The tokenizer that will read the data.
    pub tokenizer: Tokenizer,
    /// The target size of a trajectory.
    pub compression: Compression,
    /// The turns that stay.
    pub protected_turns: ProtectedTurns,
    /// The parameters of model calls.
    pub summarization: Summarization,
    /// The form of the output.
    pub output: Output,
    /// The parameters of processing.
    pub processing: Processing,
    /// The metrics that are written.
    pub metrics: Metrics,
}

/// `tokenizer`: for a caller that counts by itself; herma does not download it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tokenizer {
    /// Its name.
    pub name: String,
    /// Whether code that comes with it may run. Herma itself never runs such code.
    pub trust_remote_code: bool,
}

/// `compression`, in tokens.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compression {
    /// The most tokens of a trajectory; 1 to 100 million.
    pub target_max_tokens: u64,
    /// The desired tokens of a summary; 1 to a million.
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
    /// The number of turns at the end that stay; 0 to a million.
    pub last_n_turns: usize,
}

/// `summarization`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summarization {
    /// The model.
    pub model: String,
    /// The address of the endpoint.
    pub base_url: Option<String>,
    /// The environment variable with the key.
    pub api_key_env: Option<String>,
    /// 0 to 2; not sent to models that do not accept it.
    pub temperature: f64,
    /// The most calls for one summary; 1 to 20.
    pub max_retries: u32,
    /// Seconds before the second call, doubled after each; 0 to 600.
    pub retry_delay: f64,
}

/// `output`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Output {
    /// Whether the first system turn gets a notice about the summary.
    pub add_summary_notice: bool,
    /// The text of the notice, appended directly to the turn's own text.
    pub summary_notice_text: String,
    /// The suffix of an output's name if none is given; no `/`.
    pub output_suffix: String,
}

/// `processing`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Processing {
    /// The number of trajectories processed at one time; 1 to 64.
    pub num_workers: usize,
    /// The number of model calls at one time; 1 to 1,000.
    pub max_concurrent_requests: usize,
    /// Whether trajectories at or under the target stay unchanged.
    pub skip_under_target: bool,
    /// Whether trajectories that are still over the target are written too.
    pub save_over_limit: bool,
    /// The most seconds for one trajectory; 1 to 3,600.
    pub per_trajectory_timeout: u64,
}

/// `metrics`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Metrics {
    /// Whether metrics are written.
    pub enabled: bool,
    /// Whether each compressed trajectory gets its own metrics.
    pub per_trajectory: bool,
    /// The name of their file.
    pub output_file: String,
}

/// The model of a configuration that names none; no endpoint is called for it.
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

/// The error for an invalid configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The text is not YAML.
    #[error("not YAML: {0}")]
    Yaml(String),
    /// The value is not an object of sections.
    #[error("must be an object of sections: {}", Config::SECTIONS.join(", "))]
    NoSections,
    /// An unknown section.
    #[error("there is no section `{0}`; known are {known}", known = Config::SECTIONS.join(", "))]
    Section(String),
    /// An unknown key, or a value of the wrong type.
    #[error("{section}: {words}")]
    Key {
        /// Its section.
        section: &'static str,
        /// The error.
        words: String,
    },
    /// A value out of its range.
    #[error("{key} must be {range}")]
    Range {
        /// Section and key.
        key: &'static str,
        /// The allowed range.
        range: &'static str,
    },
}
