//! `[shared]`: a database through which several hosts share one memory.

use std::path::PathBuf;
use std::time::Duration;

use herma_shared::{address, objects};
use toml::Value;
use url::Url;

use super::format::{Format, Optional, switch, text, time, word};
use super::key::{KeyError, section};
use super::summarizer::{base_url, variable};
use crate::data::profiles::{DEFAULT_PROFILE, is_name};

section! {
    /// One memory on several hosts, in a PostgreSQL database.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SharedConfig {
        /// The URL of the database, without a password.
        pub url: String = EXAMPLE.to_owned(), url().required();
        /// The permanent name of this machine among the hosts that share.
        pub host: String = "attic".to_owned(), name("a name of letters, digits, `_`, `-` and `.`").required();
        /// The part of the database to use: each team has its own.
        pub space: String = "default".to_owned(), name("a name of letters, digits, `_`, `-` and `.`");
        /// The profiles whose stores are shared, once `herma shared join` has moved them.
        pub profiles: Vec<String> = vec![DEFAULT_PROFILE.to_owned()], profiles();
        /// The variable with the password, unless it is in a file or none is needed.
        pub password_env: Option<String> = None, variable().optional();
        /// A file with the password, which only its owner may write.
        pub password_file: Option<PathBuf> = None, path().optional();
        /// Whether the password may be sent without TLS, in clear or as an MD5 digest, if the database requests it.
        pub password_in_clear: bool = false, switch();
        /// The certificates (PEM) that verify the database's, instead of the system's.
        pub ca_file: Option<PathBuf> = None, path().optional();
        /// Whether a write is refused or queued while the database can't be reached.
        pub offline: Offline = Offline::Refuse, word(&Offline::NAMES);
        /// Whether messages of these profiles are uploaded, so that all hosts find them.
        pub messages: bool = true, switch();
        /// Whether another host can continue sessions of these profiles.
        pub sessions: bool = true, switch();
        /// Whether secrets are masked in uploaded messages.
        pub redact: bool = false, switch();
        /// The time limit of one request to the database.
        pub timeout: Duration = Duration::from_secs(5), time(Duration::from_millis(100)..=Duration::from_secs(60));
        /// How often the database is polled for changes, in addition to its notifications.
        pub poll: Duration = Duration::from_secs(1), time(Duration::from_millis(100)..=Duration::from_hours(1));
        /// The object store for texts of outputs; without it those up to 256 KiB go to the database.
        pub outputs: Option<SharedOutputsConfig> = None, Optional(SharedOutputsConfig::example());
    }
}

section! {
    /// An object store for outputs.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SharedOutputsConfig {
        /// A bucket and a folder in it, or a folder that all hosts mount.
        pub url: String = "s3://agents/outputs".to_owned(), objects_url().required();
        /// The URL of an S3-compatible store other than Amazon's.
        pub endpoint: Option<Url> = None, base_url().optional();
        /// Its region.
        pub region: Option<String> = None, text("a name").optional();
        /// The variable with the id of the access key.
        pub access_key_env: String = "AWS_ACCESS_KEY_ID".to_owned(), variable();
        /// The variable with the secret access key.
        pub secret_key_env: String = "AWS_SECRET_ACCESS_KEY".to_owned(), variable();
    }
}

/// The example URL in the template.
const EXAMPLE: &str = "postgres://agents@db.example.org/herma";

/// The fate of a write while the database can't be reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offline {
    /// The write is refused. The caller may try again.
    Refuse,
    /// The write is kept here and judged again when the database is back.
    Queue,
}

impl Offline {
    const NAMES: [(&'static str, Self); 2] = [("refuse", Self::Refuse), ("queue", Self::Queue)];

    /// Returns its name in the file and on the wire.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Queue => "queue",
        }
    }
}

impl SharedOutputsConfig {
    fn example() -> Self {
        let endpoint = Url::parse("http://127.0.0.1:9000").ok();
        Self { endpoint, region: Some("eu-central-1".to_owned()), ..Self::default() }
    }
}

impl SharedConfig {
    /// Returns an example of all keys, for the template.
    pub(super) fn example() -> Self {
        Self {
            password_env: Some("HERMA_SHARED_PASSWORD".to_owned()),
            password_file: Some("/etc/herma/password".into()),
            ca_file: Some("/etc/herma/ca.pem".into()),
            outputs: Some(SharedOutputsConfig::example()),
            ..Self::default()
        }
    }

