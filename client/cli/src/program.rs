//! The arguments of `herma`, and the dispatch of each command to its file.

mod help;
mod parse;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory, Parser, Subcommand};
use herma_agents::hosts::AgentHosts;
use herma_agents::{hermes, hook, hooks, proxy};
use herma_base::{CliContext, Common, Failure, out, owner, user_file};
use herma_client::Place;
use herma_client::protocol::daemon::PingParams;

use crate::names::home::{self, Access};
use crate::{
    backup, completion, compress, config, constraint, context, continuation, daemon, doctor, files, guard, import, log,
    memory, output, overview, profile, recall, scrub, service, session, setup, shared, top, trajectory, upgrade, usage,
    watch,
};

/// Memory, tool outputs and shorter conversations for several agents at once.
#[derive(Debug, Parser)]
#[command(
    name = "herma",
    version,
    after_help = "Examples:\n  herma setup\n  herma memory add user \"prefers short answers\"\n  herma memory list\n  herma memory log --limit 5\n  herma memory undo user\n  herma session open my-session --context-length 200000\n  herma output search \"connection refused\" -C 2\n  herma output read out_1f2e…:120\n  herma recall socket timeout --since 7d\n  herma usage --since 7d --by day\n  herma compress conversation.json --context-length 200000\n  herma trajectory compress runs.jsonl shorter.jsonl\n  herma status --json\n\nThe daemon is started when it is not running, unless --no-spawn is given.\n\nExit codes: 0 done, 1 the daemon said no, nothing was found, or a file can't be used,\n2 wrong arguments, 3 no daemon answers, 4 the memory refused the write."
)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Command {
    /// Set up herma for the agents of this machine, import their sessions, and show that it works
    Setup(setup::Arguments),
    /// Check whether the daemon answers
    Ping,
    /// Show what the daemon is doing
    Status,
    /// Print the version, as --version does
    Version,
    /// Run, start, stop or check the daemon
    #[command(subcommand)]
    Daemon(daemon::Command),
    /// Read and change the stores MEMORY.md and USER.md, and undo changes
    #[command(subcommand)]
    Memory(memory::Command),
    /// List, print and restore memory files, which models write with the tool memory_20250818
    #[command(subcommand)]
    Files(files::Command),
    /// Read, list, open, lock and remove sessions; show and renew their frozen snapshots
    #[command(subcommand)]
    Session(session::Command),
    /// Go on with the work of a session in another agent
    Continue(continuation::Arguments),
    /// List and create profiles: named pairs of stores
    #[command(subcommand)]
    Profile(profile::Command),
    /// Share the stores of a profile with other hosts, through a PostgreSQL database
    #[command(subcommand)]
    Shared(shared::Command),
    /// Watch the daemon live: sessions, stores, outputs, requests, events
    Top(top::Arguments),
    /// Show in the browser what herma keeps: sessions, memory, outputs, savings
    View(herma_view::Arguments),
    /// Print what happens as it happens: writes and refusals, sessions, outputs, compressions
    Watch(watch::Arguments),
    /// Spill large tool outputs; list, search and read them
    #[command(subcommand)]
    Output(output::Command),
    /// Search messages that left a conversation, spilled outputs, and the memory
    #[command(visible_alias = "search", alias = "find")]
    Recall(recall::Arguments),
    /// Import conversations from other programs, so that recall finds them
    Import(import::Arguments),
    /// Show the usage of model calls in tokens, and with --savings what herma kept, found and saved
    #[command(alias = "stats")]
    Usage(usage::Arguments),
    /// Estimate tokens; classify providers' errors; show a session's settings
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
    /// Scan a text for threats, or mask its secrets
    #[command(subcommand)]
    Guard(guard::Command),
    /// Print the daemon's log, or what hooks added to the context of a session
    Log(log::Arguments),
    /// Show how herma was installed, and the command that upgrades it
    Upgrade(upgrade::Arguments),
    /// Write a home into one file, also while the daemon runs
    Backup(backup::Backup),
    /// Restore a home from a backup, after a check
    Restore(backup::Restore),
    /// Mask the secrets in what was kept before
    Scrub(scrub::Arguments),
    /// Check for problems with herma, and show how to fix them
    #[command(
        after_help = "Looks at permissions, the socket, locks and who holds them, stores and journals, the archive, disk space,\nthe configuration and what it names. Exit code 1 when something does not work.\n\nExamples:\n  herma doctor\n  herma doctor --json | jq '.findings[] | select(.state != \"ok\")'"
    )]
    Doctor,
    /// Show, check or create the daemon's configuration
    #[command(subcommand)]
    Config(config::Command),
    /// Make an agent of the Hermes family use herma: install, check or remove the plugin
    #[command(subcommand)]
    Hermes(hermes::Command),
    /// Make Claude Code, Codex or Qwen Code use herma: install, check or remove the hooks
    #[command(subcommand)]
    Hooks(hooks::Command),
    /// Let the user's service manager run the daemon (systemd, launchd)
    #[command(subcommand)]
    Service(service::Command),
    /// Answer an event of Claude Code, Codex or Qwen Code
    Hook(hook::Arguments),
    /// Run a proxy between an agent and its model that keeps the conversation and answers compactions
    Proxy(proxy::Arguments),
    /// Serve the Model Context Protocol on standard input and output
    Mcp(herma_mcp::Arguments),
    /// Print a script that completes commands in a shell
    #[command(
        after_help = "The script asks herma for what may come next: commands, options, and the sessions, outputs, entries, revisions, files and profiles of the running daemon. It starts no daemon. Write it again after an upgrade, unless a package did.\n\nExamples:\n  herma completions bash > ~/.local/share/bash-completion/completions/herma\n  herma completions zsh > ~/.zfunc/_herma\n  herma completions fish > ~/.config/fish/completions/herma.fish"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write those of all commands into a folder
    #[command(after_help = "Examples:\n  herma man | man -l -\n  herma man --dir ~/.local/share/man/man1")]
    Man {
        /// The folder for a page of each command
        #[arg(long, value_name = "FOLDER")]
        dir: Option<PathBuf>,
    },
}

