//! The fuzz targets. The function `run` of each module panics if an input violates a property.
//!
//! libFuzzer calls them from the programs in `targets/` (`.ci/fuzz`), and `tests/replay.rs` calls them with every seed
//! and with the packed corpus.

pub mod catalog;
pub mod config;
pub mod context;
pub mod guard;
pub mod handoff;
pub mod import;
pub mod journal;
pub mod json;
pub mod mcp;
pub mod output;
pub mod provider;
pub mod query;
pub mod store;
pub mod trajectory;
pub mod transcripts;
pub mod wire;
pub mod words;

use tempfile::TempDir;

/// The function of a target, called with an input.
pub type Run = fn(&[u8]);

/// Every target: its name and its function.
pub const TARGETS: [(&str, Run); 17] = [
    ("catalog", catalog::run),
    ("config", config::run),
    ("context", context::run),
    ("guard", guard::run),
    ("handoff", handoff::run),
    ("import", import::run),
    ("journal", journal::run),
    ("json", json::run),
    ("mcp", mcp::run),
    ("output", output::run),
    ("provider", provider::run),
    ("query", query::run),
    ("store", store::run),
    ("trajectory", trajectory::run),
    ("transcripts", transcripts::run),
    ("wire", wire::run),
    ("words", words::run),
];

/// Returns the longest prefix of an input that is UTF-8, so that a mutation that breaks a character is still useful.
fn text(data: &[u8]) -> &str {
    match str::from_utf8(data) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&data[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// Builds the line of a journal or catalog from `kind{…}`, with a correct checksum. No mutation finds a checksum.
fn sealed(line: &[u8]) -> Vec<u8> {
    let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
    let (kind, body) = line.split_at(start);
    let crc = crc32fast::hash(body);
    [format!("{{\"crc\":\"{crc:08x}\",\"").as_bytes(), kind, b"\":", body, b"}\n"].concat()
}

/// Returns the lines of a text. Lines that begin with a lower-case letter get a checksum.
fn lines(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    text.split(|byte| *byte == b'\n').map(|line| match line.first() {
        Some(b'a'..=b'z') => sealed(line),
        _ => line.to_vec(),
    })
}

/// Creates a temporary folder, in memory if possible, because a sync takes milliseconds on a disk.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}
