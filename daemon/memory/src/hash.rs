//! What names a text by its content.

use sha2::{Digest, Sha256};

/// SHA-256 in lower-case hexadecimal digits.
pub(crate) fn hash(text: &str) -> String {
    base16ct::lower::encode_string(&Sha256::digest(text.as_bytes()))
}
