//! The wiring, seen from outside: real processes, real sockets, real files.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "tests put files there as other programs do")]

mod approval;
mod bad_frames;
mod bad_homes;
mod bad_messages;
mod bad_requests;
mod bad_stores;
mod beside_hermes;
mod both_codecs;
mod chain;
mod cli;
mod compression;
mod crash;
mod events;
mod faults;
mod golden;
mod history;
mod life;
mod memory;
mod outputs;
mod profiles;
mod recall;
mod retention;
mod sessions;
mod severity;
mod snapshots;
mod spill;
mod transcript;
mod usage;
mod writer;
