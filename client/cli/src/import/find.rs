//! Where programs keep their conversations.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use herma_base::Failure;

use super::Program;
use super::record::Stamp;
use super::report::Report;

/// How deep folders are looked through.
const DEPTH: usize = 16;

/// Standard input.
const INPUT: &str = "-";

/// What is read.
#[derive(Debug)]
pub(super) struct Files {
    program: Program,
    roots: Vec<PathBuf>,
}

impl Files {
    /// What was named, or where the program keeps them.
    pub(super) fn find(program: Program, named: Option<&Path>, home: &Path) -> Result<Self, Failure> {
        let roots = match (named, program) {
            (Some(path), Program::Chatgpt) if path == Path::new(INPUT) => vec![path.to_owned()],
            (Some(path), _) => vec![std::path::absolute(path).map_err(|error| failed(path, &error))?],
            (None, Program::ClaudeCode) => vec![folder("CLAUDE_CONFIG_DIR", ".claude")?.join("projects")],
            (None, Program::Codex) => {
                let folder = folder("CODEX_HOME", ".codex")?;
                vec![folder.join("sessions"), folder.join("archived_sessions")]
            }
            (None, Program::Hermes) => vec![home.join("state.db")],
            (None, Program::Chatgpt) => {
                let words =
                    "say where the export is: its conversations.json, a folder with it, or - for standard input";
                return Err(Failure::Usage(words.into()));
            }
        };
        // Of the folders that a program may have, one is enough.
        if !roots.iter().any(|root| root == Path::new(INPUT) || root.exists()) {
            let root = roots.first().map(|root| root.display().to_string()).unwrap_or_default();
            return Err(Failure::File(format!(
                "{root}: there is nothing; say where {} keeps its files",
                program.name()
            )));
        }
        Ok(Self { program, roots })
    }

    /// Whether standard input is read.
    pub(super) fn is_input(&self) -> bool {
        self.roots.iter().any(|root| root == Path::new(INPUT))
    }

    /// The files that are there now, by name, each as it looks. A folder that can't be read is a problem.
    pub(super) fn all(&self, report: &mut Report) -> Result<Vec<(PathBuf, Stamp)>, Failure> {
        let mut found = Vec::new();
        for root in self.roots.iter().filter(|root| self.is_input() || root.exists()) {
            self.look(root, DEPTH, &mut found, report);
        }
        if found.is_empty() && !report.has_problems() {
            let root = self.roots.first().map(|root| root.display().to_string()).unwrap_or_default();
            return Err(Failure::File(format!("{root}: no file of {} is there", self.program.name())));
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(found)
    }

    fn look(&self, path: &Path, depth: usize, found: &mut Vec<(PathBuf, Stamp)>, report: &mut Report) {
        if path == Path::new(INPUT) {
            return found.push((path.to_owned(), Stamp::default()));
        }
        let is_root = self.roots.iter().any(|root| root == path);
        // A link may lead anywhere, also back; one that was named is meant.
        let looked = if is_root { std::fs::metadata(path) } else { std::fs::symlink_metadata(path) };
        match looked {
            Err(error) => report.problem(format!("{}: {error}", path.display())),
            Ok(metadata) if metadata.is_file() && (is_root || self.is_wanted(path)) => {
                found.push((path.to_owned(), Stamp::of(&metadata)));
            }
            Ok(metadata) if metadata.is_dir() && depth > 0 => match std::fs::read_dir(path) {
                Err(error) => report.problem(format!("{}: {error}", path.display())),
                Ok(entries) => {
                    entries.flatten().for_each(|entry| self.look(&entry.path(), depth - 1, found, report));
                }
            },
            Ok(_) => {}
        }
    }

    fn is_wanted(&self, path: &Path) -> bool {
        let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        match self.program {
            Program::ClaudeCode | Program::Codex => name.ends_with(".jsonl"),
            Program::Hermes => name == "state.db",
            Program::Chatgpt => name.starts_with("conversations") && name.ends_with(".json"),
        }
    }
}

/// The folder that a variable names, or that one of the user's home.
fn folder(variable: &str, name: &str) -> Result<PathBuf, Failure> {
    let of = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    of(variable)
        .or_else(|| of("HOME").map(|home| home.join(name)))
        .ok_or_else(|| Failure::Usage("say which folder; there is no HOME".into()))
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::File(format!("{}: {error}", path.display()))
}
