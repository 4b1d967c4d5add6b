//! One tool result on its way into a conversation.

use herma_disk::DiskError;

use crate::budget::{Budgets, Size};
use crate::content::Content;
use crate::facts::Facts;
use crate::outputs::Outputs;
pub use crate::outputs::{Kept, Origin};
use crate::preview::{block, truncation};

/// A result that was admitted.
#[derive(Debug)]
pub struct Admitted {
    /// What goes into the conversation instead of it; `None` when it stays.
    pub content: Option<Content>,
    /// What became of the full text.
    pub fate: Fate,
    /// Chars of the full text.
    pub chars: u64,
    /// Lines of the full text.
    pub lines: u64,
    /// Hex SHA-256 of the full text.
    pub sha256: String,
}

/// What became of the full text.
#[derive(Debug)]
pub enum Fate {
    /// It stays in the conversation.
    Stays,
    /// It is on disk.
    Spilled(Kept),
    /// It could not be kept; the conversation has its beginning.
    Lost(DiskError),
}

/// Admits a result: it stays when it fits or was given out before, else spilled. `now` is
/// in Unix seconds.
#[must_use]
pub fn admit(
    outputs: &Outputs,
    origin: &Origin<'_>,
    content: &Content,
    threshold: Size,
    budgets: &Budgets,
    now: f64,
) -> Admitted {
    let spilled =
        if threshold.is_exceeded_by(content.chars()) { spill(outputs, origin, content, budgets, now) } else { None };
    spilled.unwrap_or_else(|| {
        let Facts { chars, lines, sha256 } = Facts::of(&content.text());
        Admitted { content: None, fate: Fate::Stays, chars, lines, sha256: base16ct::lower::encode_string(&sha256) }
    })
}

/// Spills a result; `None` when it was given out before, and is not the same call again.
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
    let (Facts { chars, lines, sha256 }, kept) = outputs.keep_measuring(origin, &text, now);
    let count = crate::facts::narrow(chars);
    let (content, fate) = match kept {
        Ok(kept) => {
            let path = kept.path.display();
            let block = block(&text, count, &path, budgets.preview_size, budgets.preview_tail_size);
            (content.with_text(block), Fate::Spilled(kept))
        }
        Err(error) => (content.with_text(truncation(&text, count, budgets.preview_size)), Fate::Lost(error)),
    };
    Some(Admitted { content: Some(content), fate, chars, lines, sha256: base16ct::lower::encode_string(&sha256) })
}
