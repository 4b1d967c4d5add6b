//! The lines of a journal: JSON with a checksum over the body.
//!
//! `{"crc":"0a1b2c3d","row":{…}}` is a change. `{"crc":"…","settled":{…}}` records that the store's file and its folder
//! were synced at a revision. The checksum is CRC-32 (IEEE 802.3), in lower-case hex, of the object after the second
//! colon.

use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use super::Record;
use crate::entries::Entry;

const CRC: &str = r#"{"crc":""#;
const ROW: &str = r#"","row":"#;
const SETTLED: &str = r#"","settled":"#;

/// Hex digits of a checksum.
const DIGITS: usize = 8;

/// A change of a store.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The revision that it made.
    pub revision: u64,
    /// The time in Unix seconds. All changes that were synced together have the same time.
    pub time: f64,
    /// The file that it replaced. All changes that were synced together have the same value.
    pub replaced: Replaced,
    /// The action that made it.
    pub action: Action,
    /// The author of the change.
    pub author: Author,
    /// All entries before.
    pub before: Arc<[Entry]>,
    /// All entries after.
    pub after: Arc<[Entry]>,
}

/// The file that a change replaced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Option<i64>", into = "Option<i64>")]
pub enum Replaced {
    /// Not recorded: an earlier version wrote the row, or another program made the change.
    #[default]
    Unknown,
    /// No file existed.
    Nothing,
    /// The file with this modification time, in Unix nanoseconds.
    WrittenAt(i64),
}

impl Replaced {
    /// Converts a modification time in Unix nanoseconds. `None` means that no file existed.
    #[must_use]
    pub const fn of(written_at: Option<i64>) -> Self {
        match written_at {
            Some(nanos) => Self::WrittenAt(nanos),
            None => Self::Nothing,
        }
    }

    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

impl From<Option<i64>> for Replaced {
    fn from(written_at: Option<i64>) -> Self {
        Self::of(written_at)
    }
}

impl From<Replaced> for Option<i64> {
    fn from(replaced: Replaced) -> Self {
        match replaced {
            Replaced::WrittenAt(nanos) => Some(nanos),
            Replaced::Nothing | Replaced::Unknown => None,
        }
    }
}

/// The author of a change, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Author {
    /// The session.
    pub session: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// The host, if several hosts share the store.
    pub host: Option<String>,
}

/// The kind of a change to a store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// An entry was added.
    Add,
    /// An entry was replaced.
    Replace,
    /// An entry was removed.
    Remove,
    /// A batch of operations was applied.
    Batch,
    /// The text before the newest revision was restored.
    Undo,
    /// The text of an earlier revision was restored.
    Restore,
    /// One earlier change was reverted.
    Revert,
    /// Another program changed the file.
    External,
    /// A host joined and brought its entries.
    Join,
    /// An action of a later version.
    #[serde(untagged)]
    Other(String),
}

impl Action {
    /// Returns the action with this name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let known = [
            Self::Add,
            Self::Replace,
            Self::Remove,
            Self::Batch,
            Self::Undo,
            Self::Restore,
            Self::Revert,
            Self::External,
            Self::Join,
        ];
        known.into_iter().find(|action| action.name() == name).unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// Returns the action's name in the journal and on the wire.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Add => "add",
            Self::Replace => "replace",
            Self::Remove => "remove",
            Self::Batch => "batch",
            Self::Undo => "undo",
            Self::Restore => "restore",
            Self::Revert => "revert",
            Self::External => "external",
            Self::Join => "join",
            Self::Other(name) => name,
        }
    }
}

/// The content of a line without its texts.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Head {
    /// A change.
    Row(RowHead),
    /// The file was durable at this revision.
    Settled(u64),
}

/// A change without its texts.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub(crate) struct RowHead {
    pub(crate) revision: u64,
    pub(crate) time: f64,
    pub(crate) action: Action,
}

impl Record for Row {
    fn revision(&self) -> u64 {
        self.revision
    }

    fn write(&self, out: &mut Vec<u8>) {
        write_row(self, out);
    }

    fn read(line: &[u8]) -> Option<Self> {
        read_row(line)
    }
}

/// Appends a row's line, newline included.
pub(crate) fn write_row(row: &Row, out: &mut Vec<u8>) {
    #[derive(Serialize)]
    struct Body<'a> {
        revision: u64,
        time: f64,
        #[serde(skip_serializing_if = "Replaced::is_unknown")]
        replaced: Replaced,
        action: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        session: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        agent: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        host: Option<&'a str>,
        before: Texts<'a>,
        after: Texts<'a>,
    }
    let body = Body {
        revision: row.revision,
        time: row.time,
        replaced: row.replaced,
        action: row.action.name(),
        session: row.author.session.as_deref(),
        agent: row.author.agent.as_deref(),
        host: row.author.host.as_deref(),
        before: Texts(&row.before),
        after: Texts(&row.after),
    };
    write_body(&body, out);
}

/// Appends the note that the file was durable at a revision.
pub(crate) fn write_settled(revision: u64, out: &mut Vec<u8>) {
    write_line(SETTLED, &Settled { revision }, out);
}

/// Parses a whole line, with or without its newline. Returns `None` if it is damaged.
pub(crate) fn read_head(line: &[u8]) -> Option<Head> {
    let (kind, body) = checked(line)?;
    match kind {
        ROW => serde_json::from_slice(body).ok().map(Head::Row),
        _ => serde_json::from_slice::<Settled>(body).ok().map(|settled| Head::Settled(settled.revision)),
    }
}

