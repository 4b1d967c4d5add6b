//! The fuzz targets. Each module has one function `run`, which panics if an input breaks what must hold.
//!
//! libFuzzer calls them from the programs in `targets/` (`.ci/fuzz`), and `tests/replay.rs` calls them with
//! every seed and with the packed corpus.

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

/// What a target does with an input.
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

/// The longest prefix of an input that is UTF-8, so that a mutation that breaks a character is still used.
fn text(data: &[u8]) -> &str {
    match str::from_utf8(data) {
        Ok(text) => text,
        Err(error) => str::from_utf8(&data[..error.valid_up_to()]).unwrap_or_default(),
    }
}

/// The line of a journal or catalog whose checksum is right, from `kind{…}`. No mutation finds a
/// checksum.
fn sealed(line: &[u8]) -> Vec<u8> {
    let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
    let (kind, body) = line.split_at(start);
    let crc = crc32fast::hash(body);
    [format!("{{\"crc\":\"{crc:08x}\",\"").as_bytes(), kind, b"\":", body, b"}\n"].concat()
}

/// The lines of a text, those that begin with no brace sealed.
fn lines(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    text.split(|byte| *byte == b'\n').map(|line| match line.first() {
        Some(b'a'..=b'z') => sealed(line),
        _ => line.to_vec(),
    })
}

/// A temporary folder, in memory where the system has such a file system: a sync takes milliseconds on a disk.
fn folder() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary folder")
}
