//! The configuration: a tree of sections. Each file in `config/` declares the keys of one section. How the
//! configuration is read, shown and written as a template follows from these declarations.

mod archive;
mod context;
mod files;
mod format;
mod guard;
mod key;
mod limits;
mod log;
mod memory;
mod output;
mod recall;
mod shared;
mod show;
mod summarizer;
mod template;
mod units;

use std::path::{Path, PathBuf};

use herma_disk::{DiskError, file};
use herma_guard::{RedactOptions, redact};
use toml::de::DeTable;
use toml::{Table, Value};

pub use self::archive::ArchiveConfig;
pub use self::context::{CompressionMode, ContextConfig};
pub use self::files::FilesConfig;
use self::format::Optional;
pub use self::guard::GuardConfig;
use self::key::{Key, KeyValue, Section};
pub use self::limits::LimitsConfig;
pub use self::log::{LogConfig, LogFormat};
pub use self::memory::{MemoryConfig, ProfileConfig};
pub use self::output::OutputConfig;
pub use self::recall::{EmbedderKind, EmbeddingCommandConfig, EmbeddingEndpointConfig, RecallConfig};
pub use self::shared::{Offline, SharedConfig};
pub use self::show::{Setting, Source, as_file, settings};
pub use self::summarizer::{CommandConfig, EndpointConfig, ModelChoice, SummarizerConfig};
pub use self::template::template;

/// The largest configuration file, in bytes.
const FILE_LIMIT: u64 = 1 << 20;

/// The whole configuration, checked. The key `x` of the section `s` is the field `s.x`. The default is the
/// configuration of a home without a file, except for `home` and `socket`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Config {
    /// The home, an absolute path.
    pub home: PathBuf,
    /// The path of the socket.
    pub socket: PathBuf,
    /// The memory stores.
    pub memory: MemoryConfig,
    /// Memory files.
    pub files: FilesConfig,
    /// Masking of secrets, and treatment of poison.
    pub guard: GuardConfig,
    /// Tool outputs.
    pub output: OutputConfig,
    /// How long closed sessions are kept.
    pub archive: ArchiveConfig,
    /// The settings that a new session gets.
    pub context: ContextConfig,
    /// The summarizers.
    pub summarizer: SummarizerConfig,
    /// Vectors for recall, in addition to words.
    pub recall: RecallConfig,
    /// Memory shared by several hosts; `None` without a database for it.
    pub shared: Option<SharedConfig>,
    /// Limits of the wire.
    pub limits: LimitsConfig,
    /// The log.
    pub log: LogConfig,
}

impl Section for Config {
    fn keys(&mut self) -> Vec<Key<'_>> {
        let Self {
            home: _,
            socket: _,
            memory,
            files,
            guard,
            output,
            archive,
            context,
            summarizer,
            recall,
            shared,
            limits,
            log,
        } = self;
        let sections: [(_, &mut dyn Section); 10] = [
            ("memory", memory),
            ("files", files),
            ("guard", guard),
            ("output", output),
            ("archive", archive),
            ("context", context),
            ("summarizer", summarizer),
            ("recall", recall),
            ("limits", limits),
            ("log", log),
        ];
        let key = |(name, section)| Key { name, comment: "", held: KeyValue::Section(section) };
        let mut keys: Vec<Key<'_>> = sections.into_iter().map(key).collect();
        let comment = "One memory on several hosts, in a PostgreSQL database (docs/sharing.md)";
        let held = Optional(SharedConfig::example()).bind(shared);
        keys.push(Key { name: "shared", comment, held });
        keys
    }
}

/// The error for a configuration that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The file is not TOML, has an unknown key, or has a value that is out of range.
    #[error("{}: {words}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// The line, the key and the mistake; secrets in it are masked.
        words: String,
    },
}

impl Config {
    /// Returns the path of a home's configuration file.
    #[must_use]
    pub fn file(home: &Path) -> PathBuf {
        home.join("herma").join("config.toml")
    }

    /// Reads a configuration file and returns it with its text. A missing file changes nothing.
    ///
    /// # Errors
    /// The file can't be read, another user owns it or may write to it, a key is unknown, or a value is out of range.
    pub fn load_from(home: PathBuf, socket: PathBuf, path: &Path) -> Result<(Self, Option<String>), ConfigError> {
        let config = Self { home, socket, ..Self::default() };
        match file::read_trusted_text(path, FILE_LIMIT)? {
            None => Ok((config, None)),
            Some((text, _)) => Ok((config.with(&text, path)?, Some(text))),
        }
    }

