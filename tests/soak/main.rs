//! A soak test: a daemon and sixteen processes in three languages work on one home for minutes or hours. Meanwhile
//! there are kills, stops, a full disk, clock jumps and exceeded limits. Every process records the daemon's answers and
//! checks that they hold. At the end everything is checked again, the archive with Python's SQLite and the stores as
//! files.
//!
//! * [`director`] starts, kills and stops processes by a plan that follows from a seed.
//! * [`worker`] is one of the processes, in Rust; `worker.py` and `worker.mjs` are the others.
//! * [`ledger`] is the record of a process.
//! * [`editor`] edits a store by hand, as a person does.
//! * [`measure`] samples the daemon every second, [`plot`] draws the samples.
//! * [`verify`] is the check at the end, [`report`] the final report.
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

/// Runs a daemon and agents under faults, and reports lost data.
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
    /// Decides the order of the faults
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder for samples.csv, plot.svg, report.json and the ledgers
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
