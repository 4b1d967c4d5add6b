//! What sessions are called here, what of a file is shown, and which profile a folder has. Pure.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::super::Rule;

/// Chars of a hash that are compared.
const HASH: usize = 16;

/// A session's name after it was rewritten so often.
pub(super) fn name(id: &str, rewritten: u32) -> String {
    if rewritten == 0 { id.to_owned() } else { format!("{id}~{}", rewritten.saturating_add(1)) }
}

pub(super) fn profile(rules: &[Rule], cwd: &str) -> Option<String> {
    let holds = |rule: &&Rule| Path::new(cwd).starts_with(&rule.folder);
    let longest = |rule: &&Rule| rule.folder.components().count();
    rules.iter().filter(holds).max_by_key(longest).map(|rule| rule.profile.clone())
}

pub(super) fn hash(message: &str) -> String {
    let mut hash = base16ct::lower::encode_string(&Sha256::digest(message.as_bytes()));
    hash.truncate(HASH);
    hash
}

/// A text of a file as a name: without controls, and not too long; of a longer one the hash stands at the end.
pub(super) fn shown(text: &str, most: usize) -> String {
    let clean: String = text.chars().map(|char| if char.is_control() { '\u{fffd}' } else { char }).collect();
    if clean.chars().count() <= most {
        return clean;
    }
    let head: String = clean.chars().take(most - HASH - 1).collect();
    format!("{head}~{}", hash(text))
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::limits;

    use super::*;

    #[test]
    fn the_longest_folder_decides() {
        let rule = |folder: &str, profile: &str| Rule { folder: folder.into(), profile: profile.into() };
        let rules = [rule("/w", "work"), rule("/w/secret", "other"), rule("/home", "home")];
        for (cwd, expect) in [
            ("/w", Some("work")),
            ("/w/a/b", Some("work")),
            ("/w/secret/x", Some("other")),
            ("/wide", None),
            ("", None),
        ] {
            assert_eq!(profile(&rules, cwd).as_deref(), expect, "{cwd}");
        }
    }

    #[test]
    fn names_have_no_controls_and_an_end() {
        assert_eq!(shown("a\nb", 9), "a\u{fffd}b");
        let long = shown(&"é".repeat(5000), limits::NAME);
        assert_eq!(long.chars().count(), limits::NAME);
        assert_ne!(long, shown(&"é".repeat(5001), limits::NAME));
        assert_eq!((name("a", 0), name("a", 1)), ("a".to_owned(), "a~2".to_owned()));
    }
}
