//! The options that only show or write the configuration, as `herma config` uses them.

use std::io::Write;
use std::path::Path;

use anyhow::Context;
use herma_disk::file::{self, Created, Temporary};
use herma_disk::folder;
use serde_json::json;

use super::Arguments;
use crate::config::{self, Config, LogFormat, Source};

/// The variable with which agents of the Hermes family turn the masking of secrets on or off.
const REDACT: &str = "HERMES_REDACT_SECRETS";
/// The name of the file until it is complete.
const TEMPORARY: Temporary = Temporary { prefix: ".config_", suffix: ".tmp" };
/// The variable for the log level.
const LOG: &str = "HERMA_LOG";

/// Applies flags and environment to the configuration, and returns the keys that they set.
pub(crate) fn overridden(mut config: Config, arguments: &Arguments) -> (Config, Vec<(&'static str, Source)>) {
    let mut set = Vec::new();
    if let Some(switch) = std::env::var_os(REDACT) {
        let off = ["false", "0", "no", "off"];
        config.guard.redact = !off.contains(&switch.to_string_lossy().trim().to_lowercase().as_str());
        set.push(("guard.redact", Source::Environment(REDACT)));
    }
    if let Some(level) = &arguments.log {
        let is_variable = std::env::var(LOG).is_ok_and(|said| said == *level);
        set.push(("log.level", if is_variable { Source::Environment(LOG) } else { Source::Flag("--log") }));
        config.log.level.clone_from(level);
    }
    if let Some(format) = arguments.log_format.as_deref() {
        config.log.format = if format == "json" { LogFormat::Json } else { LogFormat::Text };
        set.push(("log.format", Source::Flag("--log-format")));
    }
    (config, set)
}

/// Prints the configuration in force.
pub(crate) fn show(
    config: &Config,
    text: Option<&str>,
    path: &Path,
    overridden: &[(&str, Source)],
    format: &str,
) -> anyhow::Result<()> {
    let settings = config::settings(config, text, overridden);
    let there = text.is_some();
    let words = match format {
        "json" => {
            let rows: Vec<_> = settings
                .iter()
                .map(|row| json!({ "key": row.key, "value": row.value, "source": row.source.words() }))
                .collect();
            let file = json!({ "path": path, "exists": there });
            format!("{}\n", json!({ "home": config.home, "socket": config.socket, "file": file, "settings": rows }))
        }
        _ => {
            let note = if there { "" } else { " (there is none)" };
            format!(
                "# home    {}\n# socket  {}\n# file    {}{note}\n\n{}",
                config.home.display(),
                config.socket.display(),
                path.display(),
                config::as_file(&settings)
            )
        }
    };
    std::io::stdout().write_all(words.as_bytes()).context("standard output")
}

/// Writes a file with every key at its default; never overwrites an existing file.
pub(crate) fn init(path: &Path) -> anyhow::Result<()> {
    let parent = path.parent().context("the path of the configuration has no folder")?;
    folder::create_private(parent)?;
    match file::create(path, config::template().as_bytes(), TEMPORARY)? {
        Created::New => writeln!(std::io::stdout(), "{}", path.display()).context("standard output"),
        Created::Exists => anyhow::bail!("{}: there is one already, and it is left as it is", path.display()),
    }
}
