//! Makes a table of the files of the Python package, which `herma hermes install` writes.
#![expect(clippy::disallowed_methods, reason = "the table is written for the compiler")]

use std::error::Error;
use std::path::Path;

/// The path of the package, relative to this folder.
const PACKAGE: &str = "../python/src/herma";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={PACKAGE}");
    let mut names = Vec::new();
    let root = std::env::var_os("CARGO_MANIFEST_DIR").ok_or("there is no CARGO_MANIFEST_DIR")?;
    collect(&Path::new(&root).join(PACKAGE), "", &mut names)?;
    names.sort();
    // The compiler finds the files through the variable, so the table contains no path of this machine.
    let row = |name: &String| {
        format!("    ({name:?}, include_bytes!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{PACKAGE}/{name}\"))),\n")
    };
    let table = format!("&[\n{}]\n", names.iter().map(row).collect::<String>());
    let folder = std::env::var_os("OUT_DIR").ok_or("there is no OUT_DIR")?;
    std::fs::write(Path::new(&folder).join("package.rs"), table)?;
    Ok(())
}

/// Collects the names of the package's files below the folder, with `/` between their parts.
fn collect(folder: &Path, prefix: &str, names: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| format!("{}: no text", name.display()))?;
        let path = format!("{prefix}{name}");
        if entry.file_type()?.is_dir() {
            if name != "__pycache__" {
                collect(&entry.path(), &format!("{path}/"), names)?;
            }
        } else if [".py", ".json", ".yaml", "py.typed"].iter().any(|ending| name.ends_with(ending)) {
            names.push(path);
        }
    }
    Ok(())
}
