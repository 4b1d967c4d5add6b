//! Reads journals without herma's code: line by line, with its own checksum.

use std::fs;
use std::path::PathBuf;

use herma_protocol::memory::Target;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::home::Home;

/// The content of a journal file.
#[derive(Debug, Default)]
pub struct Journal {
    /// Its changes, oldest first.
    pub rows: Vec<Row>,
    /// Bytes after the last whole line.
    pub torn: usize,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Row {
    /// The revision that it made.
    pub revision: u64,
    /// The action that made it.
    pub action: String,
    /// All entries before.
    pub before: Vec<String>,
    /// All entries after.
    pub after: Vec<String>,
}

impl Journal {
    /// Reads the journal of a store of the default profile. A missing journal is empty.
    ///
    /// # Panics
    /// A whole line is not JSON or has a wrong checksum, a revision is missing, or a change does not start where the
    /// last one ended.
    #[must_use]
    pub fn read(home: &Home, target: Target) -> Self {
        let bytes = fs::read(path(home, target)).unwrap_or_default();
        let end = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let mut journal = Self { rows: Vec::new(), torn: bytes.len() - end };
        for line in bytes[..end].split_inclusive(|byte| *byte == b'\n') {
            let Some(row) = row(std::str::from_utf8(line).unwrap()) else { continue };
            if let Some(last) = journal.rows.last() {
                assert_eq!((row.revision, &row.before), (last.revision + 1, &last.after), "{last:?}");
            }
            journal.rows.push(row);
        }
        journal
    }

    /// Returns the change that made a revision, if the journal has it.
    #[must_use]
    pub fn row(&self, revision: u64) -> Option<&Row> {
        let oldest = self.rows.first()?.revision;
        self.rows.get(usize::try_from(revision.checked_sub(oldest)?).unwrap())
    }

    /// Returns the newest revision and its entries.
    #[must_use]
    pub fn newest(&self) -> (u64, Vec<String>) {
        self.rows.last().map_or_else(Default::default, |row| (row.revision, row.after.clone()))
    }
}

/// Returns the path of the journal of a store of the default profile.
#[must_use]
pub fn path(home: &Home, target: Target) -> PathBuf {
    home.path().join("herma/journal/default").join(match target {
        Target::Memory => "memory.jsonl",
        Target::User => "user.jsonl",
    })
}

/// Parses the change of a line. Returns `None` for a settled note.
fn row(line: &str) -> Option<Row> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Line<'a> {
        crc: &'a str,
        #[serde(borrow)]
        row: Option<&'a RawValue>,
        #[serde(borrow)]
        settled: Option<&'a RawValue>,
    }
    let Line { crc, row, settled } = serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
    let body = row.or(settled).unwrap_or_else(|| panic!("{line:?}")).get();
    assert_eq!(format!("{:08x}", crc32(body.as_bytes())), crc, "{line:?}");
    row.map(|row| serde_json::from_str(row.get()).unwrap())
}

/// Returns the CRC-32 of IEEE 802.3.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| (crc >> 8) ^ TABLE[usize::from(crc.to_le_bytes()[0] ^ byte)])
}

const TABLE: [u32; 256] = {
    let mut table = [0; 256];
    let (mut at, mut byte) = (0, 0_u32);
    while at < table.len() {
        let (mut crc, mut bit) = (byte, 0);
        while bit < 8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
            bit += 1;
        }
        table[at] = crc;
        (at, byte) = (at + 1, byte + 1);
    }
    table
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_one_of_ieee_802_3() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }
}
