//! Which session a session came out of. Codex says it in the transcript; a fork of Claude Code begins with the records of
//! the session before, their ids included, and only that tells.

use std::io::Read;
use std::path::{Path, PathBuf};

use herma_base::own_file;
use herma_transcripts::codex;
use serde_json::Value;

use super::event::Client;

/// Bytes of a transcript that are looked at: where it begins.
const BEGINNING: u64 = 256 << 10;

/// Transcripts of the same folder that are looked at, the newest first.
const OTHERS: usize = 50;

/// The client's name of the session that this one came out of, where its transcript tells.
pub(super) fn origin(client: Client, id: &str, transcript: &Path) -> Option<String> {
    let text = beginning(transcript)?;
    match client {
        Client::Codex => {
            let mut reader = codex::Reader::new(id);
            text.lines().for_each(|line| reader.line(line));
            reader.sessions().first()?.parent.clone()
        }
        Client::ClaudeCode => {
            let first = format!("\"uuid\":\"{}\"", first_said(&text)?);
            let others = others(transcript);
            let from = others.iter().find(|other| beginning(other).is_some_and(|text| text.contains(&first)))?;
            Some(from.file_stem()?.to_str()?.to_owned())
        }
    }
}

/// Whether a transcript has the beginning of a conversation: what tells where it came from stands in it then.
pub(super) fn has_begun(client: Client, transcript: &Path) -> bool {
    match client {
        Client::Codex => transcript.exists(),
        Client::ClaudeCode => beginning(transcript).is_some_and(|text| first_said(&text).is_some()),
    }
}

/// The id of the first record of the conversation.
fn first_said(text: &str) -> Option<String> {
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let first =
        records.find(|record| matches!(record.get("type").and_then(Value::as_str), Some("user" | "assistant")))?;
    first.get("uuid")?.as_str().map(str::to_owned)
}

/// The other transcripts of the folder, those first that something was added to last.
fn others(transcript: &Path) -> Vec<PathBuf> {
    let Some(Ok(entries)) = transcript.parent().map(std::fs::read_dir) else { return Vec::new() };
    let paths = entries.flatten().map(|entry| entry.path());
    let paths = paths.filter(|path| path != transcript && path.extension().is_some_and(|ending| ending == "jsonl"));
    let changed = |path: &PathBuf| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let mut dated: Vec<_> = paths.map(|path| (changed(&path), path)).collect();
    dated.sort_by(|one, other| other.cmp(one));
    dated.into_iter().take(OTHERS).map(|(_, path)| path).collect()
}

fn beginning(path: &Path) -> Option<String> {
    let mut bytes = Vec::new();
    own_file::open(path).ok()?.take(BEGINNING).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_begins_with_what_it_came_out_of() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(format!("{name}.jsonl"));
            herma_base::out::write_file(&path, text).unwrap_or_else(|_| panic!("it can't be written"));
            path
        };
        let said = |uuid: &str| format!("{{\"type\":\"mode\"}}\n{{\"type\":\"user\",\"uuid\":\"{uuid}\"}}\n");
        write("a", &said("1"));
        write("b", &said("2"));
        let (fork, alone) = (write("c", &said("1")), write("d", &said("4")));
        assert_eq!(origin(Client::ClaudeCode, "c", &fork).as_deref(), Some("a"));
        assert_eq!(origin(Client::ClaudeCode, "d", &alone), None);
        assert_eq!(origin(Client::ClaudeCode, "e", Path::new("/no/such.jsonl")), None);
        let empty = write("e", "{\"type\":\"mode\"}\n");
        assert_eq!([&fork, &empty].map(|path| has_begun(Client::ClaudeCode, path)), [true, false]);
        let meta = r#"{"type":"session_meta","payload":{"id":"f","forked_from_id":"x"}}"#;
        assert_eq!(origin(Client::Codex, "f", &write("f", meta)).as_deref(), Some("x"));
    }
}
