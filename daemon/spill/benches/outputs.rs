//! Measures outputs: searching, paging, keeping, many tiny ones, a start.
//!
//! `cargo bench -p herma-spill` prints one line for each figure, with its limit if it has one. All files are in a
//! temporary folder.

#![expect(clippy::print_stdout, reason = "the figures are the purpose")]
#![expect(clippy::unwrap_used, reason = "a measure may stop at the first surprise")]
#![expect(clippy::cast_precision_loss, reason = "figures are rounded anyway")]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use herma_disk::file::{self, Temporary};
use herma_spill::admit::{Origin, admit};
use herma_spill::outputs::View;
use herma_spill::page::Part;
use herma_spill::search::{Needle, Query, Scope};
use herma_spill::{Budgets, Content, Facts, Outputs, Size};

/// How often each short measurement is repeated; the median counts.
const ROUNDS: usize = 9;

/// Bytes that are searched.
const SEARCHED: usize = 256 << 20;

/// The number of tiny outputs.
const MANY: usize = 100_000;

const TEMPORARY: Temporary = Temporary { prefix: ".bench_", suffix: ".tmp" };

fn main() {
    let home = tempfile::tempdir().unwrap();
    searching(&home.path().join("search"));
    paging(&home.path().join("page"));
    keeping(&home.path().join("keep"));
    many(home.path());
}

fn origin<'a>(session: &'a str, id: &'a str) -> Origin<'a> {
    Origin { session, profile: "default", tool: "terminal", id }
}

fn log(bytes: usize) -> String {
    let mut text = String::with_capacity(bytes + 200);
    let mut number = 1_u64;
    while text.len() < bytes {
        number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str("2026-09-21T12:00:00.123Z INFO  worker::queue request served id=");
        text.push_str(&number.to_string());
        text.push_str(" status=200 path=/api/v1/items in 12ms\n");
    }
    text
}

fn keep(outputs: &Outputs, id: &str, text: &str) -> String {
    outputs.keep(&origin("s", id), text, &Facts::of(text), 0.0).unwrap().handle.to_string()
}

fn median(mut measure: impl FnMut() -> f64) -> f64 {
    let mut all: Vec<f64> = (0..ROUNDS).map(|_| measure()).collect();
    all.sort_by(f64::total_cmp);
    all[ROUNDS / 2]
}

fn seconds(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

fn searching(root: &Path) {
    let outputs = Outputs::new(root.to_owned());
    let mut text = log(SEARCHED);
    text.push_str("ERROR the disk is full\n");
    let handle = keep(&outputs, "1", &text);
    for (name, needle) in
        [("literal", Needle::Literal("ERROR the disk".into())), ("pattern", Needle::Regex("ERROR .* full$".into()))]
    {
        let query = Query { needle, scope: Scope::Handle(handle.clone()), context: 2, limit: 50 };
        let took = median(|| seconds(|| assert_eq!(outputs.search(&query, &|| false).unwrap().matches.len(), 1)));
        println!("search, {name}: {:.2} GB/s (limit 1 for a literal)", text.len() as f64 / took / 1e9);
    }
}

fn paging(root: &Path) {
    let outputs = Outputs::new(root.to_owned());
    let mut times = [0.0; 2];
    for (time, size) in times.iter_mut().zip([1 << 20, 200 << 20]) {
        let text = log(size);
        let handle = keep(&outputs, &size.to_string(), &text);
        let lines = text.lines().count();
        let part = Part::Lines { line: lines * 3 / 4, lines: 200 };
        *time = median(|| {
            seconds(|| {
                for _ in 0..100 {
                    black_box(outputs.page(&handle, part, View::Raw).unwrap());
                }
            })
        });
    }
    println!(
        "page: {:.0} µs of 1 MB, {:.0} µs of 200 MB: {:.2} times (limit 3)",
        times[0] * 1e4,
        times[1] * 1e4,
        times[1] / times[0]
    );
}

fn keeping(root: &Path) {
    let outputs = Outputs::new(root.to_owned());
    let budgets = Budgets::default();
    let beside = root.join("beside");
    herma_disk::folder::create(&beside).unwrap();
    for megabytes in [1, 10] {
        let base = log(megabytes << 20);
        let mut round = 0;
        let mut admitting = Vec::new();
        let ratio = median(|| {
            round += 1;
            // Each text has a different length, as outputs have.
            let text = format!("{}{base}", "-".repeat(round));
            let path = beside.join(format!("{megabytes}-{round}"));
            let plain = seconds(|| {
                black_box(file::replace(&path, text.as_bytes(), TEMPORARY).unwrap());
            });
            let (id, content) = (format!("{megabytes}-{round}"), Content::Text(text));
            let admitted = seconds(|| {
                black_box(admit(&outputs, &origin("s", &id), &content, Size::Chars(1_000), &budgets, 0.0));
            });
            admitting.push(admitted);
            admitted / plain
        });
        admitting.sort_by(f64::total_cmp);
        println!(
            "admit of {megabytes} MB: {:.2} ms, {ratio:.2} times a file written and synced",
            admitting[ROUNDS / 2] * 1e3
        );
    }
}

fn many(home: &Path) {
    let (root, catalog) = (home.join("many"), home.join("outputs.jsonl"));
    let outputs = Outputs::open(root.clone(), &catalog);
    outputs.sweep(0.0).unwrap();
    let mut batches = Vec::new();
    let total = seconds(|| {
        for batch in 0..MANY / 1_000 {
            let session = format!("session-{batch}");
            batches.push(seconds(|| {
                for number in 0..1_000 {
                    let (id, text) = (format!("call_{number}"), format!("tiny output {batch} {number}"));
                    outputs.keep(&origin(&session, &id), &text, &Facts::of(&text), 0.0).unwrap();
                }
            }));
        }
    });
    let (first, last) = (batches[0], batches[batches.len() - 1]);
    println!(
        "{MANY} tiny outputs: {total:.1} s; the last 1,000 take {:.2} times the first ({last:.2} s, {first:.2} s)",
        last / first
    );
    drop(outputs);
    let mut opened = None;
    let opening = seconds(|| opened = Some(Outputs::open(root, &catalog)));
    let outputs = opened.unwrap();
    let sweeping = seconds(|| {
        black_box(outputs.sweep(0.0).unwrap());
    });
    assert_eq!(outputs.usage().0, MANY as u64);
    println!("start with {MANY}: {opening:.2} s to open, {sweeping:.2} s to sweep (limit 1 to open)");
}
