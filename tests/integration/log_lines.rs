//! Every line of the daemon's log is explained in docs/operations.md.

use std::fs;
use std::path::{Path, PathBuf};

/// The macros that write a line. Levels below `info` are for developers.
const MACROS: [&str; 3] = ["tracing::info!(", "tracing::warn!(", "tracing::error!("];

/// Minimum length of a line's constant part, in chars. A shorter part is not specific enough to search for.
const LEAST: usize = 6;

/// Collects the sources of the daemon and its crates, without tests.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir() && !["tests", "benches"].iter().any(|skipped| name == *skipped) {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests.rs" {
            found.push(path);
        }
    }
}

/// Returns the longest constant part of a macro call's text, which is in every line it writes. Returns `None` if all
/// constant parts are too short.
fn words(call: &str) -> Option<String> {
    let (_, text) = call.split_once('"')?;
    let (text, _) = text.split_once('"')?;
    let parts = text.split('{').enumerate().map(|(at, part)| match at {
        0 => part,
        _ => part.split_once('}').map_or("", |(_, rest)| rest),
    });
    let longest = parts.map(|part| part.trim_matches([' ', ':', ';'])).max_by_key(|part| part.len())?;
    (longest.len() >= LEAST).then(|| longest.to_owned())
}

#[test]
fn every_line_of_the_log_is_explained() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let page = fs::read_to_string(root.join("docs/operations.md")).unwrap();
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut files = Vec::new();
    sources(&root.join("daemon"), &mut files);
    let (mut count, mut missing) = (0, Vec::new());
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        for call in MACROS.iter().flat_map(|name| text.split(name).skip(1)) {
            let Some(words) = words(call) else { continue };
            count += 1;
            if !page.contains(&words) {
                missing.push(format!("{}: {words:?}", path.display()));
            }
        }
    }
    assert!(count > 40, "only {count} lines were found in the sources");
    assert!(missing.is_empty(), "docs/operations.md does not explain\n{}", missing.join("\n"));
}
