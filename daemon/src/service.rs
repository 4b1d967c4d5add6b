//! What the daemon does, apart from who asks for it.

pub(crate) mod approvals;
pub(crate) mod compression;
pub(crate) mod connection_locks;
pub(crate) mod recall_index;
pub(crate) mod refusals;
pub(crate) mod retention;
pub(crate) mod session;
