//! The log, which goes to standard error in the foreground, and to a file when detached.

use std::fmt::Debug;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Mutex;

use herma_disk::rotate::RotatingFile;
use herma_protocol::visible::visible_line;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::fmt::writer::BoxMakeWriter;

use crate::data::config::{LogConfig, LogFormat};

/// The error for a log that can't be started.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The level or filter is invalid.
    #[error("`log.level` {level:?} is not a level or filter: {words}")]
    Level {
        /// The level or filter from the configuration.
        level: String,
        /// Why it is invalid.
        words: String,
    },
    /// The file can't be opened.
    #[error(transparent)]
    Disk(#[from] herma_disk::DiskError),
}

/// The allowed levels, which may replace a filter.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Checks the level or filter.
///
/// # Errors
/// The value is neither a level nor a filter.
pub fn check(config: &LogConfig) -> Result<(), LoggingError> {
    filter(config).map(drop)
}

fn filter(config: &LogConfig) -> Result<EnvFilter, LoggingError> {
    let wrong = |words: String| LoggingError::Level { level: config.level.clone(), words };
    let is_word = !config.level.contains(['=', ',', '[']);
    if is_word && !LEVELS.contains(&config.level.to_lowercase().as_str()) {
        return Err(wrong(format!("use one of {}", LEVELS.join(", "))));
    }
    EnvFilter::try_new(&config.level).map_err(|error| wrong(error.to_string()))
}

/// Writes the fields of a line. Ids, paths and foreign text stay within their line and can't control the terminal of a
/// person who reads the log.
fn fields() -> impl for<'writer> FormatFields<'writer> {
    let field = |writer: &mut Writer<'_>, field: &Field, value: &dyn Debug| {
        let value = format!("{value:?}");
        match field.name() {
            "message" => write!(writer, "{}", visible_line(&value)),
            name => write!(writer, "{name}={}", visible_line(&value)),
        }
    };
    debug_fn(field).delimited(" ")
}

/// Starts the log, in `file` or on standard error.
///
/// # Errors
/// The level is invalid, or the file can't be opened.
pub fn start(config: &LogConfig, file: Option<&Path>) -> Result<(), LoggingError> {
    let filter = filter(config)?;
    let (writer, colours) = match file {
        Some(path) => (BoxMakeWriter::new(Mutex::new(RotatingFile::open(path, config.size)?)), false),
        None => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            (BoxMakeWriter::new(std::io::stderr), colours)
        }
    };
    // On a full disk, the log would report errors on standard error. When detached, that is a pipe without a reader,
    // and the write would end the daemon.
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(colours)
        .log_internal_errors(false);
    // A second call in the same process, as in tests, keeps the first log.
    drop(match config.format {
        LogFormat::Text => builder.with_target(false).fmt_fields(fields()).try_init(),
        LogFormat::Json => builder.json().try_init(),
    });
    Ok(())
}

#[cfg(test)]
mod tests;
