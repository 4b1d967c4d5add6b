//! Sentences and numbers that clients match on.

/// The first line of every handoff.
pub const PREFIX: &str = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns, condensed: background reference, NOT as active instructions. The latest user message after this wins; stop, undo, roll back, never mind or just verify in it end earlier work at once. '## Historical Task Snapshot', '## Historical In-Progress State', '## Historical Pending User Asks' and '## Historical Remaining Work' are stale: discard them unless that message asks again; topic overlap is no reason to resume. MEMORY.md and USER.md remain authoritative.";
/// The beginning of every handoff of this family, older ones included.
pub(crate) const FAMILY: &str = "[CONTEXT COMPACTION";
/// The beginning of handoffs before that.
pub(crate) const LEGACY: &str = "[CONTEXT SUMMARY]:";
/// The last line of every handoff.
pub const END_MARKER: &str = "--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---";
/// The end of the last line of every handoff of this family.
pub(crate) const END_TAIL: &str = "respond to the message below, not the summary above ---";
/// Words in the last line of every handoff of this family.
pub(crate) const END_WORDS: &str = "END OF CONTEXT SUMMARY";
/// The field that marks a message with a handoff.
pub const METADATA_KEY: &str = "_compressed_summary";

/// The section with the user's last request.
pub const TASK_HEADING: &str = "## Historical Task Snapshot";
/// The section with the work under way.
pub const IN_PROGRESS_HEADING: &str = "## Historical In-Progress State";
/// The section with the user's unanswered requests.
pub const PENDING_HEADING: &str = "## Historical Pending User Asks";
/// The section with the work left to do.
pub const REMAINING_HEADING: &str = "## Historical Remaining Work";

/// The function with which a model searches for messages that left the list.
pub const RECALL_SEARCH: &str = "recall_search";
/// The function with which a model gets the content of a handle.
pub const RECALL_EXPAND: &str = "recall_expand";
/// The function that lists what a session's compressions removed.
pub const RECALL_DESCRIBE: &str = "recall_describe";
/// The function that describes a session, under the name that a model sees.
pub const RECALL_STATE: &str = "recall_state";

/// The function with which a model asks a question about a part of a conversation.
pub const RECALL_ASK: &str = "recall_ask";
/// The function with which a model discards outputs.
pub const CONTEXT_DISCARD: &str = "context_discard";
/// The function with which a model opens and closes episodes.
pub const CONTEXT_EPISODE: &str = "context_episode";

/// Tokens of an image in an estimate.
pub const IMAGE_TOKENS: u64 = 1_500;
/// Chars of an image in a budget.
pub const IMAGE_CHARS: usize = 6_400;
/// Windows to try, largest first, when a provider says only that a prompt is too long.
pub const PROBE_TIERS: [u64; 6] = [256_000, 128_000, 64_000, 32_000, 16_000, 8_000];

/// Everything a client may match on, in one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Constants {
    /// See [`PREFIX`].
    pub prefix: &'static str,
    /// See [`END_MARKER`].
    pub end_marker: &'static str,
    /// See [`METADATA_KEY`].
    pub metadata_key: &'static str,
    /// The four headings of stale sections.
    pub headings: Headings,
    /// See [`IMAGE_TOKENS`].
    pub image_tokens: u64,
    /// See [`IMAGE_CHARS`].
    pub image_chars: usize,
    /// See [`MIN_CONTEXT`](crate::MIN_CONTEXT).
    pub min_context: u64,
    /// See [`PROBE_TIERS`].
    pub probe_tiers: &'static [u64],
}

/// The headings of the sections that a reader must discard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headings {
    /// See [`TASK_HEADING`].
    pub task: &'static str,
    /// See [`IN_PROGRESS_HEADING`].
    pub in_progress: &'static str,
    /// See [`PENDING_HEADING`].
    pub pending: &'static str,
    /// See [`REMAINING_HEADING`].
    pub remaining: &'static str,
}

/// Returns the constants of this build.
pub const fn constants() -> Constants {
    Constants {
        prefix: PREFIX,
        end_marker: END_MARKER,
        metadata_key: METADATA_KEY,
        headings: Headings {
            task: TASK_HEADING,
            in_progress: IN_PROGRESS_HEADING,
            pending: PENDING_HEADING,
            remaining: REMAINING_HEADING,
        },
        image_tokens: IMAGE_TOKENS,
        image_chars: IMAGE_CHARS,
        min_context: crate::settings::MIN_CONTEXT,
        probe_tiers: &PROBE_TIERS,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_says_what_readers_rely_on() {
        assert!(PREFIX.starts_with(FAMILY) && !PREFIX.contains('\n'));
        for words in [
            "REFERENCE ONLY",
            "background reference",
            "NOT as active instructions",
            "latest user message",
            TASK_HEADING,
            IN_PROGRESS_HEADING,
            PENDING_HEADING,
            REMAINING_HEADING,
            "stop",
            "undo",
            "roll back",
            "never mind",
            "just verify",
            "MEMORY.md",
            "USER.md",
            "authoritative",
            "discard",
            "topic overlap",
        ] {
            assert!(PREFIX.contains(words), "{words}");
        }
        for words in [
            "resume exactly",
            "you may use the summary as background",
            "## Active Task",
            "## Pending User Asks",
            "## Remaining Work",
        ] {
            assert!(!PREFIX.contains(words), "{words}");
        }
        assert!(END_MARKER.contains(END_WORDS) && END_MARKER.ends_with(END_TAIL));
    }
}
