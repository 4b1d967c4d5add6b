//! Texts made to be slow. The limit is several times what a linear search takes in an unoptimised
//! build, and below what a quadratic one takes at the speed of memory.

use std::time::{Duration, Instant};

use herma_guard::{RedactOptions, Scope, redact, scan};

/// Bytes of each text, about.
const SIZE: usize = 2 << 20;

/// What one text may take.
const LIMIT: Duration = Duration::from_secs(15);

#[track_caller]
fn check(work: impl Fn(&str), piece: &str, last: &str) {
    let text = piece.repeat(SIZE / piece.len()) + last;
    let start = Instant::now();
    work(&text);
    assert!(start.elapsed() < LIMIT, "{piece:?}: {:?}", start.elapsed());
}

#[test]
fn scans_are_linear() {
    for (piece, last) in [
        ("a", ""),
        ("ignore ", "instructions"),
        ("ignore all ", "instruction instructionſ"),
        ("<!--", "system -- >-->"),
        ("<!-- system ", "-->"),
        ("0123456789", ""),
        ("<div style=\"", "display"),
        ("curl ", "$ token"),
        ("translate x into ", "and nothing"),
        ("send to ", "http"),
        ("name\t", "yourself"),
        ("praxis ", "c3"),
        ("\u{200D}", ""),
        ("\u{301}", "\u{200C}"),
        ("м\u{301}\u{200C}", ""),
    ] {
        check(|text| drop(scan(text, Scope::Strict)), piece, last);
    }
}

#[test]
fn redaction_is_linear() {
    for (piece, last) in [
        ("A_TOKEN=", ""),
        ("A_TOKEN='", ""),
        ("A_TOKEN", "="),
        (" = ", ""),
        ("\"token\":\"", ""),
        ("\"token\":\"\\", ""),
        (" : ", ""),
        ("redis://", "@"),
        ("redis://a:b", "@"),
        ("redis://é@", ""),
        ("-----BEGIN PRIVATE KEY-----", ""),
        ("-----BEGIN ", ""),
        ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"),
        ("eyJ", ""),
        (".eyJ", ""),
        ("SG.", ""),
        ("SG.0123456789.", ""),
        ("sk-", ""),
        (".sk-", ""),
        ("1:", ""),
        ("a=b&", "c=d"),
        ("+1", ""),
        ("authorization : ", ""),
    ] {
        check(|text| drop(redact(text, RedactOptions::default())), piece, last);
    }
}
