#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

const LIMIT: u64 = 100;

fn tree(folder: &tempfile::TempDir) -> Tree {
    Tree::new(folder.path().join("files"))
}

fn change(tree: &Tree, changes: &[(&str, Option<&str>)]) -> Result<Vec<Stamp>, DiskError> {
    change_with(tree, changes, &[])
}

/// Changes files with their current stamps, and removes folders.
fn change_with<'a>(
    tree: &Tree,
    changes: &[(&'a str, Option<&'a str>)],
    gone: &[&str],
) -> Result<Vec<Stamp>, DiskError> {
    let change = |(path, text): &(&'a str, Option<&'a str>)| {
        Ok(Change { path, content: text.map(str::as_bytes), expected: stamp(tree, path) })
    };
    let changes = changes.iter().map(change).collect::<Result<Vec<_>, DiskError>>()?;
    let staged = tree.stage(&changes, gone)?;
    staged.sync()?;
    staged.commit()
}

fn stamp(tree: &Tree, path: &str) -> Option<Stamp> {
    tree.read(path, LIMIT).ok().flatten().map(|(_, stamp)| stamp)
}

fn text(tree: &Tree, path: &str) -> Option<String> {
    tree.read(path, LIMIT).unwrap().map(|(bytes, _)| String::from_utf8(bytes).unwrap())
}

/// Returns the paths, with `/` after folders, `?` after anything that is neither file nor folder,
/// and `.` after hidden ones.
fn paths(tree: &Tree) -> Vec<String> {
    let shown = |entry: Entry| match entry.kind {
        Kind::File(_) => entry.path,
        Kind::Folder(_) => format!("{}/", entry.path),
        Kind::Other | Kind::Closed => format!("{}?", entry.path),
        Kind::Hidden => format!("{}.", entry.path),
    };
    tree.walk(100).unwrap().entries.into_iter().map(shown).collect()
}

#[test]
fn files_are_written_together_and_found_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    assert!(paths(&tree).is_empty() && text(&tree, "a/b").is_none());
    let stamps = change(&tree, &[("a/b/c", Some("one")), ("a.md", Some("two")), ("nothing/there", None)]).unwrap();
    assert_eq!(stamps, [stamp(&tree, "a/b/c").unwrap(), stamp(&tree, "a.md").unwrap()]);
    assert_eq!(paths(&tree), ["a/", "a/b/", "a/b/c", "a.md"]);
    let mode = |path: &str| fs::metadata(tree.root().join(path)).unwrap().mode() & 0o777;
    assert_eq!((mode(""), mode("a"), mode("a.md")), (0o700, 0o700, 0o600));
    fs::set_permissions(tree.root().join("a.md"), fs::Permissions::from_mode(0o644)).unwrap();
    change(&tree, &[("a.md", Some("three")), ("a/b/c", None)]).unwrap();
    assert_eq!((text(&tree, "a.md").unwrap().as_str(), text(&tree, "a/b/c")), ("three", None));
    assert_eq!(mode("a.md"), 0o644);
    assert!(tree.remove_empty("a/b").unwrap() && !tree.remove_empty("a/b").unwrap());
    assert!(!tree.remove_empty("").unwrap_or(false));
    // No temporary files are left.
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
    // An unexpected object stays.
    let placed = tree.stage(&[Change { path: "file", content: Some(b"own"), expected: None }], &[]).unwrap().commit();
    assert!(placed.unwrap_err().is_changed());
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "s");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read_dir(tree.root()).unwrap().count(), 2);
    // The root must not be a link either.
    let linked = Tree::new(folder.path().join("root"));
    symlink(&outside, linked.root()).unwrap();
    assert!(linked.read("secret", LIMIT).is_err());
}

#[test]
fn all_changes_are_done_or_none() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    change(&tree, &[("a", Some("a")), ("b", Some("b")), ("d/e", Some("e"))]).unwrap();
    // The last change fails when it is put in place, because a folder is there.
    let refused = change(&tree, &[("a", None), ("b", Some("new")), ("c", Some("new")), ("d", Some("no folder"))]);
    assert!(refused.is_err());
    assert_eq!(paths(&tree), ["a", "b", "d/", "d/e"]);
    assert_eq!((text(&tree, "a").unwrap(), text(&tree, "b").unwrap()), ("a".into(), "b".into()));
    assert_eq!(fs::read_dir(tree.root()).unwrap().count(), 3);
    // Staged changes that were dropped leave nothing.
    drop(tree.stage(&[Change { path: "x", content: Some(b"x"), expected: None }], &[]).unwrap());
    assert_eq!(fs::read_dir(tree.root()).unwrap().count(), 3);
}

