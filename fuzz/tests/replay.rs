//! Runs every seed and every input of the packed corpus. A finding of the fuzzer becomes a seed, and so a test.
#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::collections::BTreeSet;
use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use herma_fuzz::{Run, TARGETS};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn every_seed_and_the_packed_corpus_hold() {
    let unpacked = tempfile::tempdir().unwrap();
    let packed = Path::new(ROOT).join("corpus.tar.gz");
    let status = Command::new("tar").arg("-xzf").arg(packed).arg("-C").arg(unpacked.path()).status().unwrap();
    assert!(status.success(), "tar can't unpack corpus.tar.gz");
    let inputs: Vec<(&str, Run, Vec<PathBuf>)> = TARGETS
        .iter()
        .map(|(name, run)| {
            let seeds = files(&Path::new(ROOT).join("seeds").join(name));
            assert!(!seeds.is_empty(), "{name} has no seed");
            (*name, *run, [seeds, files(&unpacked.path().join(name))].concat())
        })
        .collect();
    let failed = Mutex::new(Vec::new());
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((name, run, paths)) = inputs.get(next.fetch_add(1, Ordering::Relaxed)) {
            for path in paths {
                let data = fs::read(path).unwrap();
                if catch_unwind(|| run(&data)).is_err() {
                    failed.lock().unwrap().push(format!("{name}: {}", String::from_utf8_lossy(&data).escape_debug()));
                }
            }
        }
    };
    thread::scope(|scope| (0..thread::available_parallelism().unwrap().get()).for_each(|_| drop(scope.spawn(work))));
    let failed = failed.into_inner().unwrap();
    assert!(failed.is_empty(), "{} inputs don't hold:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn every_target_has_a_program_and_a_folder_of_seeds() {
    let names: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    let manifest = fs::read_to_string(Path::new(ROOT).join("Cargo.toml")).unwrap();
    let programs = manifest.lines().filter_map(|line| line.strip_prefix("name = \"fuzz-")?.strip_suffix('"'));
    assert_eq!(programs.map(str::to_owned).collect::<BTreeSet<_>>(), names);
    let seeds = fs::read_dir(Path::new(ROOT).join("seeds")).unwrap();
    assert_eq!(seeds.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect::<BTreeSet<_>>(), names);
}

/// Returns the files of a folder, sorted by name. A missing folder has none.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}
