//! MB/s of the scan and the redaction, over everyday texts and over texts made to be slow.
//!
//! `cargo bench -p herma-guard` prints one line for each.

#![expect(clippy::print_stdout, reason = "the figures are the purpose")]

use std::hint::black_box;
use std::time::Instant;

use herma_guard::{RedactOptions, Scope, redact, scan};

/// Bytes of each text, about.
const SIZE: usize = 2 << 20;

/// Each text is read so many times; the fastest counts.
const ROUNDS: usize = 5;

fn main() {
    let texts = [
        ("prose", repeat(PROSE)),
        ("log", repeat(LOG)),
        ("code", repeat(CODE)),
        ("chinese", repeat("我们把部署说明写进了文档，然后通知了团队。")),
        ("ignore", repeat("ignore ")),
        ("ignore… instructions", repeat("ignore ") + "instructions"),
        ("comments", repeat("<!--") + "system -->x"),
        ("digits", repeat("0123456789")),
        ("divs", repeat("<div style=\"") + "display"),
        ("assignments", repeat("A_TOKEN=")),
        ("spaced =", repeat(" = ")),
        ("schemes", repeat("redis://")),
        ("pem heads", repeat("-----BEGIN PRIVATE KEY-----")),
        ("jwt heads", repeat("eyJ")),
        ("pluses", repeat("+1")),
        ("all words", repeat(ALL_WORDS)),
        ("all words, ſ", repeat(ALL_WORDS) + "ſ"),
    ];
    println!("{:<22} {:>10} {:>10}   MB/s", "text", "scan", "redact");
    for (name, text) in &texts {
        let scanned = rate(text, |text| drop(black_box(scan(text, Scope::Strict))));
        let redacted = rate(text, |text| {
            drop(black_box(redact(text, RedactOptions::default())));
        });
        println!("{name:<22} {scanned:>10.0} {redacted:>10.0}");
    }
}

fn repeat(piece: &str) -> String {
    piece.repeat(SIZE.div_ceil(piece.len()))
}

fn rate(text: &str, work: impl Fn(&str)) -> f64 {
    let fastest = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work(text);
            start.elapsed()
        })
        .min()
        .unwrap_or_default();
    text.len() as f64 / 1e6 / fastest.as_secs_f64()
}

const PROSE: &str = "The harbour was quiet when we arrived, and the pilot told us that the \
ferry would not leave before noon. We had time to walk up to the old town, buy bread and sit \
by the wall. Nobody was in a hurry; the users of the small library came and went, and you \
could hear the clock strike from the tower of St Anne's.\n";

const LOG: &str = "2026-11-20T07:12:44.120Z INFO http: request done method=GET \
path=/v1/items/4711 status=200 took_ms=12 bytes=18233 peer=10.0.3.17:51544\n\
2026-11-20T07:12:44.391Z WARN pool: connection reused after idle idle_ms=90211 pool=main\n";

const CODE: &str = "fn settle(order: &mut Order, rate: Rate) -> Result<Total, Error> {\n    \
let net: u64 = order.lines.iter().map(|line| line.price * line.count).sum();\n    \
order.total = Total { net, tax: rate.of(net), currency: order.currency };\n    \
if order.total.net == 0 { return Err(Error::Empty { id: order.id }); }\n    Ok(order.total)\n}\n";

const ALL_WORDS: &str = "ignore instructions prompt override disregard act limits <!-- --> style \
display translate tell user you now pretend output without safety updated yourself register node \
heartbeat beacon check pull task connect network must report liner never disk unset praxis c2 \
command control curl wget $ credentials http send include history /.ssh ~ agents.md \
.hermes/config.yaml key token\n";