impl Command {
    /// Returns how the command uses the daemon.
    fn access(&self) -> Access {
        match self {
            Self::Daemon(daemon::Command::Stop { .. }) => Access::Stop,
            Self::Daemon(_)
            | Self::Setup(_)
            | Self::Doctor
            | Self::Config(_)
            | Self::Hermes(_)
            | Self::Hooks(_)
            | Self::Service(_)
            | Self::Hook(_)
            | Self::Proxy(_)
            | Self::Mcp(_)
            | Self::Completions { .. }
            | Self::Upgrade(_)
            | Self::Restore(_)
            | Self::Version
            | Self::Man { .. } => Access::Any,
            command if command.creates() => Access::Create,
            _ => Access::Ask,
        }
    }

    /// Returns whether the command stores something, so that it may create a home.
    fn creates(&self) -> bool {
        match self {
            Self::Memory(command) => {
                use memory::Command::{Add, Batch, Import, Tool};
                matches!(command, Add(_) | Batch(_) | Import(_) | Tool(_))
            }
            Self::Session(command) => matches!(command, session::Command::Open(_) | session::Command::Append(_)),
            Self::Profile(command) => matches!(command, profile::Command::Create { .. }),
            Self::Output(command) => matches!(command, output::Command::Admit(_)),
            Self::Shared(command) => {
                use shared::Command::{Import, Init, Join};
                matches!(command, Init(_) | Join | Import(_))
            }
            Self::Compress(arguments) => arguments.session.is_none(),
            Self::Import(_) => true,
            _ => false,
        }
    }
}

/// Runs the command that the arguments name. `version` is the output of `--version`.
#[must_use]
pub fn main(version: &'static str) -> ExitCode {
    if completion::answer(Arguments::command) {
        return ExitCode::SUCCESS;
    }
    let arguments = match parse::arguments(version) {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() && is_hook() => return ExitCode::SUCCESS,
        Err(error) => return misused(&error),
    };
    match run(&arguments, version) {
        Err(failure) if !is_hook() => out::report(&failure, arguments.common.json),
        _ => ExitCode::SUCCESS,
    }
}

/// Returns whether an agent called a hook. herma must never make an agent fail, even with unknown events of its next
/// version.
fn is_hook() -> bool {
    std::env::args_os().nth(1).is_some_and(|command| command == "hook")
}

