//! The plugin and the Python package, as of the build of this program.

use sha2::{Digest, Sha256};

/// The files of the package `herma`, by their path in it.
const PACKAGE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/package.rs"));

/// The folder of the plugin's own files in the package.
const PLUGIN: &str = "hermes/plugin/";

/// The version of the files.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The file that makes a folder a plugin for the agent.
pub(super) const MANIFEST: &str = "plugin.yaml";

/// A file of the plugin folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    /// The file's path in the folder, with `/` between the parts.
    pub(super) path: String,
    pub(super) data: &'static [u8],
}

/// Returns all files: the plugin's own, and the package in `lib/herma`.
pub(super) fn files() -> Vec<File> {
    let own = PACKAGE.iter().filter_map(|(path, data)| Some((path.strip_prefix(PLUGIN)?.to_owned(), data)));
    let library = PACKAGE.iter().map(|(path, data)| (format!("lib/herma/{path}"), data));
    own.chain(library).map(|(path, data)| File { path, data }).collect()
}

/// Returns the hash of a file's bytes, in hex.
pub(super) fn sha256(data: &[u8]) -> String {
    base16ct::lower::encode_string(&Sha256::digest(data))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_the_plugin_imports_is_there() {
        let files = files();
        for path in [
            "plugin.yaml",
            "__init__.py",
            "lib/herma/__init__.py",
            "lib/herma/py.typed",
            "lib/herma/hermes/memory_schema.json",
            "lib/herma/hermes/plugin/plugin.yaml",
            "lib/herma/blocking/methods/memory.py",
        ] {
            assert!(files.iter().any(|file| file.path == path), "{path}");
        }
        assert!(files.iter().all(|file| !file.path.contains("__pycache__")));
    }

    #[test]
    fn a_hash_is_the_one_of_other_programs() {
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
