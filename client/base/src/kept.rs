//! The form in which the conversations of other programs are archived, both when imported and when followed. No I/O.

use herma_client::protocol::{Json, limits};
use herma_transcripts::TimedMessage;
use sha2::{Digest, Sha256};

/// The largest message that is archived, in bytes. A note replaces a larger one.
pub const LARGEST: usize = limits::FRAME / 4;

/// The chars of a hash.
pub const HASH: usize = 16;

/// Returns the name of a session after that many rewrites.
pub fn name(id: &str, rewritten: u32) -> String {
    if rewritten == 0 { id.to_owned() } else { format!("{id}~{}", rewritten.saturating_add(1)) }
}

/// Returns a short hash that identifies a text.
pub fn hash(text: &[u8]) -> String {
    let mut hash = base16ct::lower::encode_string(&Sha256::digest(text));
    hash.truncate(HASH);
    hash
}

/// Returns a message in its archived form.
pub fn message(said: &TimedMessage) -> Option<Json> {
    let whole = (said.message.len() <= LARGEST).then(|| Json::parse(said.message.clone()).ok()).flatten();
    whole.or_else(|| Json::parse(r#"{"role":"user","content":"[a message that is too large]"}"#.to_owned()).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_named_by_how_often_it_was_rewritten() {
        assert_eq!([0, 1, 2].map(|rewritten| name("a", rewritten)), ["a", "a~2", "a~3"]);
    }

    #[test]
    fn of_a_message_that_is_too_large_it_is_kept_that_there_was_one() {
        let said = |text: String| TimedMessage { time: None, message: format!("{{\"content\":\"{text}\"}}") };
        assert!(message(&said("x".into())).unwrap().get().contains('x'));
        assert!(message(&said("x".repeat(LARGEST))).unwrap().get().contains("too large"));
    }
}
