//! Passes the nodes of a session to an engine that makes nodes.

use herma_context::engine::CompressRequest;
use herma_context::{Engine, Settings};

use super::CompressionService;
use crate::data::error::Outcome;
use crate::owners::archive::nodes;
use crate::service::session::Session;

/// The prefix of the ids of nodes.
const PREFIX: &str = "nod_";

impl CompressionService {
    /// Adds the session's nodes to a request, if its engine makes nodes.
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
