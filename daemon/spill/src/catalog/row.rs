//! The lines of the catalog: JSON with a checksum of the bytes of its body.
//!
//! `{"crc":"0a1b2c3d","kept":{…}}`: the checksum is CRC-32 (IEEE 802.3), in lowercase hex, of the object after the
//! second colon.

use serde::{Deserialize, Serialize};

use super::Reason;

const CRC: &str = r#"{"crc":""#;

/// Hex digits of a checksum.
const DIGITS: usize = 8;

/// Where an output comes from and where its file is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Begun {
    pub(crate) handle: String,
    pub(crate) session: String,
    pub(crate) profile: String,
    pub(crate) tool: String,
    pub(crate) id: String,
    /// `<folder>/<name>` below the root.
    pub(crate) file: String,
}

/// A file that is complete and durable.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Kept {
    #[serde(flatten)]
    pub(crate) begun: Begun,
    pub(crate) chars: u64,
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    /// SHA-256 of the text, in hex.
    pub(crate) sha256: String,
    pub(crate) created_at: f64,
}

/// The content of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Row {
    /// A daemon started, in this boot of the system.
    Opened { boot: String },
    /// A file is about to be written.
    Begin(Begun),
    /// A file is complete.
    Kept(Kept),
    /// A file is gone.
    Expired { handle: String, at: f64, reason: Reason },
    /// An output is forgotten.
    Forgotten { handle: String },
    /// Outputs were collected at this time. `doubted` is how many seconds daemons had run with a doubtful clock; 0 if
    /// the clock was not in doubt.
    Seen { at: f64, doubted: f64 },
}

#[derive(Serialize, Deserialize)]
struct Opened {
    boot: String,
}

#[derive(Serialize, Deserialize)]
struct Expired {
    handle: String,
    at: f64,
    reason: Reason,
}

#[derive(Serialize, Deserialize)]
struct Forgotten {
    handle: String,
}

#[derive(Serialize, Deserialize)]
struct Seen {
    at: f64,
    /// Not in rows of older versions.
    #[serde(default)]
    doubted: f64,
}

/// Appends a row's line, newline included.
pub(crate) fn write(row: &Row, out: &mut Vec<u8>) {
    match row {
        Row::Opened { boot } => line("opened", &Opened { boot: boot.clone() }, out),
        Row::Begin(begun) => line("begin", begun, out),
        Row::Kept(kept) => line("kept", kept, out),
        Row::Expired { handle, at, reason } => {
            line("expired", &Expired { handle: handle.clone(), at: *at, reason: *reason }, out);
        }
        Row::Forgotten { handle } => line("forgotten", &Forgotten { handle: handle.clone() }, out),
        Row::Seen { at, doubted } => line("seen", &Seen { at: *at, doubted: *doubted }, out),
    }
}

