//! Finds the files in which programs keep their conversations.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use herma_base::Failure;

use super::document;
use super::record::Stamp;
use super::report::Report;
use super::source::{Format, Source};

/// The most folder levels that are searched.
const DEPTH: usize = 16;

/// The name for standard input.
const INPUT: &str = "-";

/// The files to read.
#[derive(Debug)]
pub(super) struct Files {
    program: &'static Source,
    roots: Vec<PathBuf>,
}

impl Files {
    /// Returns the named file or folder, or else the program's own folders.
    pub(super) fn find(program: &'static Source, named: Option<&Path>, home: &Path) -> Result<Self, Failure> {
        let roots = match named {
            Some(path) if path == Path::new(INPUT) && matches!(program.format, Format::Export) => vec![path.to_owned()],
            Some(path) => vec![std::path::absolute(path).map_err(|error| failed(path, &error))?],
            None => (program.roots)(home)?,
        };
        // Of the folders that a program may have, at least one must exist.
        if !roots.iter().any(|root| root == Path::new(INPUT) || root.exists()) {
            let root = roots.first().map(|root| root.display().to_string()).unwrap_or_default();
            return Err(Failure::File(format!("{root}: there is nothing; say where {} keeps its files", program.name)));
        }
        Ok(Self { program, roots })
    }

    /// Returns whether standard input is read.
    pub(super) fn is_input(&self) -> bool {
        self.roots.iter().any(|root| root == Path::new(INPUT))
    }

    /// Returns the current files by name, each with its stamp. A folder that can't be read is reported as a problem.
    pub(super) fn all(&self, report: &mut Report) -> Result<Vec<(PathBuf, Stamp)>, Failure> {
        let mut found = Vec::new();
        for root in self.roots.iter().filter(|root| self.is_input() || root.exists()) {
            self.look(root, DEPTH, &mut found, report);
        }
        if found.is_empty() && !report.has_problems() {
            let root = self.roots.first().map(|root| root.display().to_string()).unwrap_or_default();
            return Err(Failure::File(format!("{root}: no file of {} is there", self.program.name)));
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(found)
    }

    fn look(&self, path: &Path, depth: usize, found: &mut Vec<(PathBuf, Stamp)>, report: &mut Report) {
        if path == Path::new(INPUT) {
            return found.push((path.to_owned(), Stamp::default()));
        }
        let is_root = self.roots.iter().any(|root| root == path);
        // A link may lead anywhere, even back. Only a named link is followed.
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
        (self.program.has_file)(name) || (self.program.has_documents && document::is_document(path))
    }
}

fn failed(path: &Path, error: &std::io::Error) -> Failure {
    Failure::File(format!("{}: {error}", path.display()))
}
