//! Prepares two things for the programs: their version with the commit, and static linking of the unwinder. Loading the
//! unwinder as a shared library takes a fifth of the run time of `herma ping`.
#![expect(clippy::disallowed_methods, reason = "the script is written for the linker")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable that names the commit, for sources that are not a git clone.
const COMMIT: &str = "HERMA_COMMIT";

/// The name and the content of a linker script. The linker finds it before the system's library, and it names the
/// static archives.
const SCRIPT: (&str, &str) = ("libgcc_s.so", "GROUP(libgcc_eh.a libgcc.a)\n");

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed={COMMIT}");
    let version = env!("CARGO_PKG_VERSION");
    match std::env::var(COMMIT).ok().or_else(commit) {
        Some(commit) => println!("cargo:rustc-env=HERMA_VERSION={version} ({commit})"),
        None => println!("cargo:rustc-env=HERMA_VERSION={version}"),
    }
    link()
}

/// Returns the commit that is checked out here.
fn commit() -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Sources unpacked inside another repository are not one of its commits.
    if !root.join(".git").exists() {
        return None;
    }
    let git = |arguments: &[&str]| {
        let answer = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        let words = answer.status.success().then(|| String::from_utf8(answer.stdout).ok())??;
        Some(words.trim().to_owned())
    };
    // Each commit and each checkout adds a line to this file.
    let log = PathBuf::from(git(&["rev-parse", "--git-path", "logs/HEAD"])?);
    if root.join(&log).exists() {
        println!("cargo:rerun-if-changed={}", root.join(&log).display());
    }
    git(&["rev-parse", "--short=9", "HEAD"])
}

fn link() -> Result<(), Box<dyn Error>> {
    let target = |name: &str| std::env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default();
    let is_native = std::env::var("TARGET") == std::env::var("HOST");
    if target("OS") != "linux" || target("ENV") != "gnu" || !is_native || !has("libgcc_eh.a") {
        return Ok(());
    }
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").ok_or("there is no OUT_DIR")?);
    std::fs::write(folder.join(SCRIPT.0), SCRIPT.1)?;
    println!("cargo:rustc-link-search=native={}", folder.display());
    Ok(())
}

/// Returns whether the compiler that links has the archive.
fn has(archive: &str) -> bool {
    let asked = Command::new("cc").arg(format!("-print-file-name={archive}")).output();
    // The compiler prints the bare name of an archive that it does not have.
    asked.is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}
