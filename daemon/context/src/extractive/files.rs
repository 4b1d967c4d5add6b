//! Paths that occur in turns.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;

use crate::pattern::Pattern;
use crate::text::longer_than;

/// Keys of arguments whose values are paths.
const PATH_KEYS: [&str; 4] = ["path", "workdir", "file_path", "output_path"];
/// The most chars of a path.
const MAX_PATH_CHARS: usize = 260;
/// Bytes of one text that are searched for paths.
const LOOK_BYTES: usize = 20_000;

static PATH: LazyLock<Pattern> = LazyLock::new(|| {
    crate::pattern(r#"(?:^|[\s"'`(=\[<,])((?:~?/|[A-Za-z]:\\)[^\s"'`<>|()\[\]{},;]*\w[^\s"'`<>|()\[\]{},;]*)"#)
});

/// Unique paths in the order found, up to a number.
pub(super) struct Paths {
    seen: HashSet<String>,
    pub(super) found: Vec<String>,
    limit: usize,
}

impl Paths {
    pub(super) fn new(limit: usize) -> Self {
        Self { seen: HashSet::new(), found: Vec::new(), limit }
    }

    /// Whether the limit is reached.
    pub(super) fn full(&self) -> bool {
        self.found.len() >= self.limit
    }

    fn add(&mut self, path: &str) {
        let path = path.trim().trim_end_matches(['.', ',', ':', ';']);
        let usable = !path.is_empty() && !longer_than(path, MAX_PATH_CHARS) && !path.contains('\n');
        if usable && !self.full() && self.seen.insert(path.to_owned()) {
            self.found.push(path.to_owned());
        }
    }

    /// Adds paths in the arguments of a call: by key at any depth, and by form.
    pub(super) fn in_arguments(&mut self, arguments: &str) {
        if self.full() {
            return;
        }
        if let Ok(value) = serde_json::from_str(arguments) {
            self.in_value(&value);
        } else {
            self.in_text(arguments);
        }
    }

    /// Adds paths in a value; serde_json's own limit bounds the depth.
    fn in_value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.in_text(text),
            Value::Array(items) => items.iter().for_each(|item| self.in_value(item)),
            Value::Object(map) => {
                for (key, value) in map {
                    match value {
                        Value::String(path) if PATH_KEYS.contains(&key.as_str()) => self.add(path),
                        _ => self.in_value(value),
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds paths by their form.
    pub(super) fn in_text(&mut self, text: &str) {
        if self.full() || memchr::memchr2(b'/', b'\\', text.as_bytes()).is_none() {
            return;
        }
        let end = text.floor_char_boundary(LOOK_BYTES);
        for found in PATH.captures_iter(text.get(..end).unwrap_or(text)) {
            if let Some(path) = found.get(1) {
                self.add(path.as_str());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_by_key_and_by_looks() {
        let mut paths = Paths::new(12);
        paths.in_arguments(r#"{"a":{"path":"src/lib.rs"},"cmd":"cat /etc/hosts ~/x.txt","list":[{"workdir":"/srv"}]}"#);
        paths.in_text(r"see C:\temp\a.log, and/or https://example.org/x (/usr/bin/env). Also /a/b: and / alone");
        assert_eq!(
            paths.found,
            ["src/lib.rs", "/etc/hosts", "~/x.txt", "/srv", r"C:\temp\a.log", "/usr/bin/env", "/a/b"]
        );
    }
}
