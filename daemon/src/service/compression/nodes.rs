//! What an engine that makes nodes is told of those that a session has.

use herma_context::engine::CompressRequest;
use herma_context::{Engine, Settings};

use super::CompressionService;
use crate::data::error::Outcome;
use crate::owners::archive::nodes;
use crate::service::session::Session;

/// What the ids of nodes begin with.
const PREFIX: &str = "nod_";

impl CompressionService {
    /// Adds what is known of a session's nodes to a request, where its engine makes any.
    pub(super) async fn tell_nodes(
        &self,
        session: &Session,
        settings: &Settings,
        request: &mut CompressRequest,
    ) -> Outcome<()> {
        if settings.engine == Engine::Lossless {
            let map = self.archive.map(session.id.clone()).await?;
            request.nodes = nodes::known(map, format!("{PREFIX}{}_", session.mark()));
        }
        Ok(())
    }
}
