//! The data that hooks and the proxy for Codex exchange: whether there is a proxy, and the text with which it answers a
//! compaction.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_base::own_file;

use super::folder::folder;
use super::handover::Handover;
use super::state::Notes;
use crate::agent::Agent;
use crate::event::is_id;

/// The seconds after which a text belongs to an earlier compaction. The agent requests a summary right after its hook.
const FRESH_S: f64 = 120.0;

/// The seconds that a clock may be set back between a hook and the request after it.
const CLOCK_S: f64 = 5.0;

/// How long to wait for notes that a hook has locked before asking the model instead, and the pause between two
/// attempts.
const PATIENCE: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(20);

/// The name of the file with a proxy's key.
const KEY: &str = "proxy-key";

/// The most bytes of the key file that are read.
const KEY_FILE: u64 = 1 << 10;

/// The random bytes of a key.
const BYTES: usize = 16;

/// Returns whether a proxy was ever started for an agent.
pub(super) fn is_used(home: &Path, agent: &dyn Agent) -> bool {
    folder(home, agent).join(KEY).exists()
}

/// Returns the folder with the key of the proxy for an agent.
pub(crate) fn folder_of(home: &Path, agent: &dyn Agent) -> PathBuf {
    folder(home, agent)
}

/// Returns the key of a proxy in a folder. It is created once and stays the same.
///
/// # Errors
/// The key file can't be read or created.
pub(crate) fn key(folder: &Path) -> Result<String, String> {
    let path = folder.join(KEY);
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    match own_file::read(&path, KEY_FILE).map(|bytes| String::from_utf8_lossy(&bytes).trim().to_owned()) {
        Ok(key) if is_key(&key) => {
            // The key file is rewritten to make it readable for this user alone.
            own_file::put(&path, key.as_bytes()).map_err(failed)?;
            return Ok(key);
        }
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|error| error.to_string())?;
    let key = base16ct::lower::encode_string(&bytes);
    own_file::put(&path, key.as_bytes()).map_err(failed)?;
    Ok(key)
}

fn is_key(text: &str) -> bool {
    text.len() == 2 * BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns the text for the compaction that ends a window of a session. A repeated request for the same window gets the
/// same text, because an answer can be lost. If there is no text, the model writes the summary.
///
/// # Errors
/// The notes can't be read or written, or a hook has them locked for too long.
pub(crate) fn text(
    home: &Path,
    agent: &dyn Agent,
    id: &str,
    window: Option<&str>,
    now: f64,
) -> Result<Option<String>, String> {
    if !is_id(id) {
        return Ok(None);
    }
    let mut notes = patiently(|| Notes::try_take(home, agent, id))?.ok_or("a hook has them for too long")?;
    let is_fresh = |handover: &Handover| (-CLOCK_S..FRESH_S).contains(&(now - handover.at));
    let is_for =
        |handover: &Handover| handover.window.is_none() || (window.is_some() && handover.window.as_deref() == window);
    let handover = notes.state.handover.take().filter(|handover| is_fresh(handover) && is_for(handover));
    notes.state.has_handoff = handover.is_some();
    let text = handover.as_ref().map(|handover| handover.text.clone());
    notes.state.handover =
        handover.zip(window).map(|(handover, window)| Handover { window: Some(window.to_owned()), ..handover });
    notes.save()?;
    Ok(text)
}

/// Repeats an attempt until it has a result or the time is over.
fn patiently<T>(mut attempt: impl FnMut() -> Result<Option<T>, String>) -> Result<Option<T>, String> {
    let until = Instant::now() + PATIENCE;
    loop {
        match attempt()? {
            None if Instant::now() < until => std::thread::sleep(PAUSE),
            found => return Ok(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codex::Codex;

    #[test]
    fn a_text_is_for_one_window_and_while_it_is_fresh() {
        let home = tempfile::tempdir().unwrap();
        let notes = || Notes::take(home.path(), &Codex, "a").unwrap();
        let give = |at| {
            let mut notes = notes();
            notes.state.handover = Some(Handover { text: "t".into(), at, window: None });
            notes.save().unwrap();
        };
        let ask = |id, window| text(home.path(), &Codex, id, window, 1_000.0).unwrap();
        give(990.0);
        assert_eq!((ask("b", Some("w")), ask("../a", Some("w"))), (None, None));
        // A repeated request gets the same text; the next window gets none.
        for _ in 0..2 {
            assert_eq!(ask("a", Some("w")).as_deref(), Some("t"));
            assert!(notes().state.has_handoff);
        }
        assert_eq!(ask("a", Some("x")), None);
        assert!(!notes().state.has_handoff, "the model's summary stands there");
        give(990.0);
        assert_eq!((ask("a", None).as_deref(), ask("a", None)), (Some("t"), None));
        for at in [800.0, 1_100.0] {
            give(at);
            assert_eq!(ask("a", Some("w")), None);
            assert!(!notes().state.has_handoff);
        }
        // If a hook hangs, the model writes the summary.
        give(990.0);
        let held = notes();
        assert!(text(home.path(), &Codex, "a", Some("w"), 1_000.0).is_err());
        drop(held);
    }

    #[test]
    fn a_key_stays_and_is_made_anew_where_it_is_none() {
        let home = tempfile::tempdir().unwrap();
        assert!(!is_used(home.path(), &Codex));
        let one = key(&folder(home.path(), &Codex)).unwrap();
        assert!(is_key(&one) && is_used(home.path(), &Codex));
        assert_eq!(key(&folder(home.path(), &Codex)).unwrap(), one);
        own_file::put(&folder(home.path(), &Codex).join(KEY), b"short").unwrap();
        assert_ne!(key(&folder(home.path(), &Codex)).unwrap(), one);
    }
}
