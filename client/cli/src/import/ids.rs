//! The id of a session, from the path of its file.

use std::ffi::OsStr;
use std::path::Path;

/// The name that Kimi Code gives to a session's own agent. The others were started by it.
const MAIN: &str = "main";

/// Returns the name of the file without its extension.
pub(super) fn of_file(path: &Path) -> String {
    stem(path).to_owned()
}

/// Returns the name of the folder that the file is in.
pub(super) fn of_folder(path: &Path) -> String {
    folder(path, 1).unwrap_or(stem(path)).to_owned()
}

/// Returns the id for `ID/.system_generated/logs/transcript.jsonl`, which Antigravity writes.
pub(super) fn of_antigravity(path: &Path) -> String {
    folder(path, 3).unwrap_or(stem(path)).to_owned()
}

/// Returns the id for `ID/agents/AGENT/wire.jsonl`, which Kimi Code writes. The session of an agent that another one
/// started has the names of both.
pub(super) fn of_kimi(path: &Path) -> String {
    let id = folder(path, 3).unwrap_or(stem(path));
    match folder(path, 1).filter(|agent| *agent != MAIN) {
        Some(agent) => format!("{id}/{agent}"),
        None => id.to_owned(),
    }
}

/// Returns the id for `ID/api_conversation_history.json` or `ID/ID.messages.json`, which Cline and Roo Code write.
pub(super) fn of_cline(path: &Path) -> String {
    if stem(path) == "api_conversation_history" { of_folder(path) } else { of_file(path) }
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(OsStr::to_str).unwrap_or("unnamed")
}

/// Returns the name of the folder that is so many levels up.
fn folder(path: &Path, up: usize) -> Option<&str> {
    path.ancestors().nth(up).and_then(Path::file_name).and_then(OsStr::to_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function under test.
    type Id = fn(&Path) -> String;

    #[test]
    fn the_place_of_a_file_names_its_session() {
        let cases: [(Id, &str, &str); 12] = [
            (of_file, "/p/chats/s1.jsonl", "s1"),
            (of_file, "/p/chats/events.jsonl", "events"),
            (of_file, "/", "unnamed"),
            (of_folder, "/c/session-state/k1/events.jsonl", "k1"),
            (of_folder, "/g/sessions/w/g1/updates.jsonl", "g1"),
            (of_folder, "events.jsonl", "events"),
            (of_kimi, "/k/sessions/wd/s1/agents/main/wire.jsonl", "s1"),
            (of_kimi, "/k/sessions/wd/s1/agents/look-2/wire.jsonl", "s1/look-2"),
            (of_antigravity, "/a/brain/b1/.system_generated/logs/transcript.jsonl", "b1"),
            (of_antigravity, "transcript.jsonl", "transcript"),
            (of_cline, "/t/tasks/17/api_conversation_history.json", "17"),
            (of_cline, "/t/sessions/18/18.messages.json", "18.messages"),
        ];
        for (id, path, expected) in cases {
            assert_eq!(id(Path::new(path)), expected, "{path}");
        }
    }
}
