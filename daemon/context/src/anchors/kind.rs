//! The kind of an anchor.

/// The kinds, in the order in which they are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A sentence that states a decision.
    Decision,
    /// A line with an error.
    Error,
    /// A command, with its exit code if it is known.
    Command,
    /// An address.
    Url,
    /// A commit or a checksum.
    Hash,
    /// An issue, a change request or a ticket.
    Issue,
    /// A number with its unit.
    Measure,
    /// A file or a folder.
    Path,
}

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Self; 8] =
        [Self::Decision, Self::Error, Self::Command, Self::Url, Self::Hash, Self::Issue, Self::Measure, Self::Path];

    /// Returns the line above anchors of this kind.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Decision => "Decisions:",
            Self::Error => "Errors:",
            Self::Command => "Commands:",
            Self::Url => "Links:",
            Self::Hash => "Commits and checksums:",
            Self::Issue => "Issues:",
            Self::Measure => "Measures:",
            Self::Path => "Paths:",
        }
    }

    /// Returns the percent of the budget for the kind before the rest is distributed.
    pub(super) const fn share(self) -> usize {
        match self {
            Self::Decision => 18,
            Self::Error => 16,
            Self::Command => 14,
            Self::Url | Self::Measure => 12,
            Self::Hash => 10,
            Self::Issue | Self::Path => 9,
        }
    }

    /// Returns its index in [`Self::ALL`].
    pub(super) const fn index(self) -> usize {
        self as usize
    }
}