    /// Whether the configuration shares the stores of this profile.
    pub(crate) fn shares(&self, profile: &str) -> bool {
        self.profiles.iter().any(|name| name == profile)
    }
}

fn url() -> Format<String> {
    let read = |said: &Value| {
        let url = said.as_str().unwrap_or_default().trim().to_owned();
        let checked = address::Address::parse(&url, None, None, Vec::new());
        checked.map(|_| url).map_err(KeyError::new)
    };
    Format::with_mistakes(address::FORM, String::new(), read, String::clone)
}

fn objects_url() -> Format<String> {
    let read = |said: &Value| {
        let url = said.as_str().unwrap_or_default().trim().to_owned();
        objects::check(&url).map(|_| url).map_err(KeyError::new)
    };
    Format::with_mistakes(objects::FORM, String::new(), read, String::clone)
}

fn name(range: &'static str) -> Format<String> {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "_-.".contains(char);
    let read = move |said: &Value| {
        let name = said.as_str().filter(|name| (1..=64).contains(&name.len()) && name.chars().all(is_plain));
        name.map(str::to_owned).ok_or_else(|| KeyError::new(format!("must be {range}, at most 64 of them")))
    };
    Format::with_mistakes(range, String::new(), read, String::clone)
}

fn path() -> Format<PathBuf> {
    const FORM: &str = "an absolute path";
    let read = |said: &Value| {
        let path = said.as_str().map(PathBuf::from).filter(|path| path.is_absolute());
        path.ok_or_else(|| KeyError::new(format!("must be {FORM}")))
    };
    Format::with_mistakes(FORM, String::new(), read, |path: &PathBuf| path.display().to_string())
}

fn profiles() -> Format<Vec<String>> {
    const FORM: &str = "names of profiles, like [\"default\", \"work\"]";
    let read = |said: &Value| {
        let names: Option<Vec<String>> =
            said.as_array().map(|names| names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect());
        let names = names.filter(|names| !names.is_empty() && names.iter().all(|name| is_name(name)));
        names.ok_or_else(|| KeyError::new(format!("must be {FORM}")))
    };
    Format::with_mistakes(FORM, String::new(), read, Vec::clone)
}

#[cfg(test)]
mod tests {
    use crate::data::config::{Config, Offline};

    #[test]
    fn nothing_is_shared_by_default_and_who_shares_has_a_name() {
        let config = Config::read("").map(|config| config.shared);
        assert_eq!(config, Ok(None));
        let text =
            "[shared]\nurl = \"postgres://a@db/x\"\nhost = \"attic\"\nprofiles = [\"work\"]\noffline = \"queue\"";
        let shared = Config::read(text).ok().and_then(|config| config.shared);
        assert!(shared.is_some_and(|shared| {
            shared.shares("work") && !shared.shares("default") && shared.offline == Offline::Queue
        }));
        for (text, words) in [
            ("[shared]\nurl = \"postgres://a@db/x\"", "`shared.host` is needed"),
            ("[shared]\nhost = \"a\"", "`shared.url` is needed"),
            ("[shared]\nhost = \"a\"\nurl = \"postgres://a:secret@db/x\"", "must have no password in it"),
            ("[shared]\nhost = \"a\"\nurl = \"mysql://a@db/x\"", "`shared.url` must be a URL like"),
            ("[shared]\nurl = \"postgres://a@db/x\"\nhost = \"a\"\nspace = \"a/b\"", "`shared.space` must be a name"),
            (
                "[shared]\nurl = \"postgres://a@db/x\"\nhost = \"a\"\nprofiles = []",
                "`shared.profiles` must be names of profiles",
            ),
            (
                "[shared]\nurl = \"postgres://a@db/x\"\nhost = \"a\"\npassword_file = \"secret\"",
                "`shared.password_file` must be an absolute path",
            ),
            (
                "[shared]\nurl = \"postgres://a@db/x\"\nhost = \"a\"\noffline = \"ignore\"",
                "`shared.offline` must be \"refuse\" or \"queue\"",
            ),
        ] {
            let error = Config::read(text).err().unwrap_or_default();
            assert!(error.contains(words) && !error.contains("secret@"), "{text}: {error}");
        }
    }
}
