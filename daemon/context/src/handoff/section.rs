//! What herma appends to a summary.

/// One section that herma appends after a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it holds; gives the heading.
    pub kind: SectionKind,
    /// Its text below the heading.
    pub text: String,
}

/// The newlines around a heading.
pub(crate) const FRAME_OF_SECTION: usize = 3;

impl Section {
    /// Chars that it takes in a handoff, heading and blank line included.
    pub fn chars(&self) -> usize {
        self.text.chars().count() + self.kind.heading().len() + FRAME_OF_SECTION
    }
}

/// What herma appends to summaries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SectionKind {
    /// What the work is about, by exact names.
    State,
    /// Exact paths, commands, errors, numbers.
    Anchors,
    /// Words of the user, verbatim.
    UserMessages,
    /// Rules that hold on.
    Constraints,
    /// What is done, a line of each episode.
    Episodes,
    /// Where the replaced messages are.
    Recall,
}

impl SectionKind {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::State, Self::Anchors, Self::UserMessages, Self::Constraints, Self::Episodes, Self::Recall];

    /// The heading line.
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
