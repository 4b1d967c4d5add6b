#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

const LIMIT: u64 = 100;

fn tree(folder: &tempfile::TempDir) -> Tree {
    Tree::new(folder.path().join("files"))
}

fn change(tree: &Tree, changes: &[(&str, Option<&str>)]) -> Result<Vec<Stamp>, DiskError> {
    let changes: Vec<Change<'_>> =
        changes.iter().map(|(path, text)| Change { path, content: text.map(str::as_bytes) }).collect();
    let staged = tree.stage(&changes)?;
    staged.sync()?;
    staged.put_in_place()
}

fn text(tree: &Tree, path: &str) -> Option<String> {
    tree.read(path, LIMIT).unwrap().map(|(bytes, _)| String::from_utf8(bytes).unwrap())
}

/// The paths, with a `/` behind folders and a `?` behind what is neither.
fn paths(tree: &Tree) -> Vec<String> {
    let shown = |entry: Entry| match entry.kind {
        Kind::File(_) => entry.path,
        Kind::Folder(_) => format!("{}/", entry.path),
        Kind::Other => format!("{}?", entry.path),
    };
    tree.walk(100).unwrap().entries.into_iter().map(shown).collect()
}

#[test]
fn files_are_written_together_and_found_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    assert!(paths(&tree).is_empty() && text(&tree, "a/b").is_none());
    let stamps = change(&tree, &[("a/b/c", Some("one")), ("a.md", Some("two")), ("nothing/there", None)]).unwrap();
    assert_eq!(stamps, [tree.stamp("a/b/c").unwrap().unwrap(), tree.stamp("a.md").unwrap().unwrap()]);
    assert_eq!(paths(&tree), ["a/", "a/b/", "a/b/c", "a.md"]);
    let mode = |path: &str| fs::metadata(tree.root().join(path)).unwrap().mode() & 0o777;
    assert_eq!((mode(""), mode("a"), mode("a.md")), (0o700, 0o700, 0o600));
    fs::set_permissions(tree.root().join("a.md"), fs::Permissions::from_mode(0o644)).unwrap();
    change(&tree, &[("a.md", Some("three")), ("a/b/c", None)]).unwrap();
    assert_eq!((text(&tree, "a.md").unwrap().as_str(), text(&tree, "a/b/c")), ("three", None));
    assert_eq!(mode("a.md"), 0o644);
    assert!(tree.remove_empty("a/b").unwrap() && !tree.remove_empty("a/b").unwrap());
    assert!(!tree.remove_empty("").unwrap_or(false));
    // Nothing of what was written beside them is left.
    assert_eq!(fs::read_dir(tree.root()).unwrap().count(), 2);
}

#[test]
fn nothing_is_reached_through_a_link() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    tree.create().unwrap();
    let outside = folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "s").unwrap();
    symlink(&outside, tree.root().join("link")).unwrap();
    symlink(outside.join("secret"), tree.root().join("file")).unwrap();
    assert_eq!(paths(&tree), ["file?", "link?"]);
    for path in ["link/secret", "file"] {
        let error = tree.read(path, LIMIT).unwrap_err();
        assert!(error.to_string().contains("link"), "{error}");
    }
    assert!(change(&tree, &[("link/new", Some("x"))]).is_err());
    assert!(change(&tree, &[("link/secret", None)]).is_err());
    assert!(tree.sync("link/secret").is_err());
    // A link that is replaced is replaced itself, and one that is removed too.
    change(&tree, &[("file", Some("own"))]).unwrap();
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "s");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    // The root is none either.
    let linked = Tree::new(folder.path().join("root"));
    symlink(&outside, linked.root()).unwrap();
    assert!(linked.read("secret", LIMIT).is_err());
}

#[test]
fn all_changes_are_done_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    change(&tree, &[("a", Some("a")), ("b", Some("b")), ("d/e", Some("e"))]).unwrap();
    // The last one fails when it is put in its place: a folder is there.
    let refused = change(&tree, &[("a", None), ("b", Some("new")), ("c", Some("new")), ("d", Some("no folder"))]);
    assert!(refused.is_err());
    assert_eq!(paths(&tree), ["a", "b", "d/", "d/e"]);
    assert_eq!((text(&tree, "a").unwrap(), text(&tree, "b").unwrap()), ("a".into(), "b".into()));
    assert_eq!(fs::read_dir(tree.root()).unwrap().count(), 3);
    // What was staged and given up leaves nothing behind.
    drop(tree.stage(&[Change { path: "x", content: Some(b"x") }]).unwrap());
    assert_eq!(fs::read_dir(tree.root()).unwrap().count(), 3);
}

#[test]
fn what_is_no_text_too_long_or_too_much_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    let long = "x".repeat(101);
    change(&tree, &[("long", Some(&long)), ("a/b", Some(""))]).unwrap();
    assert!(tree.read("long", LIMIT).unwrap_err().to_string().contains("longer than 100 bytes"));
    assert!(tree.read("a", LIMIT).unwrap_err().to_string().contains("not a regular file"));
    assert!(tree.read("long/x", LIMIT).unwrap_err().to_string().contains("no folder"));
    fs::write(tree.root().join(".hidden"), "x").unwrap();
    fs::write(tree.root().join(".mem_1_1.tmp"), "x").unwrap();
    assert_eq!(paths(&tree).len(), 3);
    assert!(tree.walk(2).unwrap_err().to_string().contains("more files and folders"));
    let aged = File::options().write(true).open(tree.root().join(".mem_1_1.tmp")).unwrap();
    aged.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(90)).unwrap();
    assert_eq!(paths(&tree).len(), 3);
    assert!(!tree.root().join(".mem_1_1.tmp").exists() && tree.root().join(".hidden").exists());
}