fn line(kind: &str, body: &impl Serialize, out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(CRC.as_bytes());
    out.extend_from_slice(&[b'0'; DIGITS]);
    out.extend_from_slice(format!(r#"","{kind}":"#).as_bytes());
    let from = out.len();
    if serde_json::to_writer(&mut *out, body).is_err() {
        // No body of a row can fail. A line without a body is left out.
        return out.truncate(start);
    }
    let crc = format!("{:08x}", crc32fast::hash(&out[from..]));
    out[start + CRC.len()..][..DIGITS].copy_from_slice(crc.as_bytes());
    out.extend_from_slice(b"}\n");
}

/// The reason why a line has no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unread {
    /// It differs from the line that was written.
    Damaged,
    /// It is complete, but of an unknown kind: a newer version wrote it.
    Unknown,
}

/// Parses a complete line, with or without its newline.
pub(crate) fn read(line: &[u8]) -> Result<Row, Unread> {
    let (kind, body) = whole(line).ok_or(Unread::Damaged)?;
    let row = row(kind, body).ok_or(Unread::Unknown)?;
    match &row {
        Row::Begin(begun) | Row::Kept(Kept { begun, .. }) if !is_inside(&begun.file) => Err(Unread::Damaged),
        _ => Ok(row),
    }
}

/// Whether a file is a name in a folder of the root. A catalog that another program wrote may name any file.
fn is_inside(file: &str) -> bool {
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && !name.contains(['/', '\0']);
    file.split_once('/').is_some_and(|(folder, name)| is_name(folder) && is_name(name))
}

/// Whether a line without an end is the beginning of a `begin` line.
pub(crate) fn is_torn_begin(line: &[u8]) -> bool {
    let rest = line.strip_prefix(CRC.as_bytes()).and_then(|rest| rest.split_at_checked(DIGITS));
    rest.is_some_and(|(_, rest)| rest.starts_with(br#"","begin":"#)) && !line.ends_with(b"\n")
}

/// Returns the kind and the body of an undamaged line.
fn whole(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let (crc, rest) = line.strip_prefix(CRC.as_bytes())?.split_at_checked(DIGITS)?;
    let crc = u32::from_str_radix(std::str::from_utf8(crc).ok()?, 16).ok()?;
    let rest = rest.strip_prefix(br#"",""#)?;
    let quote = memchr::memchr(b'"', rest)?;
    let (kind, rest) = rest.split_at(quote);
    let body = rest.strip_prefix(br#"":"#)?.strip_suffix(b"}")?;
    (crc32fast::hash(body) == crc).then_some((kind, body))
}

fn row(kind: &[u8], body: &[u8]) -> Option<Row> {
    Some(match kind {
        b"opened" => Row::Opened { boot: serde_json::from_slice::<Opened>(body).ok()?.boot },
        b"begin" => Row::Begin(serde_json::from_slice(body).ok()?),
        b"kept" => Row::Kept(serde_json::from_slice(body).ok()?),
        b"expired" => {
            let Expired { handle, at, reason } = serde_json::from_slice(body).ok()?;
            Row::Expired { handle, at, reason }
        }
        b"forgotten" => Row::Forgotten { handle: serde_json::from_slice::<Forgotten>(body).ok()?.handle },
        b"seen" => {
            let Seen { at, doubted } = serde_json::from_slice(body).ok()?;
            Row::Seen { at, doubted }
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    fn rows() -> Vec<Row> {
        let text = str::to_owned;
        let begun = Begun {
            handle: text("out_0"),
            session: text("s \"1\"\n"),
            profile: text("default"),
            tool: text("terminal"),
            id: text("call_1"),
            file: text("s/call_1.txt"),
        };
        let kept = Kept {
            begun: begun.clone(),
            chars: 1,
            lines: 2,
            bytes: 3,
            sha256: text("ab"),
            created_at: 1_790_000_000.25,
        };
        vec![
            Row::Opened { boot: text("b") },
            Row::Begin(begun),
            Row::Kept(kept),
            Row::Expired { handle: text("out_0"), at: 1.5, reason: Reason::Quota },
            Row::Forgotten { handle: text("out_0") },
            Row::Seen { at: 7.25, doubted: 0.5 },
        ]
    }

    #[test]
    fn rows_come_back_and_every_flipped_bit_and_cut_is_noticed() {
        for row in rows() {
            let mut line = Vec::new();
            write(&row, &mut line);
            assert_eq!(read(&line), Ok(row));
            assert!(serde_json::from_slice::<serde_json::Value>(&line).is_ok());
            for at in 0..line.len() - 1 {
                let mut damaged = line.clone();
                damaged[at] ^= 1;
                assert!(read(&damaged).is_err(), "{}", String::from_utf8_lossy(&damaged));
                assert_eq!(read(&line[..at]), Err(Unread::Damaged));
            }
        }
    }

    #[test]
    fn a_line_has_its_known_form() {
        let older = b"{\"crc\":\"9b6bf317\",\"seen\":{\"at\":7.25}}\n";
        assert_eq!(read(older), Ok(Row::Seen { at: 7.25, doubted: 0.0 }));
        let mut line = Vec::new();
        write(&Row::Expired { handle: "out_0".into(), at: 1.5, reason: Reason::Ttl }, &mut line);
        let text = String::from_utf8(line).unwrap();
        assert!(text.ends_with("\",\"expired\":{\"handle\":\"out_0\",\"at\":1.5,\"reason\":\"ttl\"}}\n"), "{text}");
    }

    #[test]
    fn a_file_that_leads_out_is_damage() {
        let begun = rows().into_iter().find_map(|row| if let Row::Begin(begun) = row { Some(begun) } else { None });
        let begun = begun.unwrap();
        for (file, is_read) in [
            ("s/out_0.txt", true),
            ("s/..txt", true),
            ("../out.txt", false),
            ("s/..", false),
            ("s/../../out.txt", false),
            ("/etc/passwd", false),
            ("s//out.txt", false),
            ("./out.txt", false),
            ("out.txt", false),
            ("", false),
        ] {
            let kept = Kept {
                begun: Begun { file: file.into(), ..begun.clone() },
                chars: 1,
                lines: 1,
                bytes: 1,
                sha256: String::new(),
                created_at: 1.0,
            };
            for row in [Row::Begin(kept.begun.clone()), Row::Kept(kept)] {
                let mut line = Vec::new();
                write(&row, &mut line);
                assert_eq!(read(&line), if is_read { Ok(row) } else { Err(Unread::Damaged) }, "{file}");
            }
        }
    }
}
