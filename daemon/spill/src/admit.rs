//! One tool result on its way into a conversation.

use herma_disk::DiskError;

use crate::budget::{Budgets, Size};
use crate::content::Content;
use crate::name;
use crate::outputs::{Kept, Outputs};
use crate::preview::{block, lines, truncation};

/// Where a result comes from.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The session.
    pub session: &'a str,
    /// The call's id.
    pub id: &'a str,
}

/// A result that was admitted.
#[derive(Debug)]
pub struct Admitted {
    /// What goes into the conversation.
    pub content: Content,
    /// What became of the full text.
    pub fate: Fate,
    /// Chars of the full text.
    pub chars: usize,
    /// Lines of the full text.
    pub lines: usize,
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

/// Admits a result: unchanged when it fits, else spilled.
#[must_use]
pub fn admit(outputs: &Outputs, origin: Origin<'_>, content: Content, threshold: Size, budgets: &Budgets) -> Admitted {
    let text = content.text();
    let (chars, lines, sha256) = (text.chars().count(), lines(&text), name::hex(text.as_bytes()));
    if !threshold.is_exceeded_by(content.chars()) {
        drop(text);
        return Admitted { content, fate: Fate::Stays, chars, lines, sha256 };
    }
    let (content, fate) = match outputs.keep(origin.session, origin.id, &text) {
        Ok(kept) => {
            let path = kept.path.display();
            let block = block(&text, chars, &path, budgets.preview_size, budgets.preview_tail_size);
            (content.with_text(block), Fate::Spilled(kept))
        }
        Err(error) => (content.with_text(truncation(&text, chars, budgets.preview_size)), Fate::Lost(error)),
    };
    Admitted { content, fate, chars, lines, sha256 }
}
