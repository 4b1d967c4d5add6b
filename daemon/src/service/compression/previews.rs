//! Outputs that leave a list for a preview: kept whole as any that is spilled, before the list is
//! answered.

use std::collections::HashMap;
use std::path::PathBuf;

use herma_context::engine::Spill;
use herma_spill::facts::Facts;
use herma_spill::outputs::Origin;
use herma_spill::preview;

use super::CompressionService;
use crate::data::clock::unix_now;
use crate::service::session::Session;

/// Of so many chars of a preview one is of the text's end, as far as the configuration has it.
const END_SHARE: usize = 4;

/// What was kept, by position in the list.
pub(super) struct Previews {
    kept: HashMap<usize, Whole>,
    /// Chars of a text's end that a preview shows at the most.
    end: usize,
}

/// A text that is on disk now.
struct Whole {
    text: String,
    facts: Facts,
    path: PathBuf,
}

impl Previews {
    /// Keeps the texts. One that can't be kept has no preview: it is in the archive all the same.
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

    /// The preview of the output at a position, with so many chars of its text.
    pub(super) fn of(&self, index: usize, chars: usize) -> Option<String> {
        let whole = self.kept.get(&index)?;
        let end = self.end.min(chars / END_SHARE);
        Some(preview::block(&whole.text, &whole.facts, &whole.path.display(), chars - end, end))
    }
}
