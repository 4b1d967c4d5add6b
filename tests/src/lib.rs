//! What the integration tests share: homes of their own, real daemons on them,
//! raw connections, and the one way to wait.
//!
//! * [`cli`] runs the real `herma`.
//! * [`envelope`] writes and reads binary frames as docs/protocol.md says, without herma's code.
//! * [`home`] makes a home and looks at its files.
//! * [`daemon`] starts, signals, kills and ends a real `hermad`.
//! * [`injection`] makes system calls of a daemon fail.
//! * [`mcp`] runs the real `herma mcp`.
//! * [`mounts`] gives a home a file system of its own.
//! * [`needs`] says what a test needs of the machine, and lists it where that is missing.
//! * [`journal`] reads a journal without herma's code.
//! * [`postgres`] starts a real database, and cuts the line to it.
//! * [`raw`] speaks to it byte by byte, with timeouts everywhere.
//! * [`wait`] waits for a condition; nothing here ever sleeps.
//! * [`python`] runs the other programs that share a home with it.
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
pub mod wait;

pub use cli::{Cli, Ran, Running, program as cli_program};
pub use daemon::{Daemon, Exit, program as daemon_program};
pub use envelope::{Envelope, Form, Kind};
pub use home::{Held, Home};
pub use injection::{Injection, Where};
pub use journal::Journal;
pub use mcp::Mcp;
pub use needs::Need;
pub use postgres::{Line, Postgres};
pub use raw::{Raw, kind};
pub use wait::eventually;
