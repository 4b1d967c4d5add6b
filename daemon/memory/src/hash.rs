//! What names a text by its content.

use sha2::{Digest, Sha256};

/// SHA-256 in lower-case hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
