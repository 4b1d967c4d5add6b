//! Compares read messages with the imported ones, and divides them into requests. No I/O.

use herma_base::kept::{LARGEST, hash};
use herma_transcripts::TimedMessage;

use super::super::record::ImportedSession;
use super::BYTES;

/// The most messages in one request.
const MESSAGES: usize = 500;

/// Returns whether the message at the position of the last imported one is another one.
pub(super) fn rewrote(known: &ImportedSession, first: u64, said: &[TimedMessage]) -> bool {
    let Some(last) = known.messages.checked_sub(1).filter(|_| !known.last.is_empty()) else { return false };
    let at = last.checked_sub(first).and_then(|at| usize::try_from(at).ok());
    at.and_then(|at| said.get(at)).is_some_and(|said| hash(said.message.as_bytes()) != known.last)
}

/// Returns how many of the first messages fit into a request.
pub(super) fn batch(said: &[TimedMessage]) -> usize {
    let mut bytes = 0;
    let fits = said.iter().take(MESSAGES).take_while(|said| {
        let is_first = bytes == 0;
        bytes += said.message.len().clamp(1, LARGEST);
        is_first || bytes <= BYTES
    });
    fits.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> TimedMessage {
        TimedMessage { time: None, message: text.into() }
    }

    #[test]
    fn another_last_message_is_seen_where_it_stands() {
        let known = |messages, last: &str| ImportedSession {
            messages,
            last: hash(last.as_bytes()),
            ..ImportedSession::default()
        };
        let list = ["a", "b", "c"].map(said);
        for (known, first, expect) in [
            (known(2, "b"), 0, false),
            (known(2, "x"), 0, true),
            (known(2, "a"), 1, false),
            (known(2, "x"), 1, true),
            (known(9, "x"), 0, false),
            (known(1, "x"), 1, false),
            (ImportedSession::default(), 0, false),
            (ImportedSession { messages: 2, ..ImportedSession::default() }, 0, false),
        ] {
            assert_eq!(rewrote(&known, first, &list), expect, "{known:?} {first}");
        }
    }

    #[test]
    fn a_request_has_at_least_one_message_and_not_too_many() {
        let large = said(&"x".repeat(BYTES));
        assert_eq!(batch(&[]), 0);
        assert_eq!(batch(&[large.clone(), large.clone()]), 1);
        assert_eq!(batch(&[said("a"), large]), 1);
        assert_eq!(batch(&vec![said("a"); 2 * MESSAGES]), MESSAGES);
    }
}
