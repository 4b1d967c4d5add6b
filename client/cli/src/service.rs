//! `herma service …`: runs the daemon with the user's service manager.

mod units;

use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use clap::Subcommand;
use herma_base::{CliContext, Failure, out, owner, search_path, user_file};
use herma_client::find_daemon;
use serde_json::json;

use units::{MARK, Service};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(super) enum Command {
    /// Write the service's files and start to listen
    #[command(
        after_help = "With systemd a socket and a service are written to the user's units; the daemon starts with the first\nconnection. On macOS a launchd agent is written.\n\nExamples:\n  herma service install\n  herma service install --print\n  herma --home /srv/agents service install --name herma-agents"
    )]
    Install {
        #[command(flatten)]
        named: Named,
        /// Print the files instead of writing them
        #[arg(long)]
        print: bool,
        /// Write the files, but start nothing
        #[arg(long)]
        no_start: bool,
    },
    /// Stop listening and remove the service's files
    Uninstall {
        #[command(flatten)]
        named: Named,
    },
    /// Show whether the service is installed and listens; exit code 1 if it is not
    Status {
        #[command(flatten)]
        named: Named,
    },
}

#[derive(Debug, clap::Args)]
pub(super) struct Named {
    /// The name of the service, one for each home
    #[arg(long, value_name = "NAME", default_value = "herma", value_parser = name)]
    name: String,
}

/// Checks a name. It becomes the name of a file, so it has letters, digits and hyphens.
fn name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    if !text.is_empty() && text.len() <= 64 && text.chars().all(plain) {
        Ok(text.to_owned())
    } else {
        Err("must be letters, digits and hyphens, 64 at most".to_owned())
    }
}

/// A file of a service, and its content.
struct UnitFile {
    path: PathBuf,
    text: String,
}

pub(super) fn run(context: &CliContext<'_>, command: &Command) -> Result<(), Failure> {
    match command {
        Command::Install { named, print, no_start } => install(context, &named.name, *print, *no_start),
        Command::Uninstall { named } => uninstall(context, &named.name),
        Command::Status { named } => status(context, &named.name),
    }
}

fn files(context: &CliContext<'_>, name: &str) -> Result<Vec<UnitFile>, Failure> {
    let program = absolute(&find_daemon())?;
    for path in [&program, &context.place.home, &context.place.socket] {
        nameable(path)?;
    }
    let service = Service { name, program: &program, home: &context.place.home, socket: &context.place.socket };
    let folder = folder()?;
    Ok(if cfg!(target_os = "macos") {
        vec![UnitFile { path: folder.join(format!("{}.plist", service.label())), text: service.launchd() }]
    } else {
        vec![
            UnitFile { path: folder.join(format!("{name}.socket")), text: service.socket_unit() },
            UnitFile { path: folder.join(format!("{name}.service")), text: service.service_unit() },
        ]
    })
}

/// Refuses a path that can't be in a unit file: it would add lines to it, or mean another path.
fn nameable(path: &Path) -> Result<(), Failure> {
    let words = match path.to_str() {
        None => "it is no UTF-8",
        Some(text) if text.contains(char::is_control) => "it has control characters",
        Some(_) => return Ok(()),
    };
    Err(Failure::File(format!("{path:?} can't be named to a service manager: {words}")))
}

/// Returns the folder of the service manager for a user's files.
fn folder() -> Result<PathBuf, Failure> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = set("HOME").ok_or_else(|| Failure::File("HOME is not set".into()))?;
    Ok(if cfg!(target_os = "macos") {
        home.join("Library/LaunchAgents")
    } else {
        set("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config")).join("systemd/user")
    })
}

/// Returns the absolute path of the program, which the service manager needs.
fn absolute(program: &Path) -> Result<PathBuf, Failure> {
    let found = match program.components().count() {
        1 => search_path::find(program),
        _ => Some(program.to_owned()),
    };
    let words = || Failure::File(format!("{}: there is no such program; HERMAD can name it", program.display()));
    found.and_then(|path| path.canonicalize().ok()).ok_or_else(words)
}

