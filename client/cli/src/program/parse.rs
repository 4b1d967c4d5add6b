//! Parses the arguments. Of the forty commands only the requested one is built, because building all takes longer than
//! most commands run.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{Args, FromArgMatches, Subcommand};
use herma_base::Common;

use super::{Arguments, Command};

/// Returns the program's arguments.
///
/// # Errors
/// The arguments are wrong, or they ask for the help or the version.
pub(super) fn arguments(version: &'static str) -> Result<Arguments, clap::Error> {
    read(std::env::args_os().collect(), version)
}

/// Parses with the one command first. If that fails, parses with all commands: the error then suggests the nearest
/// command, and a command's name may have been the value of an option.
fn read(arguments: Vec<OsString>, version: &'static str) -> Result<Arguments, clap::Error> {
    match command_alone(&arguments, version) {
        Err(error) if error.kind() != ErrorKind::DisplayVersion => {
            let found = super::commands().version(version).try_get_matches_from(arguments)?;
            Arguments::from_arg_matches(&found)
        }
        read => read,
    }
}

/// Parses the arguments with only the first command among them, or with none.
fn command_alone(arguments: &[OsString], version: &'static str) -> Result<Arguments, clap::Error> {
    let program = Common::augment_args(clap::Command::new("herma"))
        .version(version)
        .disable_help_flag(true)
        .disable_help_subcommand(true);
    let program = match named(arguments) {
        Some(command) => program.subcommand(command),
        None => program,
    };
    Arguments::from_arg_matches(&program.try_get_matches_from(arguments)?)
}

/// Returns the first command that the arguments name.
fn named(arguments: &[OsString]) -> Option<clap::Command> {
    let names = || arguments.iter().skip(1).filter(|argument| !argument.as_encoded_bytes().starts_with(b"-"));
    names().next()?;
    let all = Command::augment_subcommands(clap::Command::new("all"));
    names().find_map(|name| all.find_subcommand(name)).cloned()
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;

    const VERSION: &str = env!("CARGO_PKG_VERSION");

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_command_alone_reads_what_all_of_them_read() {
        for line in [
            "herma ping",
            "herma --json ping",
            "herma ping --json --timeout 5",
            "herma --home /x --profile work memory add user text",
            "herma memory list --json",
            "herma recall socket timeout --since 7d",
            "herma output search ping -C 2",
            "herma --profile memory ping",
            "herma session open ping",
        ] {
            let all = Arguments::try_parse_from(words(line)).map(|read| format!("{read:?}"));
            assert_eq!(read(words(line), VERSION).map(|read| format!("{read:?}")).ok(), all.ok(), "{line}");
        }
        for alone in ["herma ping --json", "herma --timeout 5 memory add user text", "herma session open ping"] {
            assert!(command_alone(&words(alone), VERSION).is_ok(), "{alone}");
        }
    }

    #[test]
    fn help_versions_and_errors_are_those_of_all() {
        for line in [
            "herma",
            "herma --version",
            "herma -V",
            "herma --json --version",
            "herma ping --version",
            "herma --version ping",
            "herma --help",
            "herma help",
            "herma help ping",
            "herma pong",
            "herma ping --help",
            "herma --profile",
            "herma memory",
            "herma memory ad user x",
            "herma ping x",
            "herma memory add",
            "herma memory add --help",
            "herma --jsn ping",
        ] {
            let all = super::super::commands().try_get_matches_from(words(line)).err().map(|error| error.to_string());
            let message = read(words(line), VERSION).err().map(|error| error.to_string());
            assert_eq!(message, all, "{line}");
        }
    }

    #[test]
    fn the_table_of_commands_is_sound() {
        Arguments::command().debug_assert();
    }

    /// A doc comment on a struct of arguments replaced the description of the command: `herma memory add --help` began
    /// with the comment of the write options, and so did five others.
    #[test]
    fn every_command_is_described_by_words_of_its_own() {
        fn collect(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
            for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
                let path = format!("{path} {}", inner.get_name());
                // The first line of its help is also its line in the list of its parent.
                let (about, long) = (inner.get_about(), inner.get_long_about());
                let begins =
                    long.is_none_or(|long| about.is_some_and(|about| long.to_string().starts_with(&about.to_string())));
                assert!(begins, "`{path} --help` begins with {long:?}, and is listed as {about:?}");
                found.push((inner.get_about().map(ToString::to_string).unwrap_or_default(), path.clone()));
                collect(inner, &path, found);
            }
        }
        let mut program = Arguments::command();
        program.build();
        let mut found = Vec::new();
        collect(&program, "herma", &mut found);
        assert!(found.len() > 80, "{}", found.len());
        found.sort();
        for (about, path) in &found {
            // A command's description is imperative: "Show", not "Shows", "A list" or "What".
            let first = about.split(' ').next().unwrap_or_default();
            let is_order =
                !first.is_empty() && !first.ends_with('s') && !["A", "What", "Which", "Whether"].contains(&first);
            assert!(is_order, "`{path}` is described as {about:?}");
        }
        for pair in found.windows(2) {
            assert!(pair[0].0 != pair[1].0, "{pair:?}");
        }
    }
}
