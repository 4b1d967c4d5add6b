//! Measures whether a search finds the texts that answer a question.
//!
//! `cargo bench -p herma-archive --bench relevance` prints a row for each set of questions and each way of asking them.
//! It shows in how many of 100 cases the evidence is the first hit, among the first five, and among the first ten, and
//! how long a search takes. SQLite's plain FTS5, with the words joined by OR, is measured too, without stems and with
//! Porter's. With `-- behind`, 200,000 newer messages follow the texts, or as many as a number after it says. Names of
//! sets after `--` leave out the other sets, and `herma` leaves out FTS5.
//!
//! The sets are in `relevance/data`. Their writers saw the texts and not the search:
//!
//! - `friends`: two long conversations of half a year
//! - `languages`: messages in ten languages
//! - `people`: questions about 35 sessions of engineers with a coding agent (SpecStory's histories, Apache-2.0). The
//!   sessions are not kept here: `HERMA_PEOPLE` names the file with one of them per line. Without it the set is left out.
//!   If only several messages together answer a question, each counts for its share.
//! - `airline`: questions about the first 50 conversations of tau-bench's airline trajectories (MIT). The conversations
//!   are not kept here: `HERMA_CONVERSATIONS` names the file with one of them per line. Without it the set is left out.
//!
//! Ways of asking: as written; `slips`, with one letter of the longest word removed, swapped, inserted or replaced; and
//! `forms`, with another ending on every English word.

#![expect(clippy::print_stdout, reason = "the figures are the purpose")]
#![expect(clippy::unwrap_used, reason = "a measurement may stop at the first surprise")]

#[path = "relevance/engines.rs"]
mod engines;
#[path = "relevance/sets.rs"]
mod sets;
#[path = "relevance/ways.rs"]
mod ways;

use std::time::{Duration, Instant};

use engines::Engine;
use sets::Set;
use ways::Way;

/// Newer messages that no question is about.
const FILLER: usize = 200_000;

/// How many hits each search returns at most.
const HITS: usize = 10;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let is_named = |name: &str| words.iter().any(|word| word == name);
    let filler = words.iter().find_map(|word| word.parse().ok()).unwrap_or(FILLER);
    let filler = if is_named("behind") { filler } else { 0 };
    println!("{:10} {:8} {:12} {:>5} {:>5} {:>5} {:>9} {:>9}", "set", "asked", "by", "@1", "@5", "@10", "p50", "p99");
    let mut sets = sets::all();
    if sets.iter().any(|set| is_named(set.name)) {
        sets.retain(|set| is_named(set.name));
    }
    for set in sets {
        for mut engine in engines::all(&set, filler, is_named("herma")) {
            for way in Way::ALL {
                if way.suits(&set) {
                    row(&set, way, &mut *engine);
                }
            }
        }
    }
}

/// Asks an engine all questions of a set, and prints the results.
fn row(set: &Set, way: Way, engine: &mut dyn Engine) {
    let (mut within, mut took) = ([0.0; 3], Vec::new());
    for question in &set.questions {
        let asked = way.ask(&question.text);
        let started = Instant::now();
        let found = engine.search(&asked, HITS);
        took.push(started.elapsed());
        for (sum, most) in within.iter_mut().zip([1, 5, 10]) {
            *sum += question.answered(&found, most);
        }
    }
    took.sort();
    let [first, five, ten] = within.map(|sum| percent(sum, set.questions.len()));
    let at = |share: usize| milliseconds(took[(took.len() * share / 100).min(took.len() - 1)]);
    let (set, way, by) = (set.name, way.name(), engine.name());
    println!("{set:10} {way:8} {by:12} {first:>5.1} {five:>5.1} {ten:>5.1} {:>6.2} ms {:>6.2} ms", at(50), at(99));
}

#[expect(clippy::cast_precision_loss, reason = "a share")]
fn percent(sum: f64, count: usize) -> f64 {
    100.0 * sum / count.max(1) as f64
}

fn milliseconds(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}