fn install(context: &CliContext<'_>, name: &str, print: bool, no_start: bool) -> Result<(), Failure> {
    let files = files(context, name)?;
    if print && context.common.json {
        let files: Vec<_> = files.iter().map(|file| json!({ "path": file.path, "text": file.text })).collect();
        return out::json(&json!({ "files": files }));
    }
    if print {
        let text: Vec<String> = files.iter().map(|file| format!("# {}\n{}", file.path.display(), file.text)).collect();
        return out::line(&text.join("\n"));
    }
    owner::check(&context.place.home)?;
    for file in &files {
        if let Ok(there) = std::fs::read_to_string(&file.path) {
            if !there.contains(MARK) {
                let words =
                    format!("{}: herma did not write this file; choose another name with --name", file.path.display());
                return Err(Failure::File(words));
            }
            let for_home = |text: &str| text.lines().find(|line| line.starts_with("Description=")).map(str::to_owned);
            if for_home(&there) != for_home(&file.text) {
                let words = format!("{}: it is for another home; --name gives this one its own", file.path.display());
                return Err(Failure::File(words));
            }
        }
    }
    for file in &files {
        user_file::write(&file.path, &file.text)?;
    }
    let started = if no_start { Ok(()) } else { start(name, &files) };
    let paths: Vec<String> = files.iter().map(|file| file.path.display().to_string()).collect();
    let result = json!({ "files": paths, "started": !no_start && started.is_ok() });
    out::show(context.common, &result, |_| {
        let next = match (&started, no_start) {
            (Ok(()), false) => "it listens now, and after each login".to_owned(),
            (Ok(()), true) => format!("to start it: {}", by_hand(name)),
            (Err(words), _) => format!("it was not started ({words}); by hand: {}", by_hand(name)),
        };
        format!("written: {}\n{next}", paths.join(", "))
    })
}

fn by_hand(name: &str) -> String {
    if cfg!(target_os = "macos") {
        format!("launchctl load -w ~/Library/LaunchAgents/dev.{name}.daemon.plist")
    } else {
        format!("systemctl --user daemon-reload && systemctl --user enable --now {name}.socket")
    }
}

fn start(name: &str, files: &[UnitFile]) -> Result<(), String> {
    if cfg!(target_os = "macos") {
        let path = files.first().map(|file| file.path.display().to_string()).unwrap_or_default();
        return manager("launchctl", &["load", "-w", &path]);
    }
    manager("systemctl", &["--user", "daemon-reload"])?;
    manager("systemctl", &["--user", "enable", "--now", &format!("{name}.socket")])
}

fn manager(program: &str, arguments: &[&str]) -> Result<(), String> {
    let ran = Process::new(program).args(arguments).stdin(Stdio::null()).output();
    match ran {
        Ok(ran) if ran.status.success() => Ok(()),
        Ok(ran) => {
            let words = String::from_utf8_lossy(&ran.stderr);
            Err(format!("{program}: {}", words.lines().next().unwrap_or("it failed").trim()))
        }
        Err(error) => Err(format!("{program}: {error}")),
    }
}

fn uninstall(context: &CliContext<'_>, name: &str) -> Result<(), Failure> {
    let files = files(context, name)?;
    let own = |file: &&UnitFile| std::fs::read_to_string(&file.path).is_ok_and(|text| text.contains(MARK));
    let own: Vec<&UnitFile> = files.iter().filter(own).collect();
    if own.is_empty() {
        out::show(context.common, &json!({ "removed": [] }), |_| "there is no such service".into())?;
        return Err(Failure::No);
    }
    // If the service doesn't run, stopping it fails, which is no error.
    let stopped = if cfg!(target_os = "macos") {
        manager(
            "launchctl",
            &["unload", "-w", &own.iter().map(|file| file.path.display().to_string()).collect::<String>()],
        )
    } else {
        manager("systemctl", &["--user", "disable", "--now", &format!("{name}.socket"), &format!("{name}.service")])
    };
    for file in &own {
        user_file::remove(&file.path)?;
    }
    if !cfg!(target_os = "macos") {
        drop(manager("systemctl", &["--user", "daemon-reload"]));
    }
    let paths: Vec<String> = own.iter().map(|file| file.path.display().to_string()).collect();
    out::show(context.common, &json!({ "removed": paths, "stopped": stopped.is_ok() }), |_| {
        format!("removed: {}", paths.join(", "))
    })
}

fn status(context: &CliContext<'_>, name: &str) -> Result<(), Failure> {
    let files = files(context, name)?;
    let is_there = files.iter().all(|file| file.path.is_file());
    let is_current = files.iter().all(|file| std::fs::read_to_string(&file.path).is_ok_and(|text| text == file.text));
    let listens = if cfg!(target_os = "macos") {
        manager("launchctl", &["list", &format!("dev.{name}.daemon")])
    } else {
        manager("systemctl", &["--user", "is-active", "--quiet", &format!("{name}.socket")])
    };
    let result = json!({ "installed": is_there, "current": is_current, "listens": listens.is_ok() });
    out::show(context.common, &result, |_| {
        let words = match (is_there, is_current, listens.is_ok()) {
            (false, ..) => "not installed",
            (true, false, _) => {
                "installed for another program, home or version: run herma service install to update it"
            }
            (true, true, true) => "installed, and listens",
            (true, true, false) => "installed, and does not listen",
        };
        words.to_owned()
    })?;
    if is_there && listens.is_ok() { Ok(()) } else { Err(Failure::No) }
}
