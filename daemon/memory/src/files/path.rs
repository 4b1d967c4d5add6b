//! Paths below the root.

use std::fmt;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

/// The prefix of every path in the tool's spelling.
pub const ROOT: &str = "/memories";

/// Maximum bytes of a name, as in most file systems.
const LONGEST_NAME: usize = 255;

/// Maximum bytes of a path.
const LONGEST: usize = 1024;

/// Maximum number of names in a path.
const DEEPEST: usize = 16;

/// URL-encoded spellings of `.`, `/` and `\`, in lower case.
const ENCODED: [&str; 3] = ["%2e", "%2f", "%5c"];

/// A path below the root, or the root itself. Its names are joined by `/`; none is empty, `.` or `..`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePath(Arc<str>);

/// Why a text is not a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// It does not begin with the root.
    #[error("Path must start with /memories, got: {0}")]
    Elsewhere(String),
    /// It leads out of the root.
    #[error("Path {0} would escape /memories directory")]
    Escapes(String),
    /// It contains something that no path may have.
    #[error("Path {path} can't be used: {why}")]
    Spelled {
        /// The path, shortened.
        path: String,
        /// The reason.
        why: String,
    },
}

impl FilePath {
    /// Returns the root.
    #[must_use]
    pub fn root() -> Self {
        Self("".into())
    }