/// Prints why the arguments can't be used, or the requested help or version.
fn misused(error: &clap::Error) -> ExitCode {
    if error.use_stderr() && std::env::args_os().any(|argument| argument == "--json") {
        let words = error.render().to_string();
        let failure = Failure::Usage(words.trim().trim_start_matches("error: ").to_owned());
        return out::report(&failure, true);
    }
    // Standard error is closed, so the message is lost.
    drop(error.print());
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn run(arguments: &Arguments, version: &'static str) -> Result<(), Failure> {
    let common = &arguments.common;
    out::choose(common.color);
    let Some(command) = &arguments.command else {
        let context = CliContext { common, place: Place::find(common.home.clone(), common.socket.clone())? };
        return overview::run(&context, version);
    };
    if let Command::Completions { shell } = command {
        return completion::script(*shell);
    }
    if let Command::Man { dir } = command {
        return man(dir.as_deref());
    }
    let context = CliContext { common, place: Place::find(common.home.clone(), common.socket.clone())? };
    home::check(&context, command.access())?;
    match command {
        Command::Ping => {
            let result = context.connect()?.ping(PingParams {})?;
            out::show(common, &result, |_| "pong".into())
        }
        Command::Version => {
            out::show(common, &serde_json::json!({ "version": version }), |_| format!("herma {version}"))
        }
        Command::Status => daemon::status(&context, context.connect()?),
        Command::Daemon(command) => daemon::run(&context, command),
        Command::Memory(command) => memory::run(&context, command),
        Command::Files(command) => files::run(&context, command),
        Command::Session(command) => session::run(&context, command),
        Command::Continue(arguments) => continuation::run(&context, arguments),
        Command::Profile(command) => profile::run(&context, command),
        Command::Shared(command) => shared::run(&context, command),
        Command::Top(arguments) => top::run(&context, arguments),
        Command::View(arguments) => herma_view::run(&context, arguments),
        Command::Watch(arguments) => watch::run(&context, arguments),
        Command::Output(command) => output::run(&context, command),
        Command::Recall(arguments) => recall::run(&context, arguments),
        Command::Import(arguments) => import::run(&context, arguments),
        Command::Usage(arguments) => usage::run(&context, arguments),
        Command::Context(command) => context::run(&context, command),
        Command::Compress(arguments) => compress::run(&context, arguments),
        Command::Constraint(command) => constraint::run(&context, command),
        Command::Trajectory(command) => trajectory::run(&context, command),
        Command::Guard(command) => guard::run(&context, command),
        Command::Upgrade(arguments) => upgrade::run(&context, arguments, version),
        Command::Log(arguments) => log::run(&context, arguments),
        Command::Backup(arguments) => backup::backup(&context, arguments),
        Command::Restore(arguments) => backup::restore(&context, arguments),
        Command::Scrub(arguments) => scrub::run(&context, arguments),
        Command::Hermes(command) => hermes::run(&context, command),
        Command::Hooks(command) => hooks::run(&context, command),
        Command::Service(command) => service::run(&context, command),
        Command::Setup(arguments) => setup::run(&context, arguments),
        Command::Doctor => doctor::run(&context),
        Command::Config(command) => config::run(&context, command),
        Command::Hook(arguments) => {
            // A hook writes nothing into another user's home, not even a log line.
            owner::check(&context.place.home)?;
            hook::run(&context.settings(), arguments);
            Ok(())
        }
        Command::Proxy(arguments) => {
            owner::check(&context.place.home)?;
            proxy::run(&context.settings(), arguments)
        }
        Command::Mcp(arguments) => {
            let hosts = Arc::new(AgentHosts::of(&context));
            herma_mcp::run(&context.settings(), arguments, hosts).map_err(Failure::File)
        }
        Command::Completions { .. } | Command::Man { .. } => Ok(()),
    }
}

/// Returns the program with all commands.
pub(crate) fn commands() -> clap::Command {
    help::for_people(Arguments::command())
}

/// Returns the program as the manual describes it. Each command would have a page for its `help`, and one for each
/// command that this explains.
fn pages() -> clap::Command {
    help::with_whole_paragraphs(Arguments::command().disable_help_subcommand(true))
}

/// Prints the manual page of the program, or writes the pages of all commands as files.
fn man(folder: Option<&Path>) -> Result<(), Failure> {
    let Some(folder) = folder else {
        let mut page = Vec::new();
        let written = clap_mangen::Man::new(pages()).render(&mut page);
        written.map_err(|error| Failure::File(error.to_string()))?;
        return out::bytes(&page);
    };
    user_file::create_folder(folder)?;
    let written = clap_mangen::generate_to(pages(), folder);
    written.map_err(|error| Failure::File(format!("{}: {error}", folder.display())))
}