/// Parses the change of a whole line. Returns `None` if the line is damaged or not a change.
pub(crate) fn read_row(line: &[u8]) -> Option<Row> {
    #[derive(Deserialize)]
    struct Body {
        #[serde(flatten)]
        head: RowHead,
        #[serde(default)]
        replaced: Replaced,
        session: Option<String>,
        agent: Option<String>,
        host: Option<String>,
        before: Vec<String>,
        after: Vec<String>,
    }
    let Body { head, replaced, session, agent, host, before, after } = serde_json::from_slice(read_body(line)?).ok()?;
    let entries = |texts: Vec<String>| texts.into_iter().map(Entry::from).collect();
    Some(Row {
        revision: head.revision,
        time: head.time,
        replaced,
        action: head.action,
        author: Author { session, agent, host },
        before: entries(before),
        after: entries(after),
    })
}

#[derive(Serialize, Deserialize)]
struct Settled {
    revision: u64,
}

struct Texts<'a>(&'a [Entry]);

impl Serialize for Texts<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|entry| &**entry))
    }
}

/// Appends the line of a change, newline included.
pub(crate) fn write_body(body: &impl Serialize, out: &mut Vec<u8>) {
    write_line(ROW, body, out);
}

/// Returns the body of a change's line, or `None` if the line is damaged or not a change.
pub(crate) fn read_body(line: &[u8]) -> Option<&[u8]> {
    checked(line).and_then(|(kind, body)| (kind == ROW).then_some(body))
}

/// Writes the body first, and then its checksum into the reserved space.
fn write_line(kind: &str, body: &impl Serialize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(CRC.as_bytes());
    out.extend_from_slice(&[b'0'; DIGITS]);
    out.extend_from_slice(kind.as_bytes());
    let from = out.len();
    if serde_json::to_writer(&mut *out, body).is_err() {
        // Only a map with keys that are not strings could fail. Then no line is written.
        return out.truncate(start);
    }
    let crc = format!("{:08x}", crc32fast::hash(&out[from..]));
    out[start + CRC.len()..][..DIGITS].copy_from_slice(crc.as_bytes());
    out.extend_from_slice(b"}\n");
}

/// Returns the kind and body of a line if its checksum is correct.
fn checked(line: &[u8]) -> Option<(&'static str, &[u8])> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let rest = line.strip_prefix(CRC.as_bytes())?;
    let (crc, rest) = rest.split_at_checked(DIGITS)?;
    let crc = u32::from_str_radix(std::str::from_utf8(crc).ok()?, 16).ok()?;
    let (kind, body) = [ROW, SETTLED].into_iter().find_map(|kind| Some((kind, rest.strip_prefix(kind.as_bytes())?)))?;
    let body = body.strip_suffix(b"}")?;
    (crc32fast::hash(body) == crc).then_some((kind, body))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    fn row() -> Row {
        Row {
            revision: 7,
            time: 1_790_000_000.25,
            replaced: Replaced::WrittenAt(1_789_999_999_123_456_789),
            action: Action::Add,
            author: Author { session: Some("s \"1\"\n".into()), ..Author::default() },
            before: ["a".into()].into(),
            after: ["a".into(), "§ b\nc".into()].into(),
        }
    }

    #[test]
    fn a_row_comes_back_and_its_line_is_known() {
        let mut line = Vec::new();
        write_row(&row(), &mut line);
        let text = r#"{"crc":"202c0f25","row":{"revision":7,"time":1790000000.25,"replaced":1789999999123456789,"action":"add","session":"s \"1\"\n","before":["a"],"after":["a","§ b\nc"]}}"#;
        assert_eq!(String::from_utf8(line.clone()).unwrap(), format!("{text}\n"));
        assert_eq!(read_row(&line), Some(row()));
        let head = RowHead { revision: 7, time: 1_790_000_000.25, action: Action::Add };
        assert_eq!(read_head(&line), Some(Head::Row(head)));
        assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
    }

    #[test]
    fn a_host_is_kept_and_names_are_known() {
        let author = Author { host: Some("attic".into()), ..Author::default() };
        let mut line = Vec::new();
        write_row(&Row { author: author.clone(), ..row() }, &mut line);
        assert_eq!(read_row(&line).map(|row| row.author), Some(author));
        for action in [Action::Add, Action::External, Action::Join, Action::Other("merge".into())] {
            assert_eq!(Action::named(action.name()), action);
        }
    }

    #[test]
    fn which_file_was_replaced_is_known_or_that_there_was_none_or_neither() {
        for replaced in [Replaced::Unknown, Replaced::Nothing, Replaced::WrittenAt(-1)] {
            let mut line = Vec::new();
            write_row(&Row { replaced, ..row() }, &mut line);
            assert_eq!(read_row(&line).map(|row| row.replaced), Some(replaced));
        }
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let mut line = Vec::new();
        write_row(&row(), &mut line);
        for at in 0..line.len() - 1 {
            let mut damaged = line.clone();
            damaged[at] ^= 1;
            assert!(read_head(&damaged).is_none(), "{}", String::from_utf8_lossy(&damaged));
            assert!(read_row(&line[..at]).is_none());
        }
    }

    #[test]
    fn a_note_is_no_row_and_later_actions_are_kept() {
        let mut line = Vec::new();
        write_settled(9, &mut line);
        assert_eq!((read_head(&line), read_row(&line)), (Some(Head::Settled(9)), None));
        let mut line = Vec::new();
        let later = Row { action: Action::Other("merge".into()), ..row() };
        write_row(&later, &mut line);
        assert_eq!(read_row(&line), Some(later));
    }
}