#[test]
fn files_become_folders_and_folders_files() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    change(&tree, &[("a", Some("file")), ("d/e/f", Some("below")), ("d/g", Some("below"))]).unwrap();
    change_with(
        &tree,
        &[("a", None), ("a/b", Some("1")), ("d/e/f", None), ("d/g", None), ("d", Some("2"))],
        &["d/e", "d"],
    )
    .unwrap();
    assert_eq!(paths(&tree), ["a/", "a/b", "d"]);
    // If that fails everything is restored, including folders.
    let back = [
        ("a/b", None),
        ("a", Some("file")),
        ("d", None),
        ("d/e/f", Some("x")),
        ("n/o", Some("y")),
        ("a/c/d", Some("z")),
    ];
    assert!(change_with(&tree, &back, &["a"]).is_err());
    assert_eq!(paths(&tree), ["a/", "a/b", "d"]);
    assert_eq!((text(&tree, "a/b").unwrap().as_str(), text(&tree, "d").unwrap().as_str()), ("1", "2"));
    assert_eq!(fs::read_dir(tree.root()).unwrap().count(), 2);
}

#[test]
fn what_another_program_wrote_meanwhile_stays() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    change(&tree, &[("a", Some("one")), ("b", Some("one"))]).unwrap();
    let expected = |path: &str| stamp(&tree, path);
    let (a, b) = (expected("a"), expected("b"));
    for (path, is_gone) in [("a", false), ("b", true), ("c", false)] {
        let other = tree.root().join(".other");
        fs::write(&other, "theirs").unwrap();
        let changes = [
            Change { path: "a", content: Some(b"two"), expected: if path == "a" { a } else { expected("a") } },
            Change {
                path: "b",
                content: (!is_gone).then_some(b"two"),
                expected: if path == "b" { b } else { expected("b") },
            },
            Change { path: "c", content: Some(b"new"), expected: None },
        ];
        let staged = tree.stage(&changes, &[]).unwrap();
        fs::rename(&other, tree.root().join(path)).unwrap();
        assert!(staged.commit().unwrap_err().is_changed(), "{path}");
        assert_eq!(text(&tree, path).as_deref(), Some("theirs"));
        assert_eq!(text(&tree, "c").is_some(), path == "c");
    }
    assert_eq!(paths(&tree), ["a", "b", "c"]);
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
    assert_eq!(tree.read("long/x", LIMIT).unwrap(), None);
    fs::write(tree.root().join(".hidden"), "x").unwrap();
    fs::write(tree.root().join(".mem_1_1.tmp"), "x").unwrap();
    assert_eq!(paths(&tree), [".hidden.", "a/", "a/b", "long"]);
    assert!(tree.walk(2).unwrap_err().to_string().contains("more files and folders"));
    let aged = File::options().write(true).open(tree.root().join(".mem_1_1.tmp")).unwrap();
    aged.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(90)).unwrap();
    assert_eq!(paths(&tree).len(), 4);
    assert!(!tree.root().join(".mem_1_1.tmp").exists() && tree.root().join(".hidden").exists());
}

#[test]
fn no_name_leads_out() {
    let folder = tempfile::tempdir().unwrap();
    let tree = tree(&folder);
    tree.create().unwrap();
    fs::write(folder.path().join("outside"), "kept").unwrap();
    for path in ["../outside", "a/../../outside", "./../outside"] {
        assert!(tree.read(path, LIMIT).is_err() || tree.read(path, LIMIT).unwrap().is_none(), "{path}");
        assert!(change(&tree, &[(path, Some("changed"))]).is_err(), "{path}");
        assert!(change(&tree, &[(path, None)]).is_err() || folder.path().join("outside").exists(), "{path}");
    }
    assert!(tree.make_folder("../made").is_err());
    assert!(!tree.remove_empty("..").unwrap_or(false));
    assert_eq!(fs::read_to_string(folder.path().join("outside")).unwrap(), "kept");
    assert!(!folder.path().join("made").exists());
}
