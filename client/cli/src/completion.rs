//! Completes commands in a shell: a script calls `herma` with the words so far, and `herma` prints what may come next.

mod values;
mod words;

use std::ffi::OsStr;

use clap::{Arg, ValueHint};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use clap_complete::env::Shells;
use herma_base::{Failure, out};

use values::Kind;
use words::Words;

/// The environment variable with the shell that asks for completions.
const ASKED_BY: &str = "HERMA_COMPLETE";

/// Commands that take a session's id as it is, so that a beginning is another id.
const WHOLE_ID: [&str; 10] = [
    "session open",
    "session append",
    "session lock",
    "session unlock",
    "session lock-holder",
    "session tip",
    "session resume-target",
    "session rm",
    "output admit",
    "mcp",
];

/// Prints what may come next if a shell asks for it. Returns whether one did.
pub(crate) fn answer(program: impl Fn() -> clap::Command) -> bool {
    let asked_by = std::env::var(ASKED_BY).unwrap_or_default();
    if Shells::builtins().completer(&asked_by).is_none() {
        return false;
    }
    let with_values = || annotated(program());
    let asked = clap_complete::CompleteEnv::with_factory(with_values).var(ASKED_BY).bin("herma").completer("herma");
    // A shell has no use for an error: it would print it between the words.
    asked.try_complete(std::env::args_os(), std::env::current_dir().ok().as_deref()).unwrap_or(true)
}

/// Prints the script with which a shell asks for completions.
pub(crate) fn script(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(&shell.to_string()) {
        let written = completer.write_registration(ASKED_BY, "herma", "herma", "herma", &mut script);
        written.map_err(|error| Failure::File(error.to_string()))?;
    }
    if shell == Shell::Zsh {
        // zsh reads the file `_herma` at the first completion, and expects it to complete.
        script.extend_from_slice(b"[[ \"$funcstack[1]\" = _herma ]] && _clap_dynamic_completer_herma \"$@\"\n");
    }
    out::bytes(&script)
}

/// Adds the values that the daemon knows to all arguments of a program.
fn annotated(mut program: clap::Command) -> clap::Command {
    // Deferred commands have no arguments before that.
    program.build();
    with_values(program, "")
}

fn with_values(command: clap::Command, path: &str) -> clap::Command {
    let inner = |command: clap::Command| {
        let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
        with_values(command, &path)
    };
    let command = command.mut_args(|arg| {
        // Hidden options come after a dash, and where nothing else fits: the values come without them.
        let hidden = !arg.is_positional();
        let is_path = matches!(arg.get_value_hint(), ValueHint::AnyPath | ValueHint::FilePath | ValueHint::DirPath);
        match kind(path, &arg) {
            Some(kind) => arg.add(ArgValueCompleter::new(move |current: &OsStr| complete(kind, current))),
            None if is_path => arg.add(ArgValueCompleter::new(paths)),
            None => arg,
        }
        .hide(hidden)
    });
    command.mut_subcommands(inner)
}

/// Returns the files that begin so. bash would put their names into the line as they are.
fn paths(current: &OsStr) -> Vec<CompletionCandidate> {
    let found = PathCompleter::any().complete(current).into_iter();
    found.filter(|path| path.get_value().to_str().is_some_and(values::is_plain)).collect()
}

fn complete(kind: Kind, current: &OsStr) -> Vec<CompletionCandidate> {
    let Some(current) = current.to_str() else { return Vec::new() };
    values::of(kind, current, &Words::of(std::env::args_os()))
}

/// Returns what an argument of a command names.
fn kind(command: &str, arg: &Arg) -> Option<Kind> {
    let room = command.split(' ').next().unwrap_or_default();
    match (arg.get_id().as_str(), room, command) {
        ("profile", ..) => Some(Kind::Profile),
        ("parent", "session", _) | ("of_session", "memory", _) => Some(Kind::WholeSession),
        ("session" | "sessions", _, command) if WHOLE_ID.contains(&command) => Some(Kind::WholeSession),
        ("session" | "sessions", ..) | ("describe" | "state", "recall", _) => Some(Kind::Session),
        ("output", _, "output read" | "output search") | ("handle" | "handles", "context" | "output", _) => {
            Some(Kind::Output)
        }
        ("expand", "recall", _) => Some(Kind::Output),
        ("revision" | "from" | "to" | "before" | "expected_revision", "memory", _) => Some(Kind::Revision),
        ("revision" | "before" | "expected_revision", "files", _) => Some(Kind::FilesRevision),
        ("old_text", "memory", _) => Some(Kind::Entry),
        ("path", "files", _) => Some(Kind::MemoryFile),
        ("ids", _, "memory approve" | "memory reject") => Some(Kind::PendingWrite),
        ("id", _, "constraint rm") => Some(Kind::Constraint),
        ("id", _, "context unpin") => Some(Kind::Pin),
        ("agent", _, "recall" | "session list") | ("of_agent", "memory", _) => Some(Kind::Agent),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_thing_that_the_daemon_keeps_is_completed() {
        fn look(command: &clap::Command, path: &str, left: &mut Vec<String>) {
            for arg in command.get_arguments() {
                let name = arg.get_value_names().and_then(<[_]>::first).map(ToString::to_string).unwrap_or_default();
                let is_named = ["SESSION", "SESSIONS", "HANDLE", "REVISION", "ENTRY"].contains(&name.as_str())
                    || (name == "ID" && arg.get_id() != "id");
                if is_named && kind(path, arg).is_none() {
                    left.push(format!("{path} {}", arg.get_id()));
                }
            }
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                look(inner, format!("{path} {}", inner.get_name()).trim_start(), left);
            }
        }
        let mut program = crate::program::commands();
        program.build();
        let mut left = Vec::new();
        look(&program, "", &mut left);
        assert!(left.is_empty(), "{left:?}");
    }
}
