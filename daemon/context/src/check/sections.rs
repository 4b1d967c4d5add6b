//! The headings of a summary, and the meaning of the text below them.

use super::threats;
use crate::constants::{PENDING_HEADING, TASK_HEADING};
use crate::handoff::SectionKind;

/// The heading of the user's rules in the prompt's template.
const CONSTRAINTS_HEADING: &str = "## Constraints & Preferences";

/// Whether a line is a heading.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with('#') && line.trim_start_matches('#').starts_with(' ')
}

/// Whether quotations below a heading belong to the user without an attribution.
pub(super) fn is_request_section(heading: &str) -> bool {
    [TASK_HEADING, PENDING_HEADING].contains(&heading.trim())
}

/// Whether the text below a heading is the user's words, quoted or not.
pub(super) fn is_user_section(heading: &str) -> bool {
    let own = [SectionKind::UserMessages.heading(), SectionKind::Constraints.heading(), CONSTRAINTS_HEADING];
    is_request_section(heading) || own.contains(&heading.trim())
}

/// Whether a text contains only headings, and notes about removed text.
pub(super) fn is_bare(body: &str) -> bool {
    body.lines().all(|line| line.trim().is_empty() || is_heading(line) || threats::is_note(line.trim()))
}
