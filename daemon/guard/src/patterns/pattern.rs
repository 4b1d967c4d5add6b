//! What a row of the table says.

use crate::{FindingId, Scope};

/// One row of the table.
#[derive(Debug)]
pub(super) struct Pattern {
    /// The name it is reported under.
    pub(super) id: FindingId,
    /// The smallest scope that looks for it.
    pub(super) scope: Scope,
    /// The stretch of text that a hit can't leave.
    pub(super) reach: Reach,
    /// What every hit has, step by step: at each step one of the words between the `|`, where a
    /// space is any white space. Unless the reach is [`Reach::Text`] a hit begins with a word of
    /// the first step. A step that begins with `\$` counts only in the name of a variable, behind
    /// `$` or `${`.
    ///
    /// The expression is tried once in a stretch, at its first chance, so the words of several steps
    /// say all that it asks for: a stretch that has them has a hit there or nowhere. Where that
    /// can't be said the reach is [`Reach::Text`].
    pub(super) steps: &'static [&'static str],
    /// What it looks for. A space is any white space, ` … ` words with white space round them, `\h`
    /// white space within the line; `\<` and `\>` are the edges of a word, which are not part of
    /// the hit; case never counts. A row that has groups in plain brackets reports what the first
    /// of them took that took part.
    pub(super) expression: &'static str,
}

/// The stretch of text that a hit can't leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// What stands at one word: there is a single step, and each of its words is tried.
    Word,
    /// Letters, digits, underscores and white space.
    Words,
    /// The line.
    Line,
    /// Everything up to the end of a tag.
    Tag,
    /// The whole text, which is searched once and from its beginning.
    Text,
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