    /// Parses a path as a model writes it.
    ///
    /// # Errors
    /// The path does not begin with the root, leads out of it, or contains something that no path may have.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let shown = || text.chars().filter(|char| !char.is_control()).take(200).collect::<String>();
        let below = text.strip_prefix(ROOT).filter(|below| below.is_empty() || below.starts_with('/'));
        let Some(below) = below else { return Err(PathError::Elsewhere(shown())) };
        let spelled = |why: String| PathError::Spelled { path: shown(), why };
        if let Some(char) = below.chars().find(|char| char.is_control() || *char == '\\') {
            return Err(spelled(format!("it has the char U+{:04X} in it", u32::from(char))));
        }
        let lower = below.to_ascii_lowercase();
        if let Some(encoded) = ENCODED.into_iter().find(|encoded| lower.contains(encoded)) {
            return Err(spelled(format!("write {encoded} as the char that it stands for")));
        }
        let mut names: Vec<&str> = Vec::new();
        for name in below.split('/') {
            match name {
                "" | "." => {}
                ".." => drop(names.pop().ok_or_else(|| PathError::Escapes(shown()))?),
                name if name.len() > LONGEST_NAME => {
                    return Err(spelled(format!("a name has at most {LONGEST_NAME} bytes")));
                }
                name => names.push(name),
            }
        }
        let path = names.join("/");
        if path.len() > LONGEST || names.len() > DEEPEST {
            return Err(spelled(format!("a path has at most {LONGEST} bytes and {DEEPEST} names")));
        }
        Ok(Self(path.into()))
    }

    /// Converts a path that a walk below the root found.
    #[must_use]
    pub fn found(path: &str) -> Self {
        Self(path.into())
    }

    /// Converts a path that was read from a file. Returns `None` if it leads out of the folder of memory files.
    #[must_use]
    pub fn kept(path: &str) -> Option<Self> {
        let is_name =
            |name: &str| !matches!(name, "" | "." | "..") && name.len() <= LONGEST_NAME && !name.contains('\0');
        path.split('/').all(is_name).then(|| Self(path.into()))
    }

    /// Returns the path below the root, which is empty for the root.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the root.
    #[must_use]
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns its names, from the root down.
    pub fn names(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|name| !name.is_empty())
    }

    /// Returns the rest of the path below a folder, or `None` if it is not in that folder.
    #[must_use]
    pub fn below(&self, folder: &Self) -> Option<&str> {
        if folder.is_root() {
            Some(&*self.0).filter(|path| !path.is_empty())
        } else {
            self.0.strip_prefix(&*folder.0)?.strip_prefix('/')
        }
    }

    /// Returns the folders that contain it, the nearest first, without the root.
    pub fn above(&self) -> impl Iterator<Item = Self> {
        let cuts = self.0.match_indices('/').map(|(at, _)| at).collect::<Vec<_>>();
        cuts.into_iter().rev().map(|at| Self(self.0[..at].into()))
    }

    /// Returns the path of an entry below this one.
    #[must_use]
    pub fn join(&self, below: &str) -> Self {
        if self.is_root() { Self(below.into()) } else { Self(format!("{}/{below}", self.0).into()) }
    }

    /// Whether a name in the path is hidden.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.names().any(|name| name.starts_with('.'))
    }

    /// Returns a form that is equal for all spellings that some file systems treat as one name. They differ in case, in
    /// the composition of letters, or in invisible chars.
    #[must_use]
    pub fn folded(&self) -> String {
        let is_seen = |char: &char| !matches!(char, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
        let seen: String = self.0.chars().filter(is_seen).nfkc().collect();
        // Upper case first: some letters have two lower-case forms, and others are equal only in upper case.
        seen.to_uppercase().to_lowercase().nfc().collect()
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_root() { formatter.write_str(ROOT) } else { write!(formatter, "{ROOT}/{}", self.0) }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_are_read_as_they_are_meant_or_refused() {
        let long = format!("/memories/{}", "x".repeat(256));
        let deep = format!("/memories{}", "/x".repeat(17));
        for (text, path) in [
            ("/memories", Some("")),
            ("/memories/", Some("")),
            ("/memories/a.md", Some("a.md")),
            ("/memories//a/./b/", Some("a/b")),
            ("/memories/a/../b", Some("b")),
            ("/memories/ä b/日", Some("ä b/日")),
            ("/memories/...", Some("...")),
            ("", None),
            ("a.md", None),
            ("memories/a", None),
            ("/memoriesx/a", None),
            ("/Memories/a", None),
            ("/MEMORIES", None),
            ("/memories/..", None),
            ("/memories/../memories/a", None),
            ("/memories/a/../../etc/passwd", None),
            ("/memories/%2e%2e/etc", None),
            ("/memories/a%2Fb", None),
            ("/memories/a%5C..", None),
            ("/memories\\..\\a", None),
            ("/memories/..\\..\\a", None),
            ("/memories/a\0b", None),
            ("/memories/a\nb", None),
            ("//memories/a", None),
            (" /memories/a", None),
            (&long, None),
            (&deep, None),
        ] {
            assert_eq!(FilePath::parse(text).ok().as_ref().map(FilePath::as_str), path, "{text:?}");
        }
    }

    #[test]
    fn parts_of_a_path_are_found() {
        let path = FilePath::parse("/memories/a/b/c").unwrap();
        let folder = FilePath::parse("/memories/a").unwrap();
        assert_eq!((path.below(&folder), folder.below(&path), folder.below(&folder)), (Some("b/c"), None, None));
        assert_eq!(path.below(&FilePath::root()), Some("a/b/c"));
        assert_eq!(path.above().map(|above| above.to_string()).collect::<Vec<_>>(), ["/memories/a/b", "/memories/a"]);
        assert_eq!(
            (folder.join("x").to_string(), FilePath::root().join("x").to_string()),
            ("/memories/a/x".into(), "/memories/x".into())
        );
        assert!(FilePath::found("a/.b/c").is_hidden() && !path.is_hidden());
        for (one, other) in
            [("STRASSE/E\u{301}", "straße/\u{e9}"), ("ασ", "ΑΣ"), ("ſ", "s"), ("ﬁ", "FI"), ("a\u{ad}b", "ab")]
        {
            assert_eq!(FilePath::found(one).folded(), FilePath::found(other).folded(), "{one} {other}");
        }
    }

    proptest! {
        #[test]
        fn no_spelling_leads_out(text in "(/memories)?([/.%\\\\a-c2eEfF~\u{301}\u{ff0e}\u{2215}]|\\.\\.){0,24}") {
            if let Ok(path) = FilePath::parse(&text) {
                prop_assert!(path.names().all(|name| !matches!(name, "" | "." | "..")));
                prop_assert!(!path.as_str().starts_with('/') && !path.as_str().contains('\\'));
                prop_assert_eq!(FilePath::parse(&path.to_string()), Ok(path));
            }
        }
    }
}
