//! Shared code of the integration tests: temporary homes, real daemons, raw connections, and the only way to wait.
//!
//! * [`cli`] runs the real `herma`.
//! * [`envelope`] writes and reads binary frames as docs/protocol.md says, without herma's code.
//! * [`home`] makes a home and reads its files.
//! * [`daemon`] starts, signals, kills and ends a real `hermad`.
//! * [`injection`] makes system calls of a daemon fail.
//! * [`mcp`] runs the real `herma mcp`.
//! * [`mounts`] gives a home a file system of its own.
//! * [`needs`] detects what a test needs of the machine, and lists the tests that can't run.
//! * [`journal`] reads a journal without herma's code.
//! * [`postgres`] starts a real database, and cuts the connection to it.
//! * [`raw`] sends bytes to a daemon, with a timeout for every read and write.
//! * [`terminal`] runs a command in a real terminal.
//! * [`wait`] waits for a condition. No test calls `sleep`.
//! * [`python`] runs other programs that share a home with herma.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "tests put files there as other programs do")]

pub mod cli;
pub mod daemon;
pub mod envelope;
pub mod home;
pub mod injection;
pub mod journal;
pub mod mcp;
pub mod mounts;
pub mod needs;
pub mod postgres;
pub mod python;
pub mod random;
pub mod raw;
pub mod terminal;
pub mod wait;

pub use cli::{Cli, CommandOutput, Running, program as cli_program};
pub use daemon::{Daemon, Exit, program as daemon_program};
pub use envelope::{Envelope, Form, Kind};
pub use home::{Held, Home};
pub use injection::{Injection, Where};
pub use journal::Journal;
pub use mcp::Mcp;
pub use needs::Need;
pub use postgres::{Line, Postgres};
pub use raw::{Raw, kind};
pub use terminal::Terminal;
pub use wait::eventually;
