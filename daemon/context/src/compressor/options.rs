//! Parameters of a decision, in addition to the list.

use std::ops::Range;

use crate::rehydrate::Earlier;
use crate::request::{Focus, Gain, Prompt};
use crate::settings::Settings;
use crate::wishes::MessageRequests;

/// Parameters of a decision, in addition to the list.
pub(super) struct Options<'a> {
    pub(super) settings: &'a Settings,
    /// The session's knowledge of the handoffs in the list.
    pub(super) earlier: Earlier<'a>,
    pub(super) focus: &'a Focus,
    pub(super) gain: Gain,
    /// The caller's knowledge of the prompt.
    pub(super) prompt: Prompt,
    /// The agent's requests about its messages.
    pub(super) wishes: &'a MessageRequests,
    /// The range in which messages may leave; `None` for the whole list.
    pub(super) range: Option<&'a Range<usize>>,
    /// Whether importance decides which messages stay. It does not affect whether there is work.
    pub(super) weighs: bool,
}
