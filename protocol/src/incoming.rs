//! What the daemon sends to a client, in either codec.

use crate::{Notification, Reply, RpcError};

/// What the daemon sends to a client.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// The answer to a request: its id (none or 0 when the daemon could not read the
    /// request) and its outcome.
    Reply(Option<u64>, Result<Reply, RpcError>),
    /// What the connection has subscribed to; none when this build doesn't know
    /// its topic.
    Notification(Option<Notification>),
}
