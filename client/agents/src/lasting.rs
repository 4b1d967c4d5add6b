//! The path of this program that settings of agents may name: one that still exists tomorrow.
//!
//! `npx herma setup` and `uvx herma setup` start the program from a cache, which npm or uv empties at some time. Then the
//! programs are copied into the home, and the settings name the copies.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use herma_base::{Failure, user_file};

/// The folders of caches, each as the last parts of its path: of npx, pnpm, uv, pipx and bun.
const CACHES: [&[&str]; 5] =
    [&["_npx"], &["pnpm", "dlx"], &[".cache", "uv"], &["pipx", ".cache"], &[".bun", "install", "cache"]];

/// Returns the place for a copy of the program if the program is in a cache.
pub(crate) fn place_for(home: &Path, program: &Path) -> Option<PathBuf> {
    is_in_cache(program).then(|| home.join("herma/bin").join(program.file_name().unwrap_or(OsStr::new("herma"))))
}

/// Copies both programs into the home if they are in a cache, before settings name the copies.
///
/// # Errors
/// A program can't be read or written.
pub fn keep(home: &Path) -> Result<(), Failure> {
    let failed = |path: &Path, error: &std::io::Error| Failure::File(format!("{}: {error}", path.display()));
    let itself = std::env::current_exe().map_err(|error| failed(Path::new("this program"), &error))?;
    if !is_in_cache(&itself) {
        return Ok(());
    }
    let daemon = itself.with_file_name("hermad");
    for program in [itself, daemon] {
        let Some(copy) = place_for(home, &program) else { continue };
        // A running program can't be written, so the copy takes the place of the old one.
        let new = copy.with_extension("new");
        user_file::create_folder(copy.parent().unwrap_or(home))?;
        user_file::copy(&program, &new)?;
        user_file::rename(&new, &copy)?;
    }
    Ok(())
}

fn is_in_cache(program: &Path) -> bool {
    let parts: Vec<&OsStr> = program.iter().collect();
    CACHES.iter().any(|cache| parts.windows(cache.len()).any(|window| window == *cache))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_in_caches_are_copied_and_no_others() {
        for (program, is_cached) in [
            ("/h/.npm/_npx/5f2a/node_modules/herma-linux-x64/bin/herma", true),
            ("/h/.cache/uv/archive-v0/abc/bin/herma", true),
            ("/h/.local/pipx/.cache/abc/bin/herma", true),
            ("/h/.cache/pnpm/dlx/abc/node_modules/herma/bin/herma", true),
            ("/usr/bin/herma", false),
            ("/h/.local/share/uv/tools/herma/bin/herma", false),
            ("/h/uv/bin/herma", false),
            ("/h/lib/node_modules/herma-linux-x64/bin/herma", false),
        ] {
            let place = place_for(Path::new("/home"), Path::new(program));
            assert_eq!(place, is_cached.then(|| "/home/herma/bin/herma".into()), "{program}");
        }
    }
}
