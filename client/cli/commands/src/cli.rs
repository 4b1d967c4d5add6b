//! The command line: one file per resource, the same names as the daemon's
//! handlers.

mod compress;
mod config;
mod constraint;
mod context;
mod daemon;
mod doctor;
mod exit;
mod files;
mod guard;
mod hermes;
pub(crate) mod hooks;
mod import;
mod lines;
mod memory;
mod moment;
mod named;
mod orphans;
mod out;
mod output;
mod owner;
mod parse;
mod profile;
mod progress;
mod recall;
mod service;
mod session;
mod settings_file;
mod several;
mod shared;
mod top;
mod trajectory;
mod usage;
mod watch;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, Parser, Subcommand};
use herma_client::protocol::daemon::PingParams;
use herma_client::{Client, ClientError, Codec, Place, connect, connect_or_spawn};

use crate::{hook, mcp, proxy};
use exit::Failure;
#[cfg(test)]
pub(crate) use out::write_file;
pub(crate) use out::{error, say};

#[cfg(feature = "fuzzing")]
pub use {hermes::yaml_holds, memory::import_holds, trajectory::recorded_holds};

/// How long a call may take when nothing else is said, in seconds.
const TIMEOUT_S: u64 = 120;

/// Memory, tool outputs and shorter conversations for several agents at once.
#[derive(Debug, Parser)]
#[command(
    name = "herma",
    version,
    after_help = "Examples:\n  herma memory add user \"prefers short answers\"\n  herma memory list\n  herma memory log --limit 5\n  herma memory undo user\n  herma session open my-session --context-length 200000\n  herma output search \"connection refused\" -C 2\n  herma output read out_1f2e…:120\n  herma recall socket timeout --since 7d\n  herma usage --since 7d --by day\n  herma compress conversation.json --context-length 200000\n  herma trajectory compress runs.jsonl shorter.jsonl\n  herma status --json\n\nThe daemon is started when it is not running, unless --no-spawn is given.\n\nExit codes: 0 done, 1 the daemon said no, nothing was found, or a file can't be used,\n2 wrong arguments, 3 no daemon answers, 4 the memory refused the write."
)]
struct Arguments {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

// What every command takes.
#[derive(Debug, Default, clap::Args)]
#[command(next_help_heading = "Options of every command")]
struct Common {
    /// The home [default: $HERMA_HOME, else $HERMES_HOME, else ~/.hermes]
    #[arg(long, global = true, value_name = "FOLDER")]
    home: Option<PathBuf>,
    /// The socket [default: $HERMA_SOCKET, else herma/hermad.sock in the home]
    #[arg(long, global = true, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// The profile: a named pair of stores [default: default]
    #[arg(long, global = true, value_name = "NAME")]
    profile: Option<String>,
    /// Print results as JSON, for programs
    #[arg(long, global = true)]
    json: bool,
    /// Fail when no daemon is running instead of starting one
    #[arg(long, global = true)]
    no_spawn: bool,
    /// Give up after so many seconds [default: 120; 900 for a compression]
    #[arg(long, global = true, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3600))]
    timeout: Option<u64>,
}

impl Common {
    /// A command of herma for the same profile, to be told to people.
    fn command(&self, words: &str) -> String {
        match &self.profile {
            Some(profile) => format!("herma --profile {profile} {words}"),
            None => format!("herma {words}"),
        }
    }
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
enum Command {
    /// Ask whether the daemon answers
    Ping,
    /// Show what the daemon is doing
    Status,
    /// Run, start, stop or look at the daemon
    #[command(subcommand)]
    Daemon(daemon::Command),
    /// Read and change the stores MEMORY.md and USER.md, and take changes back
    #[command(subcommand)]
    Memory(memory::Command),
    /// List, print and take back memory files: what models keep with the tool memory_20250818
    #[command(subcommand)]
    Files(files::Command),
    /// Open, list, lock and remove sessions; show and renew their frozen snapshots
    #[command(subcommand)]
    Session(session::Command),
    /// List and make profiles: named pairs of stores
    #[command(subcommand)]
    Profile(profile::Command),
    /// Share the stores of a profile with other hosts, by a PostgreSQL database
    #[command(subcommand)]
    Shared(shared::Command),
    /// Watch the daemon live: sessions, stores, outputs, requests, events
    Top(top::Arguments),
    /// Print each change of a store, each compression, and each output or session that goes, as it happens
    Watch(watch::Arguments),
    /// Spill large tool outputs; list, search and read them
    #[command(subcommand)]
    Output(output::Command),
    /// Find again what left a conversation, was spilled, or was remembered
    Recall(recall::Arguments),
    /// Take in what other programs keep of conversations, so that recall finds it
    Import(import::Arguments),
    /// Show what calls of models used, in tokens
    Usage(usage::Arguments),
    /// Estimate tokens; understand providers' errors; see what a session has configured
    #[command(subcommand)]
    Context(context::Command),
    /// Shorten a conversation
    Compress(compress::Arguments),
    /// Add, list and remove rules of the user that every compression keeps word for word
    #[command(subcommand)]
    Constraint(constraint::Command),
    /// Shorten recorded conversations of training data
    #[command(subcommand)]
    Trajectory(trajectory::Command),
    /// Look for threats in a text, or mask its secrets
    #[command(subcommand)]
    Guard(guard::Command),
    /// Look for what could keep herma from its work, and say what to do about it
    #[command(
        after_help = "Looks at permissions, the socket, locks and who holds them, stores and journals, the archive, disk space,\nthe configuration and what it names. Exit code 1 when something does not work.\n\nExamples:\n  herma doctor\n  herma doctor --json | jq '.findings[] | select(.state != \"ok\")'"
    )]
    Doctor,
    /// Show, check or begin the daemon's configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Have an agent of the Hermes family use herma: install the plugin, check it, remove it
    #[command(subcommand)]
    Hermes(hermes::Command),
    /// Have Claude Code or Codex use herma: install the hooks, look at them, remove them
    #[command(subcommand)]
    Hooks(hooks::Command),
    /// Have the user's service manager run the daemon (systemd, launchd)
    #[command(subcommand)]
    Service(service::Command),
    /// Answer an event of Claude Code or Codex
    Hook(hook::Arguments),
    /// Stand between an agent client and its model, and answer its compactions
    Proxy(proxy::Arguments),
    /// Serve the Model Context Protocol on standard input and output
    Mcp(mcp::Arguments),
    /// Print a script that completes commands in a shell
    #[command(after_help = "Example:\n  herma completions bash > ~/.local/share/bash-completion/completions/herma")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands into a folder
    #[command(after_help = "Examples:\n  herma man | man -l -\n  herma man --dir ~/.local/share/man/man1")]
    Man {
        /// A folder that gets a page for each command
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
    },
}

