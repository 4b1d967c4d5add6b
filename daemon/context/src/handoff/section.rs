//! The sections that herma appends to a summary.

/// One section that herma appends after a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The kind of content; it determines the heading.
    pub kind: SectionKind,
    /// Its text below the heading.
    pub text: String,
}

/// The newlines around a heading.
pub(crate) const FRAME_OF_SECTION: usize = 3;

impl Section {
    /// Returns its chars in a handoff, heading and blank line included.
    pub fn chars(&self) -> usize {
        self.text.chars().count() + self.kind.heading().len() + FRAME_OF_SECTION
    }
}

/// The kinds of sections that herma appends to summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// The state of the work, as exact names.
    State,
    /// Exact paths, commands, errors, numbers.
    Anchors,
    /// The user's words, verbatim.
    UserMessages,
    /// The user's rules.
    Constraints,
    /// Finished episodes, one line for each.
    Episodes,
    /// The handle of the replaced messages.
    Recall,
}

impl SectionKind {
    /// All kinds.
    pub const ALL: [Self; 6] =
        [Self::State, Self::Anchors, Self::UserMessages, Self::Constraints, Self::Episodes, Self::Recall];

    /// Returns the heading line.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::State => "## State of the Work",
            Self::Anchors => "## Exact References",
            Self::UserMessages => "## Earlier User Messages (verbatim)",
            Self::Constraints => "## Standing Constraints",
            Self::Episodes => "## Finished Episodes",
            Self::Recall => "## Archived Messages",
        }
    }
}
