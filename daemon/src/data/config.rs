//! The configuration in force: a raw form is read, then turned into this checked
//! one, which has no options left.

mod raw;
mod show;
mod summarizer;
mod units;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use herma_disk::{DiskError, file};
use herma_guard::Policy;
use herma_memory::Target;
use herma_protocol::limits;
use herma_spill::Budgets;

pub use self::show::{Setting, Source, TEMPLATE, as_file, settings};
pub use self::summarizer::{CommandConfig, EndpointConfig, ModelChoice, SummarizerConfig};

/// Largest configuration file, in bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// Everything that can be configured, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The home, absolute.
    pub home: PathBuf,
    /// The socket.
    pub socket: PathBuf,
    /// The stores.
    pub memory: MemoryConfig,
    /// Whether secrets are masked unless a call says otherwise.
    pub redact: bool,
    /// What blocks, what is only told, and what is not looked for.
    pub policy: Arc<Policy>,
    /// Budgets of tool outputs.
    pub output: Budgets,
    /// Whether those budgets follow the model's window.
    pub scale_with_window: bool,
    /// How long outputs stay.
    pub retention: RetentionConfig,
    /// What a session starts with.
    pub context: ContextConfig,
    /// What writes summaries.
    pub summarizer: SummarizerConfig,
    /// The limits of the wire.
    pub limits: LimitsConfig,
    /// The log.
    pub log: LogConfig,
}

/// The stores.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryConfig {
    /// What they may hold, in profiles that have no limits of their own.
    pub limits: StoreLimits,
    /// Whether writes wait for a person's approval.
    pub approval: bool,
    /// Revisions that a journal keeps at least, from 1.
    pub journal_revisions: usize,
    /// Limits of single profiles.
    pub profiles: BTreeMap<String, StoreLimits>,
}

/// Limits of a profile's stores, in chars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreLimits {
    /// Of MEMORY.md.
    pub memory_limit: usize,
    /// Of USER.md.
    pub user_limit: usize,
}

impl MemoryConfig {
    /// The limits of a profile's stores.
    #[must_use]
    pub fn limits(&self, profile: &str) -> StoreLimits {
        self.profiles.get(profile).copied().unwrap_or(self.limits)
    }
}

impl StoreLimits {
    /// The limit of one store.
    #[must_use]
    pub const fn of(self, target: Target) -> usize {
        match target {
            Target::Memory => self.memory_limit,
            Target::User => self.user_limit,
        }
    }
}

/// How long outputs stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionConfig {
    /// Seconds after which an output of a closed session goes.
    pub ttl: u64,
    /// Bytes that all outputs may have together.
    pub quota: u64,
}

/// What a session starts with, unless `context.configure` says otherwise.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextConfig {
    /// Whether `context.check` ever says that a compression is due.
    pub enabled: bool,
    /// Fraction of the window at which to compress, above 0 and up to 1.
    pub threshold: f64,
    /// Fraction of the threshold that the tail may fill, 0.10 to 0.80.
    pub target_ratio: f64,
    /// Messages after the system message that are never compressed.
    pub protect_first_n: u64,
    /// Latest messages that pruning leaves alone.
    pub protect_last_n: u64,
    /// What a compression does to its session.
    pub mode: CompressionMode,
    /// Whether a compression gives up when no summarizer writes a summary; otherwise the
    /// extractive one stands in.
    pub abort_on_summary_failure: bool,
    /// Compressions in any hour of one session that `context.check` lets through; 0 for
    /// no limit, at most 1,000.
    pub max_per_hour: u32,
    /// New text between two of them, as a fraction of the window, 0 to 1.
    pub min_new_text: f64,
    /// Messages from which on a list is compressed however few tokens it has, for gateways that
    /// hold many conversations; 0 for none.
    pub hygiene_messages: usize,
}

/// What a compression does to its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionMode {
    /// The same session goes on, one generation later.
    InPlace,
    /// The session ends, and a new one goes on.
    Continue,
}

/// Limits of the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LimitsConfig {
    /// Largest frame or line, in bytes.
    pub frame: usize,
    /// Bytes in flight of all connections.
    pub in_flight: usize,
    /// Connections at one time.
    pub connections: usize,
}

