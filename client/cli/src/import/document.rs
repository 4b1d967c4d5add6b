//! The memory files that agents write for themselves. Each is a document: a session with a message for each section.

use std::ffi::OsStr;
use std::path::Path;

use herma_base::Failure;
use herma_transcripts::TimedMessage;
use serde_json::json;

use super::record::Stamp;
use super::sink::Sink;

/// The largest document in bytes. A larger one is not read.
const LARGEST: u64 = 1 << 20;

/// The chars of a section. A longer one is divided at its lines.
const SECTION: usize = 4_000;

/// The folders below which agents keep memory files: Claude Code's auto memory of each project, and Codex's memories.
const BELOW: [&str; 2] = ["memory", "memories"];

/// Returns whether a file is a memory file of an agent.
pub(super) fn is_document(path: &Path) -> bool {
    let is_markdown = path.extension().is_some_and(|ending| ending == "md");
    is_markdown && path.parent().is_some_and(|folder| folder.iter().any(|part| BELOW.iter().any(|name| part == *name)))
}

/// Imports a document in the place of its earlier version.
pub(super) fn read(path: &Path, stamp: &Stamp, sink: &mut Sink<'_>) -> Result<bool, Failure> {
    let failed = |words: String| Failure::File(format!("{}: {words}", path.display()));
    if stamp.bytes > LARGEST {
        return Err(failed(format!("it has more than {LARGEST} bytes")));
    }
    let bytes = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&bytes);
    let said = |section: String| TimedMessage {
        time: Some(stamp.seconds()),
        message: json!({ "role": "assistant", "content": section }).to_string(),
    };
    let messages: Vec<TimedMessage> = sections(&text).into_iter().map(said).collect();
    sink.document(path, &id(path), &messages)?;
    Ok(true)
}

/// Returns the id of a document: its project, which is the folder around `memory`, and its path below.
fn id(path: &Path) -> String {
    let parts: Vec<&OsStr> = path.iter().collect();
    let at = parts.iter().rposition(|part| BELOW.iter().any(|name| *part == *name)).unwrap_or_default();
    let project = parts[..at].last().filter(|_| parts[at] == BELOW[0]);
    let named = project.into_iter().chain(&parts[at + 1..]).map(|part| part.to_string_lossy());
    format!("memory/{}", named.collect::<Vec<_>>().join("/"))
}

/// Returns the sections of a Markdown text: each begins with a heading, and has at most [`SECTION`] chars, unless a line
/// is longer.
fn sections(text: &str) -> Vec<String> {
    let mut sections: Vec<String> = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        let begins = !is_code && line.starts_with('#');
        is_code ^= line.trim_start().starts_with("```");
        match sections.last_mut() {
            Some(section) if !begins && section.chars().count() + line.chars().count() < SECTION => {
                section.push('\n');
                section.push_str(line);
            }
            _ => sections.push(line.to_owned()),
        }
    }
    sections.into_iter().map(|section| section.trim().to_owned()).filter(|section| !section.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_files_are_documents_and_other_files_are_not() {
        for (path, expected) in [
            ("/h/.claude/projects/-work-shop/memory/MEMORY.md", Some("memory/-work-shop/MEMORY.md")),
            ("/h/.claude/projects/-work-shop/memory/topics/build.md", Some("memory/-work-shop/topics/build.md")),
            ("/h/.codex/memories/raw/a.md", Some("memory/raw/a.md")),
            ("/h/.claude/projects/-work-shop/notes.md", None),
            ("/h/.claude/projects/-work-shop/memory/a.jsonl", None),
        ] {
            let path = Path::new(path);
            assert_eq!(is_document(path).then(|| id(path)).as_deref(), expected, "{}", path.display());
        }
    }

    #[test]
    fn a_section_begins_with_its_heading() {
        let text = "intro\n\n# Build\n- two cores\n```sh\n# not a heading\n```\n## Port\n8443\n";
        assert_eq!(sections(text), ["intro", "# Build\n- two cores\n```sh\n# not a heading\n```", "## Port\n8443"]);
        assert_eq!(sections("\n\n"), Vec::<String>::new());
        let long = "word word\n".repeat(1_000);
        let parts = sections(&long);
        assert!(parts.len() > 1 && parts.iter().all(|part| part.chars().count() <= SECTION), "{}", parts.len());
        assert_eq!(parts.join("\n"), long.trim());
    }
}
