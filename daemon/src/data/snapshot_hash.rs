//! The hash that identifies a snapshot.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of the memory block, a newline and the user block, in hex. A missing block counts as empty.
pub(crate) fn snapshot_hash(memory: Option<&str>, user: Option<&str>) -> String {
    let text = format!("{}\n{}", memory.unwrap_or_default(), user.unwrap_or_default());
    base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()))
}
