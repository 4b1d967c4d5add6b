//! File names for foreign ids, which are never used as paths unchanged.

use sha2::{Digest, Sha256};

/// The maximum length in chars of an id that is used unchanged.
const LONGEST: usize = 128;

/// Chars of a readable slug.
const SLUG: usize = 40;

/// Returns a file or folder name for an id. Ids of ASCII letters, digits, `.`, `_` and `-` up to 128 chars stay
/// unchanged, except `.` and `..`. Any other id becomes a slug and a hash, so that different ids have different names.
#[must_use]
pub fn safe(id: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-');
    if !id.is_empty() && id.len() <= LONGEST && id.chars().all(plain) && id != "." && id != ".." {
        return id.to_owned();
    }
    let slug: String =
        id.chars().take(SLUG).map(|char| if char.is_ascii_alphanumeric() { char } else { '_' }).collect();
    format!("{slug}-{}", &hex(id.as_bytes())[..16])
}

/// Returns the SHA-256 in hex.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_ids_stay_and_hostile_ones_do_not() {
        for id in ["call_1", "toolu_01A.b-c", &"x".repeat(128)] {
            assert_eq!(safe(id), id);
        }
        for id in ["", ".", "..", "../../x", "a/b", "a\0b", "ä", "a b", &"x".repeat(129), &"/".repeat(10_000)] {
            let name = safe(id);
            assert!(name.len() <= SLUG + 17 && !name.contains(['/', '\0']) && !name.starts_with('.'), "{name}");
            assert_ne!(name, safe(&format!("{id}?")));
        }
    }
}
