//! Finds the Python that runs an agent, starting from the program `hermes`.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The agent's program.
const PROGRAM: &str = "hermes";

/// The bytes of a program that are read. A script names its interpreter near its beginning.
const HEAD: u64 = 8192;

/// The most wrappers that may start each other.
const WRAPPERS: usize = 5;

/// Returns the interpreter of the `hermes` on the search path, or an error with advice.
pub(super) fn find() -> Result<PathBuf, String> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = which(PROGRAM, &folders).ok_or("`hermes` is not on PATH; pass its Python with --python PROGRAM")?;
    of(&found, &folders)
        .ok_or_else(|| format!("{} does not say which Python runs it; name that: --python PROGRAM", found.display()))
}

fn which(name: &str, folders: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Returns the interpreter of a program, through shell wrappers.
fn of(program: &Path, folders: &OsStr) -> Option<PathBuf> {
    let mut program = program.to_owned();
    for _ in 0..WRAPPERS {
        // The program may be a link into the environment. The interpreter's path is not resolved, because it identifies
        // a virtual environment.
        let path = std::fs::canonicalize(&program).ok()?;
        let mut head = Vec::new();
        File::open(&path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
        let next = next(&String::from_utf8_lossy(&head))?;
        let next = if next.contains('/') { PathBuf::from(next) } else { which(&next, folders)? };
        if is_python(&next) {
            return next.is_file().then_some(next);
        }
        program = next;
    }
    None
}

/// Returns the program that runs a script: the interpreter in its first line, or if that is a shell, the program of its
/// `exec`.
fn next(script: &str) -> Option<String> {
    let first = script.lines().next()?.strip_prefix("#!")?.trim();
    let mut words = first.split_whitespace();
    let mut named = words.next()?;
    if named.ends_with("/env") {
        named = words.find(|word| !word.starts_with('-') && !word.contains('='))?;
    }
    if is_python(Path::new(named)) {
        return Some(named.to_owned());
    }
    script.lines().skip(1).find_map(executed)
}

/// Returns the program of a line with `exec`.
fn executed(line: &str) -> Option<String> {
    // Installers write '''exec' if the path is too long for the first line.
    let line = line.trim();
    let rest = line.strip_prefix("exec ").or_else(|| line.strip_prefix("'''exec' "))?;
    let mut words = words(rest).into_iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-a" => drop(words.next()),
            "env" | "/usr/bin/env" => {}
            word if word.starts_with('-') || word.contains('=') => {}
            _ => return Some(word),
        }
    }
    None
}

/// Splits a shell line into words. Only quotes and `$HOME` are interpreted.
fn words(line: &str) -> Vec<String> {
    let home = std::env::var("HOME").unwrap_or_default();
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for char in line.chars() {
        match (char, quote) {
            ('"' | '\'', None) => quote = Some(char),
            (char, Some(open)) if char == open => quote = None,
            (char, None) if char.is_whitespace() => words.push(std::mem::take(&mut word)),
            (char, _) => word.push(char),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words.iter().map(|word| word.replace("${HOME}", &home).replace("$HOME", &home)).collect()
}

fn is_python(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_script_says_who_runs_it() {
        for (script, expected) in [
            ("#!/v/bin/python3\nimport re\n", Some("/v/bin/python3")),
            ("#! /usr/bin/env python3.11 -u\n", Some("python3.11")),
            ("#!/usr/bin/env -S A=b python3\n", Some("python3")),
            ("#!/bin/sh\n'''exec' \"/a b/bin/python\" \"$0\" \"$@\"\n' '''\n", Some("/a b/bin/python")),
            ("#!/usr/bin/env bash\nunset PYTHONPATH\nexec \"/v/bin/hermes\" \"$@\"\n", Some("/v/bin/hermes")),
            ("#!/bin/sh -e\n  exec -a \"$0\" '/n/.hermes-wrapped' \"$@\"\n", Some("/n/.hermes-wrapped")),
            ("#!/bin/sh\nexec env A=1 /v/bin/python -m hermes_cli.main\n", Some("/v/bin/python")),
            ("#!/bin/sh\necho exec\n", None),
            ("\u{7f}ELF", None),
            ("", None),
        ] {
            assert_eq!(next(script).as_deref(), expected, "{script:?}");
        }
    }

    #[test]
    fn links_and_wrappers_lead_to_the_interpreter_of_the_environment() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        #[expect(clippy::disallowed_methods, reason = "a test makes what others install")]
        for name in ["bin", "v/bin"] {
            std::fs::create_dir_all(path(name)).unwrap();
        }
        #[expect(clippy::disallowed_methods, reason = "a test makes what others install")]
        let write = |name: &str, text: String| std::fs::write(path(name), text).unwrap();
        write("real-python", "ELF".into());
        symlink(path("real-python"), path("v/bin/python3")).unwrap();
        write("v/bin/hermes", format!("#!{}\n", path("v/bin/python3").display()));
        write("wrapper", format!("#!/bin/sh\nexec \"{}\" \"$@\"\n", path("v/bin/hermes").display()));
        symlink(path("wrapper"), path("bin/hermes")).unwrap();
        let folders = path("bin").into_os_string();
        let found = which("hermes", &folders).unwrap();
        assert_eq!(of(&found, &folders), Some(path("v/bin/python3")));
        write("wrapper", format!("#!/bin/sh\nexec {} \"$@\"\n", path("wrapper").display()));
        assert_eq!(of(&found, &folders), None);
    }
}
