//! The secrets that a scrub found, and the search for them in files.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use aho_corasick::AhoCorasick;

/// The bytes of the shortest secret that is searched for. A shorter one occurs by chance.
const SHORTEST: usize = 8;

/// The first bytes of a secret that are searched for.
const LONGEST: usize = 200;

/// The most secrets that are searched for.
const MOST: usize = 20_000;

/// Bytes that are read at once.
const BLOCK: usize = 1 << 20;

/// The secrets that a run found.
#[derive(Debug, Clone, Default)]
pub(crate) struct FoundSecrets(HashSet<Box<[u8]>>);

impl FoundSecrets {
    /// Adds a secret, as a text has it and as JSON has it.
    pub(super) fn add(&mut self, secret: &str) {
        let json = serde_json::to_string(secret).unwrap_or_default();
        for form in [secret.as_bytes(), json.get(1..json.len().saturating_sub(1)).unwrap_or_default().as_bytes()] {
            if form.len() >= SHORTEST && self.0.len() < MOST {
                self.0.insert(form[..form.len().min(LONGEST)].into());
            }
        }
    }
}

/// Returns the files in these folders that have a secret, each with a note. `home` is left out of their names.
pub(super) fn files_with(found: &FoundSecrets, folders: &[PathBuf], home: &Path) -> Vec<(String, String)> {
    let Ok(secrets) = AhoCorasick::new(&found.0) else {
        return vec![("the files".into(), "there are too many secrets to search for".into())];
    };
    let mut files = Vec::new();
    let mut waiting: Vec<PathBuf> = folders.to_vec();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files.dedup();
    let has = |path: &PathBuf| -> Option<String> {
        match has_any(&secrets, path) {
            Ok(true) => Some("it still has one of the secrets".into()),
            Ok(false) => None,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(format!("it can't be read: {error}")),
        }
    };
    let named = |path: &Path| path.strip_prefix(home).unwrap_or(path).display().to_string();
    let mut left: Vec<(String, String)> = files.iter().filter_map(|path| Some((named(path), has(path)?))).collect();
    if found.0.len() >= MOST {
        left.push(("the files".into(), format!("only {MOST} of the secrets were searched for; scrub again")));
    }
    left
}

fn has_any(secrets: &AhoCorasick, path: &Path) -> std::io::Result<bool> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; BLOCK + LONGEST];
    let mut held = 0;
    loop {
        let read = file.read(&mut buffer[held..])?;
        if read == 0 {
            return Ok(false);
        }
        let filled = held + read;
        if secrets.is_match(&buffer[..filled]) {
            return Ok(true);
        }
        // A secret may go over the edge of a block.
        held = filled.min(LONGEST);
        buffer.copy_within(filled - held..filled, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_found_in_either_form_and_over_the_edge_of_a_block() {
        let folder = tempfile::tempdir().unwrap();
        let mut found = FoundSecrets::default();
        found.add("short");
        found.add("a \"quoted\"\nsecret");
        let temporary = herma_disk::file::Temporary { prefix: ".t", suffix: ".tmp" };
        let write = |name: &str, text: &str| {
            let _ = herma_disk::file::replace(&folder.path().join(name), text.as_bytes(), temporary).unwrap();
        };
        write("clean", "short, and nothing else");
        write("plain", "it is a \"quoted\"\nsecret");
        write("json", r#"{"it": "is a \"quoted\"\nsecret"}"#);
        write("edge", &format!("{}a \"quoted\"\nsecret", "x".repeat(BLOCK + LONGEST - 5)));
        let left = files_with(&found, &[folder.path().to_owned()], folder.path());
        assert_eq!(left.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["edge", "json", "plain"]);
    }
}
