//! The wiring, seen from outside: real processes, real sockets, real files.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "tests put files there as other programs do")]

mod ahead;
mod approval;
mod archive_damage;
mod archive_faults;
mod bad_frames;
mod bad_homes;
mod bad_messages;
mod bad_requests;
mod bad_stores;
mod beside_hermes;
mod both_codecs;
mod chain;
mod cli;
mod client_summarizer;
mod clock;
mod compression;
mod constraints;
mod crash;
mod events;
mod faults;
mod golden;
mod history;
mod interrupted;
mod life;
mod memory;
mod no_trace;
mod outputs;
mod profiles;
mod recall;
mod retention;
mod running;
mod sessions;
mod severity;
mod snapshots;
mod spill;
mod spill_by_hand;
mod spill_bytes;
mod spill_crash;
mod spill_faults;
mod spill_many;
mod spill_names;
mod transcript;
mod usage;
mod writer;
