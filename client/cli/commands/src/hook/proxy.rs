//! What hooks and the proxy for Codex tell each other: whether there is a proxy, and the text that it answers a
//! compaction with.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::event::Client;
use super::state::{self, Notes};

/// Seconds after which a text is of an earlier compaction: the client asks for a summary right behind its hook.
const FRESH_S: f64 = 120.0;

/// The name of the file with a proxy's key.
const KEY: &str = "proxy-key";

/// Random bytes of a key.
const BYTES: usize = 16;

/// Whether a proxy was ever started for a client.
pub(super) fn is_used(home: &Path, client: Client) -> bool {
    state::folder(home, client).join(KEY).exists()
}

/// The key of the proxy of a home, the same each time.
///
/// # Errors
/// A file that can't be read or made.
pub(crate) fn key(home: &Path, client: Client) -> Result<String, String> {
    let path = state::folder(home, client).join(KEY);
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    match std::fs::read_to_string(&path) {
        Ok(key) if is_key(key.trim()) => return Ok(key.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let mut bytes = [0; BYTES];
    File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|error| error.to_string())?;
    let key = base16ct::lower::encode_string(&bytes);
    state::put(&path, key.as_bytes()).map_err(failed)?;
    Ok(key)
}

fn is_key(text: &str) -> bool {
    text.len() == 2 * BYTES && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Takes the text for a compaction of a session, once.
///
/// # Errors
/// Notes that can't be read or written.
pub(crate) fn take(home: &Path, client: Client, id: &str, now: f64) -> Result<Option<String>, String> {
    if !super::event::is_id(id) {
        return Ok(None);
    }
    let mut notes = Notes::take(home, client, id)?;
    let Some(handover) = notes.state.handover.take() else { return Ok(None) };
    let is_fresh = (now - handover.at).abs() < FRESH_S;
    // The window begins with the rules and the state of the work then.
    notes.state.has_handoff = is_fresh;
    notes.save()?;
    Ok(is_fresh.then_some(handover.text))
}

#[cfg(test)]
mod tests {
    use super::super::handover::Handover;
    use super::*;

    #[test]
    fn a_text_is_taken_once_and_while_it_is_fresh() {
        let home = tempfile::tempdir().unwrap();
        let give = |at| {
            let mut notes = Notes::take(home.path(), Client::Codex, "a").unwrap();
            notes.state.handover = Some(Handover { text: "t".into(), at });
            notes.save().unwrap();
        };
        let take = |id| take(home.path(), Client::Codex, id, 1_000.0).unwrap();
        give(990.0);
        assert_eq!((take("b"), take("../a"), take("a").as_deref(), take("a")), (None, None, Some("t"), None));
        assert!(Notes::take(home.path(), Client::Codex, "a").unwrap().state.has_handoff);
        give(800.0);
        assert_eq!(take("a"), None);
        assert!(!Notes::take(home.path(), Client::Codex, "a").unwrap().state.has_handoff);
    }

    #[test]
    fn a_key_stays_and_is_made_anew_where_it_is_none() {
        let home = tempfile::tempdir().unwrap();
        assert!(!is_used(home.path(), Client::Codex));
        let one = key(home.path(), Client::Codex).unwrap();
        assert!(is_key(&one) && is_used(home.path(), Client::Codex));
        assert_eq!(key(home.path(), Client::Codex).unwrap(), one);
        state::put(&state::folder(home.path(), Client::Codex).join(KEY), b"short").unwrap();
        assert_ne!(key(home.path(), Client::Codex).unwrap(), one);
    }
}
