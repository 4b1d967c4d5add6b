//! Windows of models that providers reported.

use super::ArchiveHandle;
use crate::data::clock::unix_now;
use crate::data::error::Outcome;

impl ArchiveHandle {
    /// Returns the window reported for a model at an endpoint, in tokens.
    pub(crate) async fn window(&self, model: String, base_url: String) -> Outcome<Option<u64>> {
        if !self.is_in_use() {
            return Ok(None);
        }
        self.write(move |archive| archive.reader().window(&model, &base_url)).await
    }

    /// Stores a window.
    pub(crate) async fn keep_window(&self, model: String, base_url: String, tokens: u64) -> Outcome<()> {
        self.write_if_in_use(move |archive| archive.keep_window(&model, &base_url, tokens, unix_now())).await
    }
}
