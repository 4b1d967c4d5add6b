//! A soak: a daemon and sixteen processes in three languages on one home, for minutes or hours, with
//! kills, stops, a full disk, clocks that jump, and limits that are reached. Every process keeps on
//! record what it was promised, and looks whether it is so; at the end everything is looked at once
//! more, the archive with Python's SQLite and the stores as files.
//!
//! * [`director`] starts, kills and stops processes by a plan that a seed decides.
//! * [`worker`] is one of the processes, in Rust; `worker.py` and `worker.mjs` are the others.
//! * [`ledger`] is what a process puts on record.
//! * [`editor`] edits a store by hand, as a person does.
//! * [`measure`] looks at the daemon every second, [`plot`] draws it.
//! * [`verify`] is the look at the end, [`report`] what is told.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may stop at the first surprise")]
#![allow(clippy::disallowed_methods, reason = "the files are this program's own, or put there as others do")]
#![allow(clippy::print_stdout, reason = "it tells people how it goes")]

mod daemon;
mod director;
mod editor;
mod faults;
mod ledger;
mod measure;
mod plot;
mod report;
mod verify;
mod worker;
mod workers;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Runs daemon and agents under faults, and tells what was lost.
#[derive(Debug, Parser)]
#[command(
    after_help = "Examples:\n  cargo run --release -p herma-tests --bin herma-soak -- --minutes 10\n  touch target/soak/stop          # ends it early, with its report\n  herma-soak --minutes 60 --seed 7 --out soak\n\nExit codes: 0 nothing was lost, 1 something was, or a process could not go on."
)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// How long faults happen, in minutes
    #[arg(long, default_value_t = 10.0)]
    minutes: f64,
    /// Decides which fault comes when
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Where samples.csv, plot.svg, report.json and the ledgers are put
    #[arg(long, default_value = "target/soak")]
    out: PathBuf,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// One of the processes; the program starts it by itself
    #[command(hide = true)]
    Worker { kind: String, name: String, seed: u64, home: PathBuf, out: PathBuf },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match arguments.command {
        Some(Command::Worker { kind, name, seed, home, out }) => {
            worker::run(&kind, &name, seed, &home, &out);
            ExitCode::SUCCESS
        }
        None => director::run(arguments.minutes, arguments.seed, &arguments.out),
    }
}
