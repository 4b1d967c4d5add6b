//! Admits one tool result to a conversation.

use herma_disk::DiskError;

use crate::budget::{Budgets, Size};
use crate::content::Content;
use crate::facts::{Facts, to_usize};
use crate::outputs::Outputs;
pub use crate::outputs::{Kept, Origin};
use crate::preview::{block, truncation};

/// A result that was admitted.
#[derive(Debug)]
pub struct Admitted {
    /// The content that replaces it in the conversation; `None` if it stays.
    pub content: Option<Content>,
    /// Where the full text is.
    pub fate: Fate,
    /// Chars of the full text.
    pub chars: u64,
    /// Lines of the full text.
    pub lines: u64,
    /// Hex SHA-256 of the full text.
    pub sha256: String,
}

/// Where the full text is.
#[derive(Debug)]
pub enum Fate {
    /// It stays in the conversation.
    Stays,
    /// It is on disk.
    Spilled(Kept),
    /// It could not be saved; the conversation has its beginning.
    Lost(DiskError),
}

/// Admits a result. It stays if it fits, or if it was returned to an agent before; otherwise it is spilled. `now` is in
/// Unix seconds.
#[must_use]
pub fn admit(
    outputs: &Outputs,
    origin: &Origin<'_>,
    content: &Content,
    threshold: Size,
    budgets: &Budgets,
    now: f64,
) -> Admitted {
    let spilled = if content.exceeds(threshold) { spill(outputs, origin, content, budgets, now) } else { None };
    spilled.unwrap_or_else(|| Admitted::of(Facts::of(&content.text()), None, Fate::Stays))
}

/// Spills a result. Returns `None` if it was returned to an agent before, and is not the same call again.
pub(crate) fn spill(
    outputs: &Outputs,
    origin: &Origin<'_>,
    content: &Content,
    budgets: &Budgets,
    now: f64,
) -> Option<Admitted> {
    let text = content.text();
    if outputs.is_reading(&text) && !outputs.is_kept_as(origin, &text) {
        return None;
    }
    let (facts, kept) = outputs.keep_measuring(origin, &text, now);
    let (content, fate) = match kept {
        Ok(kept) => {
            let path = kept.path.display();
            let block = block(&text, &facts, &path, budgets.preview_size, budgets.preview_tail_size);
            (content.with_text(block), Fate::Spilled(kept))
        }
        Err(error) => {
            let truncation = truncation(&text, to_usize(facts.chars), budgets.preview_size);
            (content.with_text(truncation), Fate::Lost(error))
        }
    };
    Some(Admitted::of(facts, Some(content), fate))
}

impl Admitted {
    fn of(facts: Facts, content: Option<Content>, fate: Fate) -> Self {
        let Facts { chars, lines, sha256 } = facts;
        Self { content, fate, chars, lines, sha256: base16ct::lower::encode_string(&sha256) }
    }
}