/// The log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogConfig {
    /// Which events: a level, or tracing's filter syntax.
    pub level: String,
    /// How they are written.
    pub format: LogFormat,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// Why a configuration can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is no TOML, or has a key that doesn't exist.
    #[error("{}: {words}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong and where.
        words: String,
    },
    /// A value is out of its range.
    #[error("{}: `{key}` {words}", path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Section and key.
        key: String,
        /// What it must be.
        words: String,
    },
}

impl Config {
    /// The configuration of a home that has no file.
    #[must_use]
    pub fn for_home(home: PathBuf, socket: PathBuf) -> Self {
        Self {
            home,
            socket,
            memory: MemoryConfig {
                limits: StoreLimits { memory_limit: 2200, user_limit: 1375 },
                approval: false,
                journal_revisions: 1000,
                profiles: BTreeMap::new(),
            },
            redact: true,
            policy: Arc::default(),
            output: Budgets::default(),
            scale_with_window: true,
            retention: RetentionConfig { ttl: 7 * 24 * 3600, quota: 2 << 30 },
            context: ContextConfig {
                enabled: true,
                threshold: 0.50,
                target_ratio: 0.20,
                protect_first_n: 3,
                protect_last_n: 20,
                mode: CompressionMode::InPlace,
                abort_on_summary_failure: false,
                max_per_hour: 6,
                min_new_text: 0.02,
                hygiene_messages: 0,
            },
            summarizer: SummarizerConfig::default(),
            limits: LimitsConfig {
                frame: limits::FRAME,
                in_flight: limits::IN_FLIGHT,
                connections: limits::CONNECTIONS,
            },
            log: LogConfig { level: "info".into(), format: LogFormat::Text },
        }
    }

    /// Where the file of a home is.
    #[must_use]
    pub fn file(home: &Path) -> PathBuf {
        home.join("herma").join("config.toml")
    }

    /// Reads the file of the home; one that is missing changes nothing.
    ///
    /// # Errors
    /// A file that can't be read, an unknown key, or a value out of its range.
    pub fn load(home: PathBuf, socket: PathBuf) -> Result<Self, ConfigError> {
        let path = Self::file(&home);
        Ok(Self::load_from(home, socket, &path)?.0)
    }

