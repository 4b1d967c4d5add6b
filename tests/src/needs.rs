//! What a test needs of the machine that runs it, beyond what the README asks for.

use std::panic::Location;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::thread;

/// Something that not every machine has. The script `tests/skips` finds out whether this
/// one does, says more of each, and keeps the list of what could not be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// A file system of the test's own can be mounted.
    Mounts,
    /// System calls of a daemon can be made to fail.
    Strace,
    /// The test runs as root, and another user can run Python.
    Root,
    /// A daemon can be kept from reading every file, as [`Home::ordinary`](crate::Home::ordinary) does.
    Ordinary,
    /// A terminal that a test can look at.
    Tmux,
    /// systemd reads a unit and says what is wrong with it.
    Systemd,
    /// A PostgreSQL that a test can start.
    Postgres,
}

/// What was found out, once in a process.
static FOUND: [OnceLock<bool>; Need::ALL.len()] = [const { OnceLock::new() }; Need::ALL.len()];

impl Need {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Mounts, Self::Strace, Self::Root, Self::Ordinary, Self::Tmux, Self::Systemd, Self::Postgres];

    /// Its name on the list.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mounts => "mounts",
            Self::Strace => "strace",
            Self::Root => "root",
            Self::Ordinary => "ordinary",
            Self::Tmux => "tmux",
            Self::Systemd => "systemd",
            Self::Postgres => "postgres",
        }
    }

    /// Whether this machine has it.
    ///
    /// # Panics
    /// `tests/skips` does not know it.
    #[must_use]
    pub fn is_here(self) -> bool {
        *FOUND[self as usize].get_or_init(|| match skips(&["can", self.name()]).code() {
            Some(0) => true,
            Some(1) => false,
            other => panic!("tests/skips can {}: {other:?}", self.name()),
        })
    }

    /// Whether the running test can be run. Where it can't, it is put on the list, and has
    /// to return. `HERMA_TEST_WITHOUT` names what is treated as missing, with commas between.
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

/// The name of the test, which is that of its thread; where it has none, the place in the code.
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
