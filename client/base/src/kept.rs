//! How what other programs keep of conversations is kept here, whether it is imported or followed. Pure.

use herma_client::protocol::{Json, limits};
use herma_transcripts::Said;
use sha2::{Digest, Sha256};

/// Bytes of a message that is kept; of a longer one only that there was one.
pub const LARGEST: usize = limits::FRAME / 4;

/// Chars of a hash that are compared.
pub const HASH: usize = 16;

/// A session's name after it was rewritten so often.
pub fn name(id: &str, rewritten: u32) -> String {
    if rewritten == 0 { id.to_owned() } else { format!("{id}~{}", rewritten.saturating_add(1)) }
}

/// What tells one text from another.
pub fn hash(text: &[u8]) -> String {
    let mut hash = base16ct::lower::encode_string(&Sha256::digest(text));
    hash.truncate(HASH);
    hash
}

/// A message as it is kept.
pub fn message(said: &Said) -> Option<Json> {
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
        let said = |text: String| Said { time: None, message: format!("{{\"content\":\"{text}\"}}") };
        assert!(message(&said("x".into())).unwrap().get().contains('x'));
        assert!(message(&said("x".repeat(LARGEST))).unwrap().get().contains("too large"));
    }
}
