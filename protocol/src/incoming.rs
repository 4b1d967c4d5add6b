//! Messages from the daemon to a client, in either codec.

use crate::{Notification, Reply, RpcError};

/// A message from the daemon to a client.
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
#[derive(Debug, Clone, PartialEq)]
pub enum Incoming {
    /// The reply to a request: its id (none or 0 if the daemon could not read the request) and its outcome.
    Reply(Option<u64>, Result<Reply, RpcError>),
    /// A notification of a subscribed topic; `None` if this build doesn't know the topic.
    Notification(Option<Notification>),
}
