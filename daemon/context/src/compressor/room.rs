//! How long a handoff may become: its limit, and the names beyond it.

use super::Prepared;
use super::decide::{gain_chars, kept_tokens};
use super::goal::percent;
use super::price::chars_within;
use crate::request::Gain;
use crate::run::Writer;
use crate::tokens::tokens_to_chars;

/// The minimum size of a handoff in chars, not counting the quoted messages of the user.
const MIN_HANDOFF_CHARS: usize = 3_000;
/// The minimum size of a handoff in a small window.
const LEAST_HANDOFF_CHARS: usize = 1_500;
/// A smaller threshold in tokens is that of a small window, in which a handoff of more chars than the minimum does not
/// make the list longer.
const SMALL_WINDOW: u64 = 8_000;
/// Percent of the texts that a first handoff in a small window replaces, of which it may have as many chars, even if
/// the user's words need less.
const SHARE_OF_GAIN: usize = 75;
/// Chars of JSON around a message, which cost a model next to nothing.
const JSON_OF_MESSAGE: usize = 32;
/// The most tokens of names beyond a handoff's limit, in percent of the new list.
const NAMES_OF_LIST: u64 = 10;
/// The same in percent of the tokens until the next compression, which comes that much sooner.
const NAMES_OF_FREE: u64 = 8;
/// The most chars of such names, whatever the list's size.
const MOST_NAMES_CHARS: usize = 24_000;

impl Prepared {
    /// Returns the most chars of the handoff without names beyond them.
    pub(super) fn limit_chars(&self) -> usize {
        let most = self.brief.handoff_chars();
        match (self.target, self.gain) {
            (Some(target), _) => chars_within(target.handoff, &self.brief.turns, most).unwrap_or(most),
            (None, Gain::Required) => most.min(gain_chars(&self.layout)),
            (None, Gain::Any) => {
                // Otherwise successive runs would each lose a little of the same content.
                if self.layout.handoff_chars(&self.input) > 0 {
                    return most;
                }
                let said = MIN_HANDOFF_CHARS.saturating_add(self.sources(Writer::Model).material.said_chars());
                let gain = gain_chars(&self.layout);
                if self.goal.threshold >= SMALL_WINDOW {
                    return most.min(gain.max(said));
                }
                let texts = gain.saturating_sub(JSON_OF_MESSAGE * self.layout.dropped());
                most.min((texts / 100 * SHARE_OF_GAIN).max(said.min(gain)).max(LEAST_HANDOFF_CHARS))
            }
        }
    }

    /// Returns the most chars of names beyond the limit.
    pub(super) fn names(&self) -> usize {
        let list = kept_tokens(&self.layout) + self.brief.handoff_tokens;
        let free = self.goal.threshold.saturating_sub(self.goal.beside() + list);
        let most = percent(list, NAMES_OF_LIST).min(percent(free, NAMES_OF_FREE));
        let most = tokens_to_chars(most).min(MOST_NAMES_CHARS);
        let whole = self.limit + most;
        let room = match self.target {
            Some(target) => chars_within(target.handoff, &self.brief.turns, whole).unwrap_or(whole),
            // Names have more signs that are escaped than words have.
            None => (gain_chars(&self.layout) / 100 * 90).min(whole),
        };
        room.saturating_sub(self.limit)
    }
}
