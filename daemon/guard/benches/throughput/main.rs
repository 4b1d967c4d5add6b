//! Measures scan and redaction in MB/s, over everyday texts and over texts made to be slow.
//!
//! `cargo bench -p herma-guard` prints one line per text: the rate over [`SIZE`] bytes, and the
//! ratio of the times for twice as many bytes. The last line names the slowest text and the largest
//! ratio. `cargo bench -p herma-guard -- framework` measures only texts with that word in their
//! name. `HERMA_GUARD_TEXT` names a file; its text is measured too, and called "own".

#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints a table and may stop at a surprise")]

use std::hint::black_box;
use std::time::{Duration, Instant};
use std::{env, fs};

use herma_guard::{RedactOptions, Scope, redact, scan};

mod texts;

use texts::{TEXTS, Text};

/// Approximate size of the shorter form of each text, in bytes.
const SIZE: usize = 1 << 20;

/// How often each text is measured; the fastest run counts.
const ROUNDS: usize = 5;

/// The required rate of scan and redaction for any text, in MB/s.
const LEAST_RATE: f64 = 60.0;

/// The largest allowed ratio of the time for twice the text.
const LARGEST_RATIO: f64 = 2.5;

/// The result for one text and one function.
#[derive(Clone, Copy)]
struct Measure {
    /// MB/s for the longer form.
    rate: f64,
    /// Time for the longer form divided by the time for the shorter one.
    ratio: f64,
}

fn main() {
    println!("{:<26} {:>10} {:>7} {:>10} {:>7}", "text", "scan MB/s", "x2", "redact", "x2");
    let words: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let is_asked_for = |text: &&Text| words.is_empty() || words.iter().any(|word| text.name.contains(word.as_str()));
    let own = env::var_os("HERMA_GUARD_TEXT").map(|file| fs::read_to_string(file).unwrap().leak());
    let own = own.map(|text| Text::own(text));
    let mut all: Vec<(String, Measure)> = Vec::new();
    for text in TEXTS.iter().chain(&own).filter(is_asked_for) {
        let scanned = measure(text, |text| drop(black_box(scan(text, Scope::Strict))));
        let redacted = measure(text, |text| {
            drop(black_box(redact(text, RedactOptions::default())));
        });
        let (name, Measure { rate, ratio }) = (text.name, scanned);
        println!("{name:<26} {rate:>10.0} {ratio:>7.2} {:>10.0} {:>7.2}", redacted.rate, redacted.ratio);
        all.extend([(format!("scan of {name}"), scanned), (format!("redaction of {name}"), redacted)]);
    }
    let slowest = all.iter().min_by(|(_, a), (_, b)| a.rate.total_cmp(&b.rate));
    let steepest = all.iter().max_by(|(_, a), (_, b)| a.ratio.total_cmp(&b.ratio));
    if let (Some((slow, Measure { rate, .. })), Some((steep, Measure { ratio, .. }))) = (slowest, steepest) {
        println!(
            "slowest: {slow}, {rate:.0} MB/s (limit {LEAST_RATE}); largest ratio: {steep}, {ratio:.2} (limit {LARGEST_RATIO})"
        );
    }
}

fn measure(text: &Text, work: impl Fn(&str)) -> Measure {
    let (short, long) = (text.of_size(SIZE), text.of_size(2 * SIZE));
    let (mut once, mut twice) = (Duration::MAX, Duration::MAX);
    for _ in 0..ROUNDS {
        once = once.min(time(&short, &work));
        twice = twice.min(time(&long, &work));
    }
    Measure { rate: long.len() as f64 / 1e6 / twice.as_secs_f64(), ratio: twice.as_secs_f64() / once.as_secs_f64() }
}

fn time(text: &str, work: impl Fn(&str)) -> Duration {
    let start = Instant::now();
    work(text);
    start.elapsed()
}
