//! Applies the given configuration over the defaults, and checks it.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{Compression, Config, ConfigError, Metrics, Output, Processing, ProtectedTurns, Summarization, Tokenizer};

impl Config {
    /// The sections.
    pub const SECTIONS: [&str; 7] =
        ["tokenizer", "compression", "protected_turns", "summarization", "output", "processing", "metrics"];

    /// Reads YAML. An empty text is a configuration without a key.
    ///
    /// # Errors
    /// Returns an error for a text that is not YAML, and every error of [`Config::from_value`].
    pub fn from_yaml(text: &str) -> Result<Self, ConfigError> {
        let value = serde_saphyr::from_str::<Value>(text).map_err(|error| {
            let words = error.to_string();
            let first = words.lines().next().unwrap_or_default();
            ConfigError::Yaml(first.trim_start_matches("error: ").to_owned())
        })?;
        Self::from_value(value)
    }

    /// Reads an object of sections; null counts as absent everywhere.
    ///
    /// # Errors
    /// Returns an error for an unknown section or key, and for a value of the wrong type or out of its range.
    pub fn from_value(value: Value) -> Result<Self, ConfigError> {
        let mut sections = match value {
            Value::Null => Map::new(),
            Value::Object(sections) => sections,
            _ => return Err(ConfigError::NoSections),
        };
        if let Some(name) = sections.keys().find(|name| !Self::SECTIONS.contains(&name.as_str())) {
            return Err(ConfigError::Section(name.chars().take(80).collect()));
        }
        let config = Self {
            tokenizer: section::<RawTokenizer>(&mut sections, "tokenizer")?.into(),
            compression: section::<RawCompression>(&mut sections, "compression")?.into(),
            protected_turns: section::<RawProtectedTurns>(&mut sections, "protected_turns")?.into(),
            summarization: section::<RawSummarization>(&mut sections, "summarization")?.into(),
            output: section::<RawOutput>(&mut sections, "output")?.into(),
            processing: section::<RawProcessing>(&mut sections, "processing")?.into(),
            metrics: section::<RawMetrics>(&mut sections, "metrics")?.into(),
        };
        config.checked()
    }

    fn checked(self) -> Result<Self, ConfigError> {
        let Self { compression, protected_turns, summarization, output, processing, metrics, .. } = &self;
        let ranges = [
            (
                (1..=100_000_000).contains(&compression.target_max_tokens),
                "compression.target_max_tokens",
                "1 to 100,000,000",
            ),
            (
                (1..=1_000_000).contains(&compression.summary_target_tokens),
                "compression.summary_target_tokens",
                "1 to 1,000,000",
            ),
            (protected_turns.last_n_turns <= 1_000_000, "protected_turns.last_n_turns", "0 to 1,000,000"),
            ((0.0..=2.0).contains(&summarization.temperature), "summarization.temperature", "0 to 2"),
            ((1..=20).contains(&summarization.max_retries), "summarization.max_retries", "1 to 20"),
            ((0.0..=600.0).contains(&summarization.retry_delay), "summarization.retry_delay", "0 to 600 seconds"),
            (!output.output_suffix.contains('/'), "output.output_suffix", "without a /"),
            ((1..=64).contains(&processing.num_workers), "processing.num_workers", "1 to 64"),
            (
                (1..=1000).contains(&processing.max_concurrent_requests),
                "processing.max_concurrent_requests",
                "1 to 1,000",
            ),
            (
                (1..=3600).contains(&processing.per_trajectory_timeout),
                "processing.per_trajectory_timeout",
                "1 to 3,600 seconds",
            ),
            (!metrics.output_file.is_empty(), "metrics.output_file", "the name of a file"),
        ];
        match ranges.iter().find(|(is_fine, ..)| !is_fine) {
            Some((_, key, range)) => Err(ConfigError::Range { key, range }),
            None => Ok(self),
        }
    }
}

fn section<T: DeserializeOwned + Default>(
    sections: &mut Map<String, Value>,
    section: &'static str,
) -> Result<T, ConfigError> {
    match sections.remove(section) {
        None | Some(Value::Null) => Ok(T::default()),
        Some(value) => {
            serde_json::from_value(value).map_err(|error| ConfigError::Key { section, words: error.to_string() })
        }
    }
}

/// Declares a section as written, and its conversion into a checked one with defaults for absent keys.
macro_rules! raw {
    ($raw:ident => $checked:ident { $($key:ident: $type:ty),* $(,)? } $({ $($plain:ident: $plain_type:ty),* })?) => {
        #[derive(Debug, Default, Deserialize)]
        #[serde(default, deny_unknown_fields)]
        struct $raw {
            $($key: Option<$type>,)*
            $($($plain: Option<$plain_type>,)*)?
        }

        impl From<$raw> for $checked {
            fn from(raw: $raw) -> Self {
                let default = Self::default();
                Self {
                    $($key: raw.$key.unwrap_or(default.$key),)*
                    $($($plain: raw.$plain,)*)?
                }
            }
        }
    };
}

raw!(RawTokenizer => Tokenizer { name: String, trust_remote_code: bool });
raw!(RawCompression => Compression { target_max_tokens: u64, summary_target_tokens: u64 });
raw!(RawProtectedTurns => ProtectedTurns {
    first_system: bool,
    first_human: bool,
    first_gpt: bool,
    first_tool: bool,
    last_n_turns: usize,
});
raw!(RawSummarization => Summarization {
    model: String,
    temperature: f64,
    max_retries: u32,
    retry_delay: f64,
} { base_url: String, api_key_env: String });
raw!(RawOutput => Output { add_summary_notice: bool, summary_notice_text: String, output_suffix: String });
raw!(RawProcessing => Processing {
    num_workers: usize,
    max_concurrent_requests: usize,
    skip_under_target: bool,
    save_over_limit: bool,
    per_trajectory_timeout: u64,
});
raw!(RawMetrics => Metrics { enabled: bool, per_trajectory: bool, output_file: String });