    /// The same from another file, with the text of that, if there is one.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_from(home: PathBuf, socket: PathBuf, path: &Path) -> Result<(Self, Option<String>), ConfigError> {
        let config = Self::for_home(home, socket);
        match file::read_text(path, FILE_LIMIT)? {
            None => Ok((config, None)),
            Some((text, _)) => Ok((raw::apply(config, &text, path)?, Some(text))),
        }
    }

    /// What a file with this text makes of the defaults, or why it can't be used.
    #[cfg(test)]
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        let config = Self::for_home("/h".into(), "/h/s".into());
        raw::apply(config, text, Path::new("config.toml")).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use herma_guard::{Scope, Treatment};

    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        Config::read(text)
    }

    #[test]
    fn what_is_absent_keeps_its_default() {
        assert_eq!(read("").unwrap(), Config::for_home("/h".into(), "/h/s".into()));
        let config = read("[memory]\nmemory_limit = 3_000\n[limits]\nframe = \"1MiB\"\n[output.tool_overrides]\ngrep = 5\nlog = \"inf\"")
            .unwrap();
        assert_eq!(config.memory.limits, StoreLimits { memory_limit: 3000, user_limit: 1375 });
        assert_eq!(config.limits.frame, 1 << 20);
        assert_eq!(config.output.tool_overrides.len(), 2);
        let retention = read("[output]\nttl = \"12h\"\nquota = \"1MiB\"").unwrap().retention;
        assert_eq!(retention, RetentionConfig { ttl: 12 * 3600, quota: 1 << 20 });
    }

    #[test]
    fn a_session_starts_with_what_is_configured() {
        let text = "[context]\nenabled = false\nengine = \"compressor\"\nmode = \"continue\"\n\
                    abort_on_summary_failure = true\nmax_per_hour = 0\nmin_new_text = 0.0\n\
                    hygiene_messages = 400";
        let context = read(text).unwrap().context;
        assert!(!context.enabled && context.abort_on_summary_failure);
        assert_eq!((context.mode, context.max_per_hour), (CompressionMode::Continue, 0));
        assert!(context.min_new_text.abs() < f64::EPSILON);
        assert_eq!(context.hygiene_messages, 400);
    }

    #[test]
    fn profiles_can_have_limits_of_their_own() {
        let memory = read("[memory]\nuser_limit = 99\n[memory.profiles.work]\nmemory_limit = 5000").unwrap().memory;
        assert_eq!(memory.limits("work"), StoreLimits { memory_limit: 5000, user_limit: 99 });
        assert_eq!(memory.limits("home"), StoreLimits { memory_limit: 2200, user_limit: 99 });
    }

    #[test]
    fn severities_are_set_for_all_scopes_or_for_one() {
        let text = "[guard.severity]\nexfil_curl = \"off\"\nsend_to_url = { strict = \"warn\" }";
        let policy = read(text).unwrap().policy;
        let treatment = |id: &str, scope| policy.treatment(id.parse().unwrap(), scope);
        assert_eq!(treatment("exfil_curl", Scope::All), Treatment::Off);
        assert_eq!(treatment("exfil_curl", Scope::Strict), Treatment::Off);
        assert_eq!(treatment("send_to_url", Scope::Strict), Treatment::Warn);
        assert_eq!(treatment("exfil_wget", Scope::Strict), Treatment::Block);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, words) in [
            ("[memory]\nmemory_limits = 1", &["line 2", "memory_limit`?"][..]),
            ("[memry]\n", &["line 1", "did you mean `memory`?"]),
            ("[memory]\nmemory_limit = -1", &["line 2"]),
            ("[memory]\nmemory_limit = 0", &["`memory.memory_limit`", "at least 1"]),
            ("[memory]\napproval = \"sometimes\"", &["line 2", "sometimes"]),
            ("[memory]\njournal_revisions = 0", &["`memory.journal_revisions`", "at least 1"]),
            ("[memory.profiles.work]\nuser_limit = 0", &["`memory.profiles.work.user_limit`", "at least 1"]),
            ("[memory.profiles.\"a b\"]\n", &["`memory.profiles`", "a b"]),
            ("[guard.severity]\nexfil_crul = \"warn\"", &["`guard.severity.exfil_crul`", "did you mean exfil_curl"]),
            ("[guard.severity]\nexfil_curl = \"loud\"", &["line 2"]),
            ("[guard.severity]\nexfil_curl = { anywhere = \"warn\" }", &["line 2"]),
            ("[output]\nttl = \"soon\"", &["`output.ttl`", "7d"]),
            ("[output]\nquota = \"2 apples\"", &["`output.quota`", "2GiB"]),
            ("[context]\nthreshold = 1.5", &["`context.threshold`", "above 0"]),
            ("[context]\nmin_new_text = 1.5", &["`context.min_new_text`", "at most 1"]),
            ("[context]\nmin_new_text = nan", &["`context.min_new_text`"]),
            ("[context]\nmax_per_hour = 1001", &["`context.max_per_hour`", "1,000"]),
            ("[context]\nmode = \"continued\"", &["line 2", "continued"]),
            ("[context]\nengine = \"lossy\"", &["`context.engine`", "compressor"]),
            ("[context]\nenable = true", &["did you mean `enabled`?"]),
            ("[limits]\nframe = \"many\"", &["`limits.frame`", "64MiB"]),
            ("[limits]\nframe = \"8GiB\"", &["`limits.frame`"]),
            ("[log]\nformat = \"xml\"", &["line 2", "xml"]),
            ("[summarizer]\nchain = [\"oracle\"]", &["`summarizer.chain`", "oracle"]),
            ("not toml", &["line 1"]),
        ] {
            let error = read(text).unwrap_err();
            assert!(words.iter().all(|words| error.contains(words)), "{text}: {error}");
        }
    }
}
