//! Measures `herma ping` as a whole process, compared with `/bin/true`.
//!
//! `cargo build --release && cargo bench -p herma --bench process`
//!
//! Both run in turn, pair by pair; the figures are medians. The daemon is already running, as for all but the first
//! command of a day.

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints a table and may stop at a surprise")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Pairs of runs.
const PAIRS: usize = 300;

fn main() {
    let folder = tempfile::Builder::new().prefix("hb").tempdir().unwrap();
    let herma = env!("CARGO_BIN_EXE_herma");
    let beside = Path::new(herma).with_file_name("hermad");
    assert!(beside.is_file(), "build the daemon first: cargo build --release");
    let command = |arguments: &[&str]| {
        let mut command = Command::new(herma);
        command.args(arguments).env("HERMA_HOME", folder.path()).env("HERMAD", &beside).stdout(Stdio::null());
        command
    };
    assert!(command(&["ping"]).status().unwrap().success());
    let mut pairs: Vec<(Duration, Duration)> =
        (0..PAIRS).map(|_| (took(&mut Command::new("/bin/true")), took(&mut command(&["ping"])))).collect();
    let ratios = pairs.iter().map(|(floor, ping)| ping.as_secs_f64() / floor.as_secs_f64());
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    pairs.sort_by_key(|pair| pair.1);
    let ping = pairs[PAIRS / 2].1;
    pairs.sort_by_key(|pair| pair.0);
    let floor = pairs[PAIRS / 2].0;
    println!("/bin/true {floor:.0?}, herma ping {ping:.0?}: {:.2}x (at most 3 wanted)", ratios[PAIRS / 2]);
    assert!(command(&["daemon", "stop"]).status().unwrap().success());
}

fn took(command: &mut Command) -> Duration {
    let started = Instant::now();
    assert!(command.status().unwrap().success());
    started.elapsed()
}
