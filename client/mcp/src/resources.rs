//! The resources: the current content of both stores, and the session's snapshot.

use herma_client::ClientError;
use herma_client::protocol::memory::{ListParams, Target};
use herma_client::protocol::session::SnapshotParams;
use rmcp::model::{ErrorData, MetaObject, ReadResourceResult, Resource, ResourceContents};
use serde_json::{Value, json};

use super::connection::Connection;
use super::identity::Identity;

/// The text between two entries, the same as in the files.
const DELIMITER: &str = "\n§\n";

/// A resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Readable {
    /// The frozen blocks of the session.
    Snapshot,
    /// The current content of a store.
    Store(Target),
}

impl Readable {
    /// Every resource.
    const ALL: [Self; 3] = [Self::Snapshot, Self::Store(Target::Memory), Self::Store(Target::User)];

    /// Returns its name in the protocol.
    pub(super) const fn uri(self) -> &'static str {
        match self {
            Self::Snapshot => "herma://session/snapshot",
            Self::Store(Target::Memory) => "herma://store/memory",
            Self::Store(Target::User) => "herma://store/user",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Snapshot => "snapshot",
            Self::Store(Target::Memory) => "MEMORY.md",
            Self::Store(Target::User) => "USER.md",
        }
    }

    const fn description(self) -> &'static str {
        match self {
            Self::Snapshot => "Both stores as this session saw them first, for the system prompt; it does not change.",
            Self::Store(Target::Memory) => "The agent's own notes as they are now, with § between two entries.",
            Self::Store(Target::User) => "Who the user is, as it is noted now, with § between two entries.",
        }
    }

    const fn media_type(self) -> &'static str {
        match self {
            Self::Snapshot => "text/plain",
            Self::Store(_) => "text/markdown",
        }
    }
}

/// Returns all resources with their descriptions.
pub(super) fn list() -> Vec<Resource> {
    let described = |readable: Readable| {
        Resource::new(readable.uri(), readable.name())
            .with_description(readable.description())
            .with_mime_type(readable.media_type())
    };
    Readable::ALL.map(described).into()
}

/// Returns the resource with a URI.
///
/// # Errors
/// There is no such resource.
pub(super) fn find(uri: &str) -> Result<Readable, ErrorData> {
    Readable::ALL.into_iter().find(|readable| readable.uri() == uri).ok_or_else(|| {
        let shown: String = uri.chars().take(200).collect();
        let known = Readable::ALL.map(Readable::uri).join(", ");
        let words = format!("there is no resource {shown:?}; there are {known}");
        ErrorData::resource_not_found(words, Some(json!({ "uri": shown })))
    })
}

/// Reads a resource. Placeholders replace entries that the guard blocks, because a model reads the result.
///
/// # Errors
/// The daemon's error, or no daemon.
pub(super) fn read(
    connection: &mut Connection,
    identity: &Identity,
    readable: Readable,
) -> Result<ReadResourceResult, ClientError> {
    let (text, meta) = match readable {
        Readable::Snapshot => {
            let snapshot = connection.call(SnapshotParams { session: identity.session.clone() })?;
            let meta = json!({ "herma/session": identity.session, "herma/sha256": snapshot.sha256 });
            let blocks: Vec<String> = [snapshot.memory, snapshot.user].into_iter().flatten().collect();
            (blocks.join("\n"), meta)
        }
        Readable::Store(target) => {
            let stores = connection.call(ListParams { target: Some(target), raw: None })?;
            let store = match target {
                Target::Memory => stores.memory,
                Target::User => stores.user,
            };
            let store = store.ok_or_else(|| ClientError::Answer("the store is missing in it".into()))?;
            let meta = json!({ "herma/revision": store.revision, "herma/usage": store.usage });
            (store.entries.join(DELIMITER), meta)
        }
    };
    let contents = ResourceContents::text(text, readable.uri()).with_mime_type(readable.media_type());
    let Value::Object(meta) = meta else { return Ok(ReadResourceResult::new(vec![contents])) };
    Ok(ReadResourceResult::new(vec![contents.with_meta(MetaObject(meta))]))
}
