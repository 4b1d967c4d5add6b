//! The most chars of each part of a handoff.

use super::Record;

/// The most percent of a handoff for rules.
const CONSTRAINTS_SHARE: usize = 10;
/// Percent of the room, without the smallest record, that is planned for the user's words.
const USER_SHARE: usize = 40;
/// Percent of the same room that is planned for the user's words and anchors together.
const BOTH_SHARE: usize = 74;
/// Percent of a handoff that anchors and the user's words each get if the record leaves no room. The record
/// is then cut.
const FLOOR_SHARE: usize = 15;
/// Chars reserved for the record before the shares; at most half of the room.
const RECORD_CHARS: usize = 2_000;

/// A handoff with fewer chars is short: its rules and the user's words come first, and no text occurs twice.
const SHORT_CHARS: usize = 6_000;
/// The most percent of a short handoff's room for rules.
const SHORT_CONSTRAINTS_SHARE: usize = 70;
/// Percent of a short handoff's room, without the smallest record, for the user's words and anchors together.
const SHORT_BOTH_SHARE: usize = 95;
/// Chars reserved for the record of a short handoff; at most the room divided by [`SHORT_RECORD_PARTS`].
const SHORT_RECORD_CHARS: usize = 300;
/// See [`SHORT_RECORD_CHARS`].
const SHORT_RECORD_PARTS: usize = 8;

/// Whether a handoff of so many chars is short.
pub(in crate::compressor) const fn is_short(limit: usize) -> bool {
    limit < SHORT_CHARS
}

/// The shares of a handoff's parts. A short handoff is mostly frame, so its shares refer to the room without
/// the frame.
#[derive(Clone, Copy)]
pub(super) struct Shares {
    /// Chars of the handoff.
    pub(super) limit: usize,
    /// Its chars without the frame and the line with the handle of the messages.
    pub(super) base: usize,
}

/// Chars for the user's words and the anchors.
pub(super) struct Room {
    pub(super) both: usize,
    /// The part of it that belongs to the user's words, whatever the anchors need.
    pub(super) user: usize,
}

impl Shares {
    /// Returns the most chars of the rules, heading included.
    pub(super) const fn rules(self) -> usize {
        if is_short(self.limit) {
            self.base / 100 * SHORT_CONSTRAINTS_SHARE
        } else {
            self.limit / 100 * CONSTRAINTS_SHARE
        }
    }

    /// Returns the chars reserved for the record.
    pub(super) fn record(self) -> usize {
        if is_short(self.limit) { SHORT_RECORD_CHARS.min(self.base / SHORT_RECORD_PARTS) } else { RECORD_CHARS }
    }

    /// Returns the chars that anchors and the user's words each get if the record leaves no room.
    pub(super) const fn floor(self) -> usize {
        let of = if is_short(self.limit) { self.base } else { self.limit };
        of / 100 * FLOOR_SHARE
    }

    /// Returns the room without the record and `others`. Room that a written record leaves beyond the shares
    /// goes to the user's words.
    pub(super) fn room(self, record: Record, others: usize) -> Room {
        let written = match record {
            Record::Coming => 0,
            Record::Written(chars) => chars,
        };
        let free = self.base.saturating_sub(written + others);
        let beside = self.base.saturating_sub(self.record().min(self.base / 2));
        let shared = beside / 100;
        let planned = if is_short(self.limit) {
            let least = free.max(2 * self.floor()).min(self.base.saturating_sub(others));
            (shared * SHORT_BOTH_SHARE).min(least)
        } else {
            (shared * BOTH_SHARE).min(free).max(2 * self.floor()).min(beside)
        };
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
