//! A row of the table of patterns.

use crate::{FindingId, Scope};

/// One row of the table.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The id in reports.
    pub(super) id: FindingId,
    /// The smallest scope that includes the pattern.
    pub(super) scope: Scope,
    /// The stretch of text that a match can't cross.
    pub(super) reach: Reach,
    /// The words of every match, step by step: at each step one of the words separated by `|`, in
    /// which a space is any white space. A match begins with a word of the first step, unless the
    /// reach is [`Reach::Text`]. A step that begins with `\$` counts only in the name of a
    /// variable, after `$` or `${`.
    ///
    /// The expression is tried once per stretch, at its first chance. So several steps must contain
    /// everything that the expression requires: a stretch with all the words has its match there or
    /// nowhere. If that is not possible, the reach is [`Reach::WholeLine`] or [`Reach::Text`].
    pub(super) steps: &'static [&'static str],
    /// The regular expression, with these additions:
    ///
    /// - A space is any white space, and `\h` is white space within the line.
    /// - ` … ` is any number of words, with white space around them.
    /// - `\<` and `\>` are the edges of a word; they are not part of the match.
    ///
    /// Case never counts. A row with capturing groups reports the first group that took part in the match.
    pub(super) expression: &'static str,
}

/// The stretch of text that a match can't cross.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// A single word: there is only one step, and the expression is tried at each of its words.
    Word,
    /// Letters, digits, underscores and white space.
    Words,
    /// The line.
    Line,
    /// The line, which is searched once: from its first word to its end. A match may begin with any word of the first
    /// step.
    WholeLine,
    /// Everything up to the end of a tag.
    Tag,
    /// The whole text, which is searched once from its beginning.
    Text,
}

impl Reach {
    /// Returns whether the expression may match anywhere in what is searched, and not only at its start.
    pub(super) fn is_searched(self) -> bool {
        matches!(self, Self::WholeLine | Self::Text)
    }
}

impl Pattern {
    pub(super) const fn new(
        id: &'static str,
        scope: Scope,
        reach: Reach,
        steps: &'static [&'static str],
        expression: &'static str,
    ) -> Self {
        Self { id: FindingId::new(id), scope, reach, steps, expression }
    }
}
