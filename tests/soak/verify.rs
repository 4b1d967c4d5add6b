//! The final check, first with only a fresh daemon running, then on the files that it leaves.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use herma_client::{Client, Codec};
use herma_protocol::memory::Target;
use herma_tests::Home;

use crate::ledger;
use crate::worker::memory::{Model, own};
use crate::worker::outputs;
use crate::workers::CAST;

/// The result of the check: counts, and the data that does not match the ledgers.
#[derive(Debug, Default)]
pub(crate) struct Verified {
    pub(crate) entries: usize,
    pub(crate) outputs: usize,
    pub(crate) archive: String,
    pub(crate) losses: Vec<String>,
}

/// Checks stores and outputs while a daemon runs.
pub(crate) fn served(home: &Home, out: &Path) -> Verified {
    let mut verified = Verified::default();
    for (_, kind, name) in CAST {
        match kind {
            "memory" | "hermes" => {
                let target = if name.ends_with("user") { Target::User } else { Target::Memory };
                let model = Model::read(&ledger::lines(out, name));
                let found: BTreeSet<String> = own(name, &home.entries(target));
                verified.entries += found.len();
                verified.losses.extend(model.wrong(&found).map(|words| format!("{name}: {words}")));
            }
            "output" => {
                let mut client = Client::connect_with(&home.place(), Codec::Json).unwrap();
                for (handle, sha256) in outputs::kept(out, name) {
                    verified.outputs += 1;
                    match outputs::read(&mut client, &handle) {
                        Ok(text) if outputs::sha256(&text) == sha256 => {}
                        Ok(_) => verified.losses.push(format!("{name}: {handle} has another text")),
                        Err(error) => verified.losses.push(format!("{name}: {handle}: {error}")),
                    }
                }
            }
            _ => {}
        }
    }
    verified
}

/// Checks the archive after the last daemon has ended.
pub(crate) fn archive(home: &Home, out: &Path, verified: &mut Verified) {
    // SQLite can't open a file in the home's mount namespace, so it gets a copy.
    let copy = out.join("archive.db");
    for suffix in ["", "-wal"] {
        let named = |path: &Path| format!("{}{suffix}", path.display());
        drop(fs::copy(named(&home.path().join("herma/archive.db")), named(&copy)));
    }
    let mut python = Command::new("python3");
    python.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("soak/verify.py")).arg(&copy);
    for (_, kind, name) in CAST {
        if kind == "session" {
            python.arg(out.join("ledgers").join(format!("{name}.jsonl")));
        }
    }
    let looked = python.output().unwrap();
    verified.archive = String::from_utf8_lossy(&looked.stderr).trim().to_owned();
    verified.losses.extend(String::from_utf8_lossy(&looked.stdout).lines().map(str::to_owned));
    if !looked.status.success() {
        verified.losses.push("the archive could not be looked at".into());
    }
}
