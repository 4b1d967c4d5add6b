//! What a decision needs beside the list.

use std::ops::Range;

use crate::rehydrate::Earlier;
use crate::request::{Focus, Gain, Prompt};
use crate::settings::Settings;
use crate::wishes::Wishes;

/// What a decision needs beside the list.
pub(super) struct Options<'a> {
    pub(super) settings: &'a Settings,
    /// What the session knows of the handoffs in the list.
    pub(super) earlier: Earlier<'a>,
    pub(super) focus: &'a Focus,
    pub(super) gain: Gain,
    /// What the caller knows of the prompt.
    pub(super) prompt: Prompt,
    /// What the agent wishes for its messages.
    pub(super) wishes: &'a Wishes,
    /// Where messages may leave; anywhere where it is not said.
    pub(super) range: Option<&'a Range<usize>>,
    /// Whether what messages are worth decides what stays of them; it changes nothing in whether there is work.
    pub(super) weighs: bool,
}
