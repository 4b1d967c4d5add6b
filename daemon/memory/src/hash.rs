//! The hash that identifies a text by its content.

use sha2::{Digest, Sha256};

/// Returns the SHA-256 of a text in lower-case hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()))
}
