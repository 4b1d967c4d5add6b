//! The log: standard error in the foreground, a file when detached.

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

/// Why there can be no log.
#[derive(Debug, thiserror::Error)]
pub enum LoggingError {
    /// The level or filter is not one.
    #[error("`log.level` {level:?} is not a level or filter: {words}")]
    Level {
        /// What was given.
        level: String,
        /// What is wrong with it.
        words: String,
    },
    /// The file can't be opened.
    #[error(transparent)]
    Disk(#[from] herma_disk::DiskError),
}

/// The levels that may be given instead of a filter.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Checks the level or filter.
///
/// # Errors
/// One that is neither.
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

/// How the fields of a line are written: ids, paths and words of others stay in their line, and do
/// nothing to the terminal on which somebody reads the log.
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

/// Starts to log, to `file` or to standard error.
///
/// # Errors
/// A level that is not one, or a file that can't be opened.
pub fn start(config: &LogConfig, file: Option<&Path>) -> Result<(), LoggingError> {
    let filter = filter(config)?;
    let (writer, colours) = match file {
        Some(path) => (BoxMakeWriter::new(Mutex::new(RotatingFile::open(path, config.size)?)), false),
        None => {
            let colours = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            (BoxMakeWriter::new(std::io::stderr), colours)
        }
    };
    // A log on a full disk would complain on standard error, which is a pipe
    // without a reader when detached: that would end the daemon.
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(colours)
        .log_internal_errors(false);
    // A second call in one process, as in tests, keeps the first log.
    drop(match config.format {
        LogFormat::Text => builder.with_target(false).fmt_fields(fields()).try_init(),
        LogFormat::Json => builder.json().try_init(),
    });
    Ok(())
}

#[cfg(test)]
mod tests;
