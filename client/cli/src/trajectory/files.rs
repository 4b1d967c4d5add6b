//! The files to read, and the files for their output.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use herma_base::Failure;
use serde::{Deserialize, Serialize};

/// The extension of the files of a folder.
const ENDING: &str = "jsonl";

/// A file to read, and the file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct File {
    pub(super) input: PathBuf,
    pub(super) output: PathBuf,
    pub(super) stamp: Stamp,
}

/// The properties that identify an unchanged file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    name: String,
    /// The size in bytes.
    pub(super) size: u64,
    modified: (i64, i64),
}

/// All files of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Files {
    pub(super) files: Vec<File>,
    /// The named output: a file or a folder.
    pub(super) output: PathBuf,
    /// Whether the output is a folder.
    pub(super) is_folder: bool,
}

impl Files {
    /// Finds the files of an input. Of a folder these are all `.jsonl` files, sorted by name.
    pub(super) fn find(input: &Path, output: Option<&Path>, suffix: &str) -> Result<Self, Failure> {
        let about = metadata(input)?;
        let output = output.map_or_else(|| beside(input, suffix, about.is_dir()), Path::to_owned);
        let files = if about.is_dir() {
            of_folder(input, &output)?
        } else {
            vec![File { input: input.to_owned(), output: output.clone(), stamp: stamp(input, &about) }]
        };
        let files = Self { files, output, is_folder: about.is_dir() };
        files.apart()?;
        Ok(files)
    }

    /// Refuses an output that is one of the inputs.
    fn apart(&self) -> Result<(), Failure> {
        let places = |path: &Path| std::fs::canonicalize(path).ok();
        for file in &self.files {
            if places(&file.output).is_some_and(|output| places(&file.input) == Some(output)) {
                return Err(Failure::Usage(format!("{} would be read and written", file.input.display())));
            }
        }
        Ok(())
    }

    /// Returns the bytes of all files.
    pub(super) fn size(&self) -> u64 {
        self.files.iter().map(|file| file.stamp.size).sum()
    }

    /// Returns the bytes of the files before a file.
    pub(super) fn size_before(&self, at: usize) -> u64 {
        self.files.iter().take(at).map(|file| file.stamp.size).sum()
    }
}

fn of_folder(input: &Path, output: &Path) -> Result<Vec<File>, Failure> {
    let failed = |error: std::io::Error| Failure::File(format!("{}: {error}", input.display()));
    let mut files = Vec::new();
    for found in std::fs::read_dir(input).map_err(failed)? {
        let path = found.map_err(failed)?.path();
        if path.extension().is_none_or(|ending| ending != ENDING) {
            continue;
        }
        let about = metadata(&path)?;
        if let (true, Some(name)) = (about.is_file(), path.file_name()) {
            files.push(File { output: output.join(name), stamp: stamp(&path, &about), input: path.clone() });
        }
    }
    files.sort_by(|one, other| one.input.cmp(&other.input));
    if files.is_empty() {
        return Err(Failure::File(format!("{}: there is no *.{ENDING} in it", input.display())));
    }
    Ok(files)
}

fn metadata(path: &Path) -> Result<Metadata, Failure> {
    std::fs::metadata(path).map_err(|error| Failure::File(format!("{}: {error}", path.display())))
}

fn stamp(path: &Path, about: &Metadata) -> Stamp {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Stamp { name, size: about.len(), modified: (about.mtime(), about.mtime_nsec()) }
}

/// Returns the input's name with the suffix before its extension.
fn beside(input: &Path, suffix: &str, is_folder: bool) -> PathBuf {
    let input: PathBuf = input.components().collect();
    let whole = input.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let name = match input.extension() {
        Some(ending) if !is_folder => {
            let stem = input.file_stem().unwrap_or_default().to_string_lossy();
            format!("{stem}{suffix}.{}", ending.to_string_lossy())
        }
        _ => format!("{whole}{suffix}"),
    };
    input.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_gets_its_suffix_before_the_ending() {
        for (input, is_folder, expected) in [
            ("a/runs.jsonl", false, "a/runs_short.jsonl"),
            ("runs", false, "runs_short"),
            ("a/runs.d/", true, "a/runs.d_short"),
        ] {
            assert_eq!(beside(Path::new(input), "_short", is_folder), Path::new(expected), "{input}");
        }
    }
}
