//! Describes what hooks and imports left out of a conversation.

use herma_transcripts::is_note;

use crate::out;

/// The ending of a kind that was masked, in the notes of hooks.
pub const MASKED: &str = ", masked";

/// Describes counts by kind: first what is likely to matter, last the agent's own notes as one number.
#[must_use]
pub fn described<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    let (mut named, mut notes) = (Vec::new(), 0_u64);
    for (kind, count) in counts.filter(|(kind, _)| !kind.ends_with(MASKED)) {
        if is_note(kind) {
            notes = notes.saturating_add(count);
        } else {
            named.push(format!("{} × {kind}", out::thousands(count)));
        }
    }
    if notes > 0 {
        named.push(format!("{} of the agent's own", out::count_of(notes, "note")));
    }
    named.join(", ")
}

/// Describes the secrets among counts by kind.
#[must_use]
pub fn masked<'a>(counts: impl Iterator<Item = (&'a str, u64)>) -> String {
    let kinds = counts.filter_map(|(kind, count)| Some((kind.strip_suffix(MASKED)?, count)));
    kinds.map(|(kind, count)| format!("{} × {kind}", out::thousands(count))).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_one_number_and_secrets_are_not_left_out() {
        let counts = [("API error", 2), ("attachment", 70), ("key, masked", 1), ("system", 1_200), ("thinking", 3)];
        assert_eq!(described(counts.into_iter()), "2 × API error, 3 × thinking, 1,270 notes of the agent's own");
        assert_eq!(masked(counts.into_iter()), "1 × key");
        assert_eq!(described([("system", 1)].into_iter()), "1 note of the agent's own");
    }
}