    /// Applies the text of a file to this configuration.
    fn with(mut self, text: &str, path: &Path) -> Result<Self, ConfigError> {
        // The error text may quote the file, into which somebody may have pasted a secret by mistake.
        let content = |words: String| ConfigError::Content {
            path: path.to_owned(),
            words: redact(words.trim_end(), RedactOptions::default()).text.into_owned(),
        };
        let table: Table = text.parse().map_err(|error: toml::de::Error| content(error.to_string()))?;
        key::read(&mut self, &Value::Table(table))
            .and_then(|()| self.summarizer.check().and_then(|()| self.recall.check()))
            .map_err(|mistake| {
                content(format!("line {}: `{}` {}", line(text, &mistake.path), mistake.key(), mistake.words))
            })?;
        Ok(self)
    }

    /// Applies a file with this text to the defaults; the error text says why it can't be used.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        Self::default().with(text, Path::new("config.toml")).map_err(|error| error.to_string())
    }
}

/// Returns the line of a key. If the file lacks the key, returns the line of the innermost table around it.
fn line(text: &str, path: &[String]) -> usize {
    let root = DeTable::parse(text).ok();
    let mut table = root.as_ref().map(|root| root.get_ref());
    let mut start = 0;
    for name in path {
        let Some((key, said)) = table.and_then(|table| table.get_key_value(name.as_str())) else { break };
        start = key.span().start;
        table = said.get_ref().as_table();
    }
    1 + text.bytes().take(start).filter(|byte| *byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use std::time::Duration;

    use herma_guard::{Scope, Treatment};
    use herma_memory::Target;

    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        Config::read(text)
    }

    #[test]
    fn what_is_absent_keeps_its_default() {
        assert_eq!(read("").unwrap(), Config::default());
        let config = read("[memory]\nmemory_limit = 3_000\n[limits]\nframe = \"1MiB\"\n[output.tool_overrides]\ngrep = 5\nlog = \"inf\"")
            .unwrap();
        assert_eq!((config.memory.memory_limit, config.memory.user_limit), (3000, 1375));
        assert_eq!(config.limits.frame, 1 << 20);
        assert_eq!(config.output.tool_overrides.len(), 2);
        let output = read("[output]\nttl = \"12h\"\nquota = \"1MiB\"").unwrap().output;
        assert_eq!((output.ttl, output.quota), (Duration::from_hours(12), 1 << 20));
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
        let limits = |profile: &str| Target::ALL.map(|target| memory.limit(profile, target));
        assert_eq!((limits("work"), limits("home")), ([5000, 99], [2200, 99]));
    }

    #[test]
    fn severities_are_set_for_all_scopes_or_for_one() {
        let text = "[guard.severity]\nexfil_curl = \"off\"\nsend_to_url = { strict = \"warn\" }";
        let policy = read(text).unwrap().guard.severity;
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

    #[test]
    fn a_mistake_names_line_key_value_range_and_unit() {
        for (text, words) in [
            (
                "[memory]\nmemory_limit = 0",
                "line 2: `memory.memory_limit` must be a whole number (chars, at least 1); it is 0",
            ),
            (
                "# no\n[context]\n\ntarget_ratio = 0.9",
                "line 4: `context.target_ratio` must be a fraction (of the threshold, at least 0.1, at most 0.8); it is 0.9",
            ),
            (
                "limits.frame = \"8GiB\"",
                "line 1: `limits.frame` must be a size like \"64MiB\" or \"2GiB\" (at least 1KiB, at most 1GiB); it is \"8GiB\"",
            ),
            (
                "[context]\nmode = \"continued\"",
                "line 2: `context.mode` must be \"in_place\" or \"continue\"; it is \"continued\"",
            ),
            (
                "[memory.profiles.\"a\"]\n[memory.profiles.b]\nuser_limit = \"9\"",
                "line 3: `memory.profiles.b.user_limit` must be a whole number (chars, at least 1); it is \"9\"",
            ),
            (
                "[output.tool_overrides]\n\"a.b\" = \"info\"",
                "line 2: `output.tool_overrides.\"a.b\"` must be a whole number (chars) or \"inf\"; it is \"info\"",
            ),
            (
                "[guard.severity]\nexfil_curl = { anywhere = \"warn\" }",
                "line 2: `guard.severity.exfil_curl.anywhere` is no scope: all, context, strict",
            ),
            ("guard = true", "line 1: `guard` must be a table; it is true"),
            (
                "\n[lgo]\n",
                "line 2: `lgo` is unknown; did you mean `log`? Known here: memory, files, guard, output, archive, context, summarizer, recall, limits, log, shared",
            ),
            (
                "[summarizer.openai]\nmodel = \"m\"",
                "line 1: `summarizer.openai.base_url` is needed, and must be a URL like \"http://127.0.0.1:11434/v1\" (http or https)",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), format!("config.toml: {words}"));
        }
    }
}
