//! Outputs of a list that are replaced by previews. They are stored whole, like any spilled output, before the list is
//! returned.

use std::collections::HashMap;
use std::path::PathBuf;

use herma_context::engine::Spill;
use herma_spill::facts::Facts;
use herma_spill::outputs::Origin;
use herma_spill::preview;

use super::CompressionService;
use crate::data::clock::unix_now;
use crate::service::session::Session;

/// The end of the text gets one part of this number of a preview's chars, up to the configured limit.
const END_SHARE: usize = 4;

/// The stored texts, by position in the list.
pub(super) struct Previews {
    kept: HashMap<usize, Whole>,
    /// The largest number of chars that a preview shows of the end of a text.
    end: usize,
}

/// A text that is now on disk.
struct Whole {
    text: String,
    facts: Facts,
    path: PathBuf,
}

impl Previews {
    /// Stores the texts. A text that can't be stored gets no preview; it is in the archive anyway.
    pub(super) fn keep(service: &CompressionService, session: &Session, spills: Vec<Spill>) -> Self {
        let mut previews = Self { kept: HashMap::new(), end: service.preview_tail_size };
        for Spill { index, tool, id, text } in spills {
            let id = id.unwrap_or_else(|| format!("compressed_{index}"));
            let origin = Origin { session: &session.id, profile: &session.profile, tool: &tool, id: &id };
            let facts = Facts::of(&text);
            match service.outputs.kept.keep(&origin, &text, &facts, unix_now()) {
                Ok(kept) => {
                    service.outputs.spilled(&kept.handle);
                    previews.kept.insert(index, Whole { text, facts, path: kept.path });
                }
                Err(error) => tracing::warn!(session = session.id, "an output could not be kept: {error}"),
            }
        }
        previews
    }

    /// Returns the preview of the output at a position, with this number of chars of its text.
    pub(super) fn of(&self, index: usize, chars: usize) -> Option<String> {
        let whole = self.kept.get(&index)?;
        let end = self.end.min(chars / END_SHARE);
        Some(preview::block(&whole.text, &whole.facts, &whole.path.display(), chars - end, end))
    }
}
