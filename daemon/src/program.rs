//! The program `hermad`: the process around [`run`].

mod look;
mod transfer;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use clap::{CommandFactory, FromArgMatches, Parser};
use herma_protocol::rendezvous;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use sd_notify::NotifyState;
use tokio::signal::unix::{SignalKind, signal};

use crate::config::Config;
use crate::instance::{self, HomeLockError};
use crate::{Shutdown, logging, run, transport};

/// The exit code if another daemon serves the home.
const TAKEN: u8 = 3;

/// The number of threads for work that waits for the disk or takes long. Further work waits.
const BLOCKING: usize = 32;

/// How long work without a waiting client may continue after the end.
const GOODBYE: Duration = Duration::from_secs(5);

/// Keeps what several agents share: memories, large tool outputs, compressed conversations.
#[derive(Debug, Parser)]
#[command(
    name = "hermad",
    version,
    after_help = "Examples:\n  hermad                          serve the usual home in the foreground\n  hermad --home /srv/agents       serve another home\n  HERMA_LOG=debug hermad          say more\n\nThe CLI starts a daemon by itself when it needs one; see `herma daemon --help`.\n\nExit codes: 0 stopped as asked, 1 could not serve, 2 wrong arguments, 3 the home is served already."
)]
struct Arguments {
    /// The home to serve [default: $HERMA_HOME, else $HERMES_HOME, else the one with
    /// herma's data, else ~/.hermes if it exists, else ~/.local/share/herma]
    #[arg(long, value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// The socket to listen on [default: $HERMA_SOCKET, else herma/hermad.sock in the home]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Which events to log: error, warn, info, debug, trace or a filter
    #[arg(long, value_name = "LEVEL", env = "HERMA_LOG")]
    log: Option<String>,
    /// The format of the log
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"])]
    log_format: Option<String>,
    /// Log to herma/hermad.log in the home, print one line when ready and ignore the terminal's hang-up; the CLI starts
    /// the daemon this way
    #[arg(long)]
    detached: bool,
    /// Read the configuration from this file [default: herma/config.toml in the home]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Check the configuration and exit
    #[arg(long, group = "look")]
    check: bool,
    /// Print the configuration in force with the source of each value, and exit
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json"], group = "look")]
    show_config: Option<String>,
    /// Write a configuration file with every key at its default, unless there is one, and exit
    #[arg(long, group = "look", conflicts_with = "config")]
    init_config: bool,
    /// Write the whole shared space to standard output, and exit
    #[arg(long, group = "look")]
    shared_export: bool,
    /// Import such a file from standard input into the shared space, which must be empty, and exit
    #[arg(long, group = "look")]
    shared_import: bool,
}

/// Runs the program until it ends. `version` is the text for `--version`.
#[must_use]
pub fn main(version: &'static str) -> ExitCode {
    herma_heap::limit_retained_memory();
    let found = Arguments::command().version(version).get_matches();
    let arguments = Arguments::from_arg_matches(&found).unwrap_or_else(|error| error.exit());
    match serve(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error may be a pipe that no longer has a reader.
            drop(writeln!(std::io::stderr(), "hermad: {}", words(&error)));
            match error.downcast_ref() {
                Some(HomeLockError::Taken { .. }) => ExitCode::from(TAKEN),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// Joins the error and its causes. A cause that is already part of the text is not repeated.
fn words(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |words, cause| match words.as_str() {
        "" => cause,
        said if said.contains(&cause) => words,
        said => format!("{said}: {cause}"),
    })
}

fn serve(arguments: &Arguments) -> anyhow::Result<()> {
    let env = |name: &str| std::env::var_os(name);
    let home = rendezvous::home(arguments.home.clone(), env, Path::is_dir)
        .context("no home: set --home, HERMA_HOME or HERMES_HOME, or HOME")?;
    let home = absolute(&home)?;
    let socket = rendezvous::socket(arguments.socket.clone(), env, &home, herma_disk::process::user());
    let socket = absolute(&socket)?;
    let path = arguments.config.clone().unwrap_or_else(|| Config::file(&home));
    if arguments.init_config {
        instance::check_owner(&home)?;
        return look::init(&path);
    }
    let (config, text) = Config::load_from(home, socket, &path)?;
    if arguments.config.is_some() && text.is_none() {
        anyhow::bail!("{}: there is no such file", path.display());
    }
    let (config, overridden) = look::overridden(config, arguments);
    logging::check(&config.log)?;
    if arguments.check {
        return Ok(());
    }
    if let Some(format) = &arguments.show_config {
        return look::show(&config, text.as_deref(), &path, &overridden, format);
    }
    if arguments.shared_export {
        return transfer::export(&config);
    }
    if arguments.shared_import {
        return transfer::import(&config);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .max_blocking_threads(BLOCKING)
        .enable_all()
        .build()
        .context("no runtime")?;
    raise_file_limit();
    let home_lock = runtime.block_on(async {
        let inherited = transport::inherited().context("the socket that the service manager gave")?;
        let (given, inherited) = inherited.map_or((None, None), |(listener, path)| (Some(listener), Some(path)));
        let config = Config { socket: inherited.unwrap_or_else(|| config.socket.clone()), ..config };
        let (home_lock, listener) = instance::lock_home(&config, given).await?;
        let file = config.home.join("herma/hermad.log");
        logging::start(&config.log, arguments.detached.then_some(file.as_path()))?;
        tracing::info!(home = %config.home.display(), socket = %config.socket.display(), pid = std::process::id(), "serving");
        let mut stop = [signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?];
        let _hang_up = arguments.detached.then(|| signal(SignalKind::hangup())).transpose()?;
        if arguments.detached {
            let mut out = std::io::stdout();
            // The process that started the daemon may have ended already.
            drop(writeln!(out, "ready {}", config.socket.display()).and_then(|()| out.flush()));
        }
        notify(NotifyState::Ready);
        run(config, listener, async {
            let [terminate, interrupt] = &mut stop;
            tokio::select! {
                _ = terminate.recv() => Shutdown::Asked,
                _ = interrupt.recv() => Shutdown::Asked,
                () = home_lock.lost() => Shutdown::HomeLost,
            }
        })
        .await;
        notify(NotifyState::Stopping);
        anyhow::Ok(home_lock)
    })?;
    runtime.shutdown_timeout(GOODBYE);
    drop(home_lock);
    Ok(())
}

/// Notifies the service manager, if there is one.
fn notify(state: NotifyState<'_>) {
    if let Err(error) = sd_notify::notify(&[state]) {
        tracing::warn!("the service manager was not notified: {error}");
    }
}

/// Returns the absolute path without `.` and trailing slash, so that each place has only one name.
fn absolute(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("the path {:?}", path.display()))?;
    Ok(path.components().collect())
}

/// Raises the limit of open files of this process to the maximum. Otherwise a thousand connections would leave no files
/// for the stores. If this fails, the usual limit remains.
fn raise_file_limit() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
    }
}
