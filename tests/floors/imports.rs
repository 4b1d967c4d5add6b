//! Reads which modules of a crate import which: the `crate::…`, `super::…` and `self::…` paths in the sources, without
//! tests and comments.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A module's path without `crate`, and the paths that it imports.
pub(crate) type Imports = BTreeMap<Vec<String>, BTreeSet<Vec<String>>>;

/// Finds an import cycle among the children of a module. Each child includes its whole subtree.
pub(crate) fn find_cycle(parent: &[String], imports: &Imports) -> Option<Vec<String>> {
    let child = |path: &[String]| path.strip_prefix(parent).and_then(|rest| rest.first()).cloned();
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (module, imported) in imports {
        let Some(from) = child(module) else { continue };
        let targets = imported.iter().filter_map(|import| child(import)).filter(|to| *to != from);
        graph.entry(from.clone()).or_default().extend(targets);
    }
    let mut done = BTreeSet::new();
    let mut way = Vec::new();
    graph.keys().find_map(|start| walk(start, &graph, &mut done, &mut way))
}

fn walk(
    at: &str,
    graph: &BTreeMap<String, BTreeSet<String>>,
    done: &mut BTreeSet<String>,
    way: &mut Vec<String>,
) -> Option<Vec<String>> {
    if let Some(from) = way.iter().position(|seen| seen == at) {
        let mut circle = way[from..].to_vec();
        circle.push(at.to_owned());
        return Some(circle);
    }
    if !done.insert(at.to_owned()) {
        return None;
    }
    way.push(at.to_owned());
    let found = graph.get(at)?.iter().find_map(|next| walk(next, graph, done, way));
    way.pop();
    found
}

/// Returns the modules of a source folder, each with the modules of the folder that it imports.
pub(crate) fn imports(room: &Path) -> Imports {
    let modules = modules(room);
    let known: BTreeSet<&Vec<String>> = modules.keys().collect();
    let mut all = Imports::new();
    for (module, file) in &modules {
        let found = paths(&code_of(file), module);
        let to_modules = found.into_iter().filter_map(|path| module_of(path, &known)).filter(|path| path != module);
        all.insert(module.clone(), to_modules.collect());
    }
    all
}

/// Returns the longest prefix of a path that is a module.
fn module_of(mut path: Vec<String>, known: &BTreeSet<&Vec<String>>) -> Option<Vec<String>> {
    while !path.is_empty() {
        if known.contains(&path) {
            return Some(path);
        }
        path.pop();
    }
    None
}

/// Returns the modules of a source folder and their files, without tests and programs.
pub(crate) fn modules(room: &Path) -> BTreeMap<Vec<String>, PathBuf> {
    let mut modules = BTreeMap::new();
    let mut folders = vec![room.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let (path, name) = (entry.path(), entry.file_name().into_string().unwrap());
            if path.is_dir() {
                if name != "bin" && name != "tests" {
                    folders.push(path);
                }
            } else if let Some(stem) = name.strip_suffix(".rs").filter(|stem| !["tests", "testing"].contains(stem)) {
                let inside = path.strip_prefix(room).unwrap().parent().unwrap();
                let mut module: Vec<String> =
                    inside.components().map(|part| part.as_os_str().to_str().unwrap().to_owned()).collect();
                if stem != "lib" && stem != "main" {
                    module.push(stem.to_owned());
                }
                modules.insert(module, path);
            }
        }
    }
    modules
}

/// Returns the text of a file without its tests and comments.
pub(crate) fn code_of(file: &Path) -> String {
    let text = fs::read_to_string(file).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Returns the full paths that begin in this crate. A list in braces gives one path for each item.
fn paths(text: &str, module: &[String]) -> BTreeSet<Vec<String>> {
    let mut found = BTreeSet::new();
    for (start, base) in [("crate::", 0), ("self::", module.len()), ("super::", module.len().saturating_sub(1))] {
        for (at, _) in text.match_indices(start) {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|char| char.is_alphanumeric() || char == '_' || char == ':') {
                continue;
            }
            let (mut rest, mut base) = (&text[at + start.len()..], base);
            while let Some(further) = rest.strip_prefix("super::") {
                (rest, base) = (further, base.saturating_sub(1));
            }
            expand(module[..base.min(module.len())].to_vec(), rest, &mut found);
        }
    }
    found
}

/// Adds the paths that continue a prefix in a text.
fn expand(mut prefix: Vec<String>, text: &str, found: &mut BTreeSet<Vec<String>>) {
    if let Some(list) = text.strip_prefix('{') {
        let (mut depth, mut from) = (0_usize, 0);
        for (at, char) in list.char_indices() {
            match char {
                '{' => depth += 1,
                '}' if depth == 0 => return expand(prefix, list[from..at].trim(), found),
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    expand(prefix.clone(), list[from..at].trim(), found);
                    from = at + 1;
                }
                _ => {}
            }
        }
        return;
    }
    let name: String = text.chars().take_while(|char| char.is_alphanumeric() || *char == '_').collect();
    if name.is_empty() || name == "self" {
        found.insert(prefix);
        return;
    }
    prefix.push(name.clone());
    match text[name.len()..].strip_prefix("::") {
        Some(rest) => expand(prefix, rest, found),
        None => drop(found.insert(prefix)),
    }
}

#[test]
fn paths_are_read_as_the_compiler_does() {
    let module = ["service".to_owned(), "sessions".to_owned()];
    let text = "use crate::data::{error::{Error, Outcome}, names};\nuse super::session::Session;\nuse self::windows;\n\
                pub(in crate::wire) fn x() { crate::owners::events::Events::default(); }";
    let found: Vec<String> = paths(text, &module).into_iter().map(|path| path.join("::")).collect();
    assert_eq!(
        found,
        [
            "data::error::Error",
            "data::error::Outcome",
            "data::names",
            "owners::events::Events::default",
            "service::session::Session",
            "service::sessions::windows",
            "wire",
        ]
    );
}

#[test]
fn a_circle_between_subtrees_is_found_and_one_between_parent_and_child_is_none() {
    let path = |text: &str| -> Vec<String> { text.split("::").map(str::to_owned).collect() };
    let graph = |edges: &[(&str, &str)]| -> Imports {
        let mut imports = Imports::new();
        for (from, to) in edges {
            imports.entry(path(to)).or_default();
            imports.entry(path(from)).or_default().insert(path(to));
        }
        imports
    };
    let harmless = graph(&[("a", "a::b"), ("a::b", "a"), ("a::b", "c"), ("a::d", "c::e")]);
    assert_eq!(find_cycle(&[], &harmless), None);
    let circle = graph(&[("a::b", "c"), ("c::e", "a::d")]);
    assert_eq!(find_cycle(&[], &circle), Some(vec!["a".to_owned(), "c".to_owned(), "a".to_owned()]));
}
