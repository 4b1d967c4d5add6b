//! Masking secrets, whatever is configured.

use std::borrow::Cow;

use crate::redaction::Redaction;

/// How often a text is masked over: a mask can be shaped so that another pass masks it shorter.
const MOST_PASSES: usize = 4;

/// The text with secrets masked until that changes nothing.
pub(super) fn settled(text: &str) -> Cow<'_, str> {
    let mut masked = Redaction::On.apply(text);
    for _ in 1..MOST_PASSES {
        let again = Redaction::On.apply(&masked);
        if again == masked {
            break;
        }
        masked = Cow::Owned(again.into_owned());
    }
    masked
}

/// As [`settled`], with a warning if there was something to mask.
pub(super) fn masked(text: &str, warnings: &mut Vec<String>) -> String {
    let masked = settled(text);
    if masked != text {
        warnings.push("secrets were masked".to_owned());
    }
    masked.into_owned()
}
