//! How many chars each part of a handoff may take.

use super::Record;

/// Percent of a handoff that rules may take.
const CONSTRAINTS_SHARE: usize = 10;
/// Percent of the room beside the smallest record that is planned for the user's words.
const USER_SHARE: usize = 40;
/// Percent of it that is planned for the user's words and anchors together.
const BOTH_SHARE: usize = 74;
/// Percent of a handoff that anchors and the user's words may each take of a record that leaves no
/// room; the record is cut for them.
const FLOOR_SHARE: usize = 15;
/// Room that is left to the record, in chars, before the shares are taken; half the room at most.
const RECORD_CHARS: usize = 2_000;

/// Chars below which a handoff is short: its rules and the user's words come before all else, and nothing is said twice.
const SHORT_CHARS: usize = 3_600;
/// Percent of the room of a short handoff that rules may take.
const SHORT_CONSTRAINTS_SHARE: usize = 50;
/// Room that is left to its record.
const SHORT_RECORD_CHARS: usize = 300;

/// Whether a handoff of so many chars is short.
pub(in crate::compressor) const fn is_short(limit: usize) -> bool {
    limit < SHORT_CHARS
}

/// What the parts of a handoff may take. A short one is its frame for the most part, so that they are shares of what
/// that leaves.
#[derive(Clone, Copy)]
pub(super) struct Shares {
    /// Chars of the handoff.
    pub(super) limit: usize,
    /// Chars of it beside its frame and the line that says where the messages are.
    pub(super) base: usize,
}

/// Chars for the user's words and the anchors.
pub(super) struct Room {
    pub(super) both: usize,
    /// What of it is the user's, whatever the anchors take.
    pub(super) user: usize,
}

impl Shares {
    /// The rules, heading included.
    pub(super) const fn rules(self) -> usize {
        if is_short(self.limit) {
            self.base / 100 * SHORT_CONSTRAINTS_SHARE
        } else {
            self.limit / 100 * CONSTRAINTS_SHARE
        }
    }

    /// What is left to the record.
    pub(super) const fn record(self) -> usize {
        if is_short(self.limit) { SHORT_RECORD_CHARS } else { RECORD_CHARS }
    }

    /// What anchors and the user's words may each take of a record that leaves no room.
    pub(super) const fn floor(self) -> usize {
        let of = if is_short(self.limit) { self.base } else { self.limit };
        of / 100 * FLOOR_SHARE
    }

    /// What is left beside the record and `others`; what a written record leaves beyond the shares is the user's.
    pub(super) fn room(self, record: Record, others: usize) -> Room {
        let written = match record {
            Record::Coming => 0,
            Record::Written(chars) => chars,
        };
        let free = self.base.saturating_sub(written + others);
        let beside = self.base.saturating_sub(self.record().min(self.base / 2));
        let shared = beside / 100;
        let planned = (shared * BOTH_SHARE).min(free).max(2 * self.floor()).min(beside);
        let both = match record {
            Record::Coming => planned,
            Record::Written(_) => planned.max(free),
        };
        let user = if is_short(self.limit) {
            planned
        } else {
            (shared * USER_SHARE).min(planned.saturating_sub(self.floor())).max(planned / 2)
        };
        Room { both, user: user + (both - planned) }
    }
}
