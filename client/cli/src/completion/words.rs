//! The words of a command line that is being typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use herma_base::Common;
use herma_client::protocol::memory::Target;

/// The command line without options, and the options that say which daemon is meant.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub common: Common,
    /// The program's name is the first one.
    words: Vec<String>,
}

impl Words {
    /// Reads the arguments with which a shell asks: those after `--` are the line.
    pub(super) fn of(arguments: impl Iterator<Item = OsString>) -> Self {
        let with_value = with_value();
        let is_known = |name: &str| with_value.iter().any(|known| known == name);
        let mut line = arguments.skip_while(|argument| argument != "--").skip(1).map(|word| word.into_string());
        let mut all =
            Self { common: Common { no_spawn: true, timeout: Some(1), ..Common::default() }, words: Vec::new() };
        while let Some(Ok(word)) = line.next() {
            let (name, value) = match word.split_once('=') {
                Some((name, value)) if is_known(name) => (name, Some(value.to_owned())),
                _ if is_known(&word) => (word.as_str(), line.next().and_then(Result::ok)),
                _ => {
                    if !word.starts_with('-') {
                        all.words.push(word);
                    }
                    continue;
                }
            };
            all.set(name, value);
        }
        all
    }

    fn set(&mut self, name: &str, value: Option<String>) {
        match name {
            "--home" => self.common.home = value.map(PathBuf::from),
            "--socket" => self.common.socket = value.map(PathBuf::from),
            "--profile" => self.common.profile = value,
            _ => {}
        }
    }

    /// Returns the argument at a place, from 0, of a command of two words.
    pub(super) fn argument(&self, place: usize) -> Option<&str> {
        self.words.get(3 + place).map(String::as_str)
    }

    /// Returns the store that the line names.
    pub(super) fn store(&self) -> Option<Target> {
        self.words.iter().skip(3).find_map(|word| match word.as_str() {
            "memory" => Some(Target::Memory),
            "user" => Some(Target::User),
            _ => None,
        })
    }
}

/// Returns the options of every command that take a value.
fn with_value() -> Vec<String> {
    let program = Common::augment_args(clap::Command::new("herma"));
    let taking = program.get_arguments().filter(|arg| arg.get_action().takes_values());
    taking.filter_map(|arg| Some(format!("--{}", arg.get_long()?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Words {
        Words::of(line.split(' ').map(OsString::from))
    }

    #[test]
    fn a_line_tells_the_daemon_the_store_and_the_session() {
        let line = words("herma -- herma --home /h memory --profile=work show user 3");
        assert_eq!(line.common.home.as_deref(), Some(std::path::Path::new("/h")));
        assert_eq!((line.common.profile.as_deref(), line.store()), (Some("work"), Some(Target::User)));
        assert!(line.common.no_spawn);
        assert_eq!(words("herma -- herma --color never constraint rm --json s-1 ").argument(0), Some("s-1"));
        assert_eq!(words("herma -- herma memory log ").store(), None, "the command is no store");
        assert_eq!(words("herma -- herma --home").common.home, None);
        assert_eq!(words("herma").argument(0), None);
    }
}