/// What a command works with.
struct Session<'a> {
    common: &'a Common,
    place: Place,
}

impl Session<'_> {
    /// A connection, to a daemon that is started when it must be.
    fn connect(&self) -> Result<Client, ClientError> {
        if self.common.no_spawn {
            return self.connect_only();
        }
        self.prepared(connect_or_spawn(&self.place, Codec::Bincode)?)
    }

    /// A connection to a daemon that is running already.
    fn connect_only(&self) -> Result<Client, ClientError> {
        self.prepared(connect(&self.place, Codec::Bincode)?)
    }

    /// The same in lines of JSON, which a daemon of an older version understands too.
    fn connect_in_lines(&self) -> Result<Client, ClientError> {
        self.prepared(connect(&self.place, Codec::Json)?)
    }

    fn prepared(&self, client: Client) -> Result<Client, ClientError> {
        let mut client = client.with_profile(self.common.profile.clone());
        client.set_timeout(Some(self.timeout()))?;
        Ok(client)
    }

    /// What a command needs that connects again and again.
    fn lasting(&self) -> mcp::Settings {
        mcp::Settings {
            place: self.place.clone(),
            profile: self.common.profile.clone(),
            timeout: self.timeout(),
            connect: if self.common.no_spawn { connect } else { connect_or_spawn },
        }
    }

    fn timeout(&self) -> Duration {
        Duration::from_secs(self.common.timeout.unwrap_or(TIMEOUT_S))
    }
}

