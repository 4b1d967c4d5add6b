//! The needs of tests that go beyond the README's requirements for a machine.

use std::panic::Location;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::thread;

/// A feature that not every machine has. The script `tests/skips` detects it, describes it, and keeps the list of
/// skipped tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// The test can mount a file system of its own.
    Mounts,
    /// The test can make system calls of a daemon fail.
    Strace,
    /// The test runs as root, and another user can run Python.
    Root,
    /// A daemon can be denied access to files, as [`Home::ordinary`](crate::Home::ordinary) does.
    Ordinary,
    /// tmux, a terminal that a test can read, and the pager less.
    Tmux,
    /// The shells zsh and fish.
    Shells,
    /// systemd can check a unit file.
    Systemd,
    /// A PostgreSQL that a test can start.
    Postgres,
    /// The program `date` reads phrases, as GNU's does.
    GnuDate,
}

/// The detected features, cached per process.
static FOUND: [OnceLock<bool>; Need::ALL.len()] = [const { OnceLock::new() }; Need::ALL.len()];

impl Need {
    /// All needs.
    pub const ALL: [Self; 9] = [
        Self::Mounts,
        Self::Strace,
        Self::Root,
        Self::Ordinary,
        Self::Tmux,
        Self::Shells,
        Self::Systemd,
        Self::Postgres,
        Self::GnuDate,
    ];

    /// Returns the need's name in the list.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mounts => "mounts",
            Self::Strace => "strace",
            Self::Root => "root",
            Self::Ordinary => "ordinary",
            Self::Tmux => "tmux",
            Self::Shells => "shells",
            Self::Systemd => "systemd",
            Self::Postgres => "postgres",
            Self::GnuDate => "gnu-date",
        }
    }

    /// Whether this machine has the feature.
    ///
    /// # Panics
    /// `tests/skips` does not know the need.
    #[must_use]
    pub fn is_here(self) -> bool {
        *FOUND[self as usize].get_or_init(|| match skips(&["can", self.name()]).code() {
            Some(0) => true,
            Some(1) => false,
            other => panic!("tests/skips can {}: {other:?}", self.name()),
        })
    }

    /// Whether the running test can run. If not, adds it to the list of skipped tests, and the test must return.
    /// `HERMA_TEST_WITHOUT` lists needs to treat as missing, separated by commas.
    ///
    /// # Panics
    /// The list can't be written.
    #[must_use]
    #[track_caller]
    pub fn is_met(self) -> bool {
        let without = std::env::var("HERMA_TEST_WITHOUT").unwrap_or_default();
        let is_met = !without.split(',').any(|name| name == self.name()) && self.is_here();
        let what = running_test(Location::caller());
        assert!(skips(&[if is_met { "drop" } else { "add" }, self.name(), &what]).success());
        is_met
    }
}

/// Returns the test's name, which is the name of its thread, or else its place in the code.
fn running_test(place: &Location<'_>) -> String {
    match thread::current().name() {
        None | Some("main") => format!("{}:{}", place.file(), place.line()),
        Some(name) => name.to_owned(),
    }
}

fn skips(arguments: &[&str]) -> ExitStatus {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("skips");
    Command::new(script).args(arguments).status().unwrap()
}
