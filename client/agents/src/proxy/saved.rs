//! The files in which a proxy saves its sessions for the next one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use herma_base::kept::hash;
use herma_base::own_file::{self, make, remove, replace};
use herma_proxy::conversation::Conversation;
use serde::{Deserialize, Serialize};

/// The folder of proxies in the home, and the folder of the files in it.
const FOLDER: [&str; 3] = ["herma", "clients", "proxy"];
const SESSIONS: &str = "sessions";

/// The largest file in bytes that is read: a conversation of some 100,000 messages.
const LARGEST: u64 = 8 << 20;

/// The most sessions that a proxy knows, the newest ones.
const MOST: usize = 200;

/// How long a session is known after its last request.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3_600);

/// A session as it is saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Saved {
    /// The daemon's id of the session.
    pub(super) name: String,
    /// The agent.
    pub(super) agent: String,
    /// The session that this one belongs to.
    pub(super) parent: Option<String>,
    /// The place of the next message in the daemon's session.
    pub(super) generation: u64,
    pub(super) position: u64,
    /// What is known of the conversation.
    pub(super) conversation: Conversation,
}

/// Returns the folder of proxies.
pub(super) fn folder(home: &Path) -> PathBuf {
    FOLDER.iter().fold(home.to_owned(), |path, part| path.join(part))
}

fn sessions(home: &Path) -> PathBuf {
    folder(home).join(SESSIONS)
}

/// Returns the saved sessions, the newest last, and removes old ones.
pub(super) fn read(home: &Path) -> Vec<Saved> {
    let files = fs::read_dir(sessions(home)).into_iter().flatten().filter_map(Result::ok);
    let mut files: Vec<_> =
        files.filter_map(|file| Some((file.metadata().ok()?.modified().ok()?, file.path()))).collect();
    files.sort_unstable();
    let is_old = |at: &std::time::SystemTime| at.elapsed().is_ok_and(|age| age > KEPT);
    let surplus = files.len().saturating_sub(MOST);
    let (old, new): (Vec<_>, Vec<_>) =
        files.into_iter().enumerate().partition(|(number, (at, _))| *number < surplus || is_old(at));
    old.iter().for_each(|(_, (_, path))| remove(path));
    let parsed = |path: &Path| serde_json::from_slice(&own_file::read(path, LARGEST).ok()?).ok();
    new.iter().filter_map(|(_, (_, path))| parsed(path)).collect()
}

/// Saves a session.
pub(super) fn write(home: &Path, saved: &Saved) -> std::io::Result<()> {
    let folder = sessions(home);
    make(&folder)?;
    replace(&folder.join(format!("{}.json", hash(saved.name.as_bytes()))), &serde_json::to_vec(saved)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_come_back_and_what_is_no_session_is_left_out() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(read(home.path()), []);
        let saved = |name: &str| Saved {
            name: name.into(),
            agent: "a".into(),
            parent: None,
            generation: 1,
            position: 7,
            conversation: Conversation::new(Some("id".into())),
        };
        for name in ["one", "../two", "one"] {
            write(home.path(), &saved(name)).unwrap();
        }
        replace(&sessions(home.path()).join("odd.json"), b"{").unwrap();
        let mut names: Vec<String> = read(home.path()).into_iter().map(|saved| saved.name).collect();
        names.sort();
        assert_eq!(names, ["../two", "one"]);
        assert_eq!(fs::read_dir(sessions(home.path())).unwrap().count(), 3);
        let old = fs::File::open(sessions(home.path()).join(format!("{}.json", hash(b"one")))).unwrap();
        old.set_modified(std::time::SystemTime::now() - KEPT - Duration::from_secs(60)).unwrap();
        assert_eq!(read(home.path()).len(), 1);
    }
}
