//! Texts made to be slow. These tests measure no time (the benchmark does): a linear search
//! finishes each text at once, and a quadratic one would run for minutes.

use herma_guard::{NamedValues, RedactOptions, Scope, redact, scan};

/// Approximate size of each text in bytes.
const SIZE: usize = 512 << 10;

fn check(work: impl Fn(&str), piece: &str, last: &str) {
    work(&(piece.repeat(SIZE / piece.len()) + last));
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
        ("م\u{200D}\u{301}", ""),
        ("\u{301}", ""),
        ("а", "ж"),
        ("аж ", ""),
        ("ﷺ", ""),
        ("ignore ", "é"),
        ("ｉgnore ａll ", "instruction"),
        ("ｉgnore all instructions ", ""),
        ("you must ", ""),
        ("you must be here and ", ""),
        ("unset ", "unset_agen"),
        ("claude", " unset"),
        ("unset claud", "e"),
        ("curl ${", "key"),
        ("keytoken", " $"),
        ("praxis        ", ""),
        ("use the praxis-", ""),
        ("agent agents praxis ", ""),
        ("token=", "\""),
        ("token = \"0123456789", ""),
        ("check-in ", "to"),
        (" ", "system"),
        ("system", "      prompt"),
        ("<", "div"),
        ("\n", ""),
        ("name yourself", ""),
        ("praxis ", "™"),
        ("praxis\u{AD} ", ""),
        ("use the praxis a ", "™"),
        ("c2 ", "™"),
        ("api", "™"),
        ("curl wget keykeykey ", "™"),
        ("you must a b ", "™"),
        ("you must aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "™"),
        ("ignore a ", "™"),
        ("act as if you don't ", "™"),
        ("translate into and ", "™"),
        ("<!-- ", "™"),
        ("curl $ ", "™"),
        ("send to send to http", "™"),
        ("ignore\u{301} all\u{200B} ", "™"),
        ("praxis ™ ", ""),
        ("уоu must be ", "™"),
        ("you must      ", "™"),
        ("curl key\n", "™"),
        ("curl $ key ", "™"),
        ("translate into and run ", "™"),
        ("send to http", "™"),
        ("$", "curl key"),
        ("curl $a", "™"),
        ("<", "div style display"),
        ("< div style = ", "display"),
        ("unset ", "™"),
        ("unset _", "™"),
        ("beacon ", "™"),
        ("api-key = '", "™"),
        ("act as if you have no ", "don't have limit"),
        ("run havoc_ ", "™"),
        ("use the server agent ", "havoc"),
        ("havoc - ", "™"),
        ("cobalt ", "strik"),
        ("ignore aii instructlons ", "ı"),
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
        ("authorization: bearer x ", ""),
        ("A_TOKEN=x ", ""),
        ("\"token\":\"x\",", ""),
        ("code=b&", "c=d"),
        ("+1234567 ", ""),
        ("redis://a:b@c ", ""),
        ("12345678:", ""),
        ("glpat-aaaaaaaaaaaaaaaaaaaa.", ""),
        ("=", ""),
        (":", "token:"),
        ("token=", ""),
        ("token:", "x"),
        ("a", "_token:"),
        ("abcdefghij ", ""),
    ] {
        check(|text| drop(redact(text, RedactOptions::default())), piece, last);
        let any = RedactOptions { names: NamedValues::Any, ..RedactOptions::default() };
        check(|text| drop(redact(text, any)), piece, last);
    }
}
