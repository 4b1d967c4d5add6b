//! The version of an agent's program.

use std::fmt;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde::{Serialize, Serializer};

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(10);

/// The most bytes of its answer that are read.
const ANSWER: u64 = 4 << 10;

/// The version of a program: three numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(major, minor, patch) = self;
        write!(formatter, "{major}.{minor}.{patch}")
    }
}

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Asks a program for its version. A program that does not answer in time is ended.
pub(crate) fn of(program: &Path) -> Option<Version> {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take()?;
    let (sender, answer) = channel();
    // A child of the program may keep its output open for longer than it runs, so only the first line is waited for.
    std::thread::spawn(move || {
        let mut line = String::new();
        let read = BufReader::new(output.take(ANSWER)).read_line(&mut line);
        // Nobody waits any more after the time is up.
        drop(sender.send(read.ok().map(|_| line)));
    });
    let answer = answer.recv_timeout(PATIENCE).ok().flatten();
    // It may have ended by itself meanwhile.
    drop(child.kill());
    drop(child.wait());
    parse(&answer?)
}

/// Returns the first three numbers with dots between them: `2.1.330 (Claude Code)`, `codex-cli 0.169.0`.
fn parse(answer: &str) -> Option<Version> {
    let words = answer.split(|c: char| !(c.is_ascii_digit() || c == '.'));
    let mut versions = words.filter_map(|word| {
        let mut numbers = word.trim_matches('.').split('.').map(str::parse::<u32>);
        Some(Version(numbers.next()?.ok()?, numbers.next()?.ok()?, numbers.next()?.ok()?))
    });
    versions.next()
}

#[cfg(test)]
mod tests {
    use herma_base::search_path;

    use super::*;

    #[test]
    fn versions_are_found_in_answers_and_compared_as_numbers() {
        for (answer, expected) in [
            ("2.1.330 (Claude Code)\n", Some(Version(2, 1, 330))),
            ("codex-cli 0.169.0\n", Some(Version(0, 169, 0))),
            ("v1.2.3-beta.4", Some(Version(1, 2, 3))),
            ("Hermes Agent v0.19.0 (2026.10.1)", Some(Version(0, 19, 0))),
            ("1.2", None),
            ("99999999999.1.1", None),
            ("", None),
        ] {
            assert_eq!(parse(answer), expected, "{answer}");
        }
        assert!(Version(2, 1, 330) > Version(2, 1, 99) && Version(2, 1, 0) < Version(10, 0, 0));
    }

    #[test]
    fn a_program_says_its_version_or_nothing() {
        let shell = search_path::find("sh").unwrap();
        assert_eq!(of(&shell).map(|version| version.0 > 1_000), of(&shell).map(|_| false));
        assert_eq!(of(Path::new("/dev/null")), None);
    }
}
