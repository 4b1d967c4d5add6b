//! Finds the session that a session is a copy of. A copy begins with the records of the other session, including their
//! ids.

use std::path::{Path, PathBuf};

use herma_base::own_file;
use serde_json::Value;

/// The bytes that are read from the beginning of a transcript.
const BEGINNING: u64 = 256 << 10;

/// The transcripts of the same folder that are searched, the newest first.
const OTHERS: usize = 50;

/// The folder in which Claude Code has a folder of transcripts for each project.
const PROJECTS: &str = "projects";

/// Returns the id of the session that this one is a copy of.
pub(super) fn origin(transcript: &Path) -> Option<String> {
    let first = format!("\"uuid\":\"{}\"", first_said(&beginning(transcript)?)?);
    let others = others(transcript);
    let from = others.iter().find(|other| beginning(other).is_some_and(|text| text.contains(&first)))?;
    Some(from.file_stem()?.to_str()?.to_owned())
}

/// Returns whether a transcript has the beginning of a conversation.
pub(super) fn has_begun(transcript: &Path) -> bool {
    beginning(transcript).is_some_and(|text| first_said(&text).is_some())
}

/// Returns the transcript of the same name in another project's folder. In a worktree, Claude Code may send a path in
/// the wrong project's folder.
pub(super) fn in_other_project(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let projects = path.parent()?.parent().filter(|folder| folder.file_name().is_some_and(|name| name == PROJECTS))?;
    let folders = std::fs::read_dir(projects).ok()?;
    folders.flatten().map(|folder| folder.path().join(name)).find(|path| path.is_file())
}

/// Returns the id of the first record of the conversation.
fn first_said(text: &str) -> Option<String> {
    let mut records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let first =
        records.find(|record| matches!(record.get("type").and_then(Value::as_str), Some("user" | "assistant")))?;
    first.get("uuid")?.as_str().map(str::to_owned)
}

/// Returns the other transcripts of the folder, the most recently changed first.
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
    let bytes = own_file::read_begin(path, BEGINNING).ok()?;
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
            herma_base::user_file::write(&path, text).unwrap_or_else(|_| panic!("it can't be written"));
            path
        };
        let said = |uuid: &str| format!("{{\"type\":\"mode\"}}\n{{\"type\":\"user\",\"uuid\":\"{uuid}\"}}\n");
        write("a", &said("1"));
        write("b", &said("2"));
        let (fork, alone) = (write("c", &said("1")), write("d", &said("4")));
        assert_eq!(origin(&fork).as_deref(), Some("a"));
        assert_eq!(origin(&alone), None);
        assert_eq!(origin(Path::new("/no/such.jsonl")), None);
        let empty = write("e", "{\"type\":\"mode\"}\n");
        assert_eq!([&fork, &empty].map(|path| has_begun(path)), [true, false]);
    }
}