/// Runs the command that the arguments name. `version` is what `--version` tells.
#[must_use]
pub fn main(version: &'static str) -> ExitCode {
    let arguments = match parse::arguments(version) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() && is_hook() => return ExitCode::SUCCESS,
        Err(error) => return misused(&error),
    };
    match run(&arguments) {
        Err(failure) if !is_hook() => failure.report(arguments.common.json),
        _ => ExitCode::SUCCESS,
    }
}

/// Whether an agent client called, which must never fail for herma: not with the events of its next version either.
fn is_hook() -> bool {
    std::env::args_os().nth(1).is_some_and(|command| command == "hook")
}

/// Tells that the arguments can't be used, or what was asked of them: help or version.
fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let words = error.render().to_string();
        return Failure::Usage(words.trim().trim_start_matches("error: ").to_owned()).report(true);
    }
    // There is nowhere else to say it.
    drop(error.print());
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let common = &arguments.common;
    if let Command::Completions { shell } = &arguments.command {
        let mut script = Vec::new();
        clap_complete::generate(*shell, &mut Arguments::command(), "herma", &mut script);
        return out::bytes(&script);
    }
    if let Command::Man { dir } = &arguments.command {
        return man(dir.as_deref());
    }
    let session = Session { common, place: Place::find(common.home.clone(), common.socket.clone())? };
    session.check_named(&arguments.command)?;
    match &arguments.command {
        Command::Ping => {
            let result = session.connect()?.ping(PingParams {})?;
            out::show(common, &result, |_| "pong".into())
        }
        Command::Status => daemon::status(&session, session.connect()?),
        Command::Daemon(command) => daemon::run(&session, command),
        Command::Memory(command) => memory::run(&session, command),
        Command::Files(command) => files::run(&session, command),
        Command::Session(command) => session::run(&session, command),
        Command::Profile(command) => profile::run(&session, command),
        Command::Shared(command) => shared::run(&session, command),
        Command::Top(arguments) => top::run(&session, arguments),
        Command::Watch(_) => watch::run(&session),
        Command::Output(command) => output::run(&session, command),
        Command::Recall(arguments) => recall::run(&session, arguments),
        Command::Import(arguments) => import::run(&session, arguments),
        Command::Usage(arguments) => usage::run(&session, arguments),
        Command::Context(command) => context::run(&session, command),
        Command::Compress(arguments) => compress::run(&session, arguments),
        Command::Constraint(command) => constraint::run(&session, command),
        Command::Trajectory(command) => trajectory::run(&session, command),
        Command::Guard(command) => guard::run(&session, command),
        Command::Hermes(command) => hermes::run(&session, command),
        Command::Hooks(command) => hooks::run(&session, command),
        Command::Service(command) => service::run(&session, command),
        Command::Doctor => doctor::run(&session),
        Command::Config(command) => config::run(&session, command),
        Command::Hook(arguments) => {
            // A hook writes nothing into another user's home, not even a log line.
            owner::check(&session.place.home)?;
            hook::run(&session.lasting(), arguments);
            Ok(())
        }
        Command::Proxy(arguments) => {
            owner::check(&session.place.home)?;
            proxy::run(&session.lasting(), arguments).map_err(Failure::File)
        }
        Command::Mcp(arguments) => mcp::run(&session.lasting(), arguments).map_err(Failure::File),
        Command::Completions { .. } | Command::Man { .. } => Ok(()),
    }
}

/// The manual page of the program, or the pages of all its commands as files.
#[expect(clippy::disallowed_methods, reason = "the folder is the manual's")]
fn man(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        let written = clap_mangen::Man::new(Arguments::command()).render(&mut page);
        written.map_err(|error| Failure::File(error.to_string()))?;
        return out::bytes(&page);
    };
    let failed = |error| Failure::File(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Arguments::command(), folder).map_err(failed)
}
