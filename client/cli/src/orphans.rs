//! Daemons whose lock file was removed or replaced, so that no socket of the home leads to them. They end by themselves
//! within two seconds, unless they are stopped or hang.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_base::Failure;
use rustix::process::{Pid, Signal, kill_process};

/// The folder in which Linux lists processes.
const PROCESSES: &str = "/proc";

/// The suffix of the path of an open file that was deleted.
const DELETED: &str = " (deleted)";

/// How long such a daemon may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// The pause between two checks.
const PAUSE: Duration = Duration::from_millis(20);

/// Returns the process ids of this user's daemons that have a deleted lock file of this home open. Returns none if the
/// system doesn't list processes.
pub(super) fn find(home: &Path) -> Vec<u32> {
    let home = fs::canonicalize(home).unwrap_or_else(|_| home.to_owned());
    let gone = format!("{}{DELETED}", home.join("herma/hermad.lock").display());
    let processes = fs::read_dir(PROCESSES).into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| is_daemon(*pid) && has_open(*pid, Path::new(&gone))).collect()
}

fn process(pid: u32) -> PathBuf {
    Path::new(PROCESSES).join(pid.to_string())
}

fn is_daemon(pid: u32) -> bool {
    let own = rustix::process::geteuid().as_raw();
    fs::metadata(process(pid)).is_ok_and(|found| found.uid() == own)
        && fs::read_to_string(process(pid).join("comm")).is_ok_and(|name| name.trim_end() == "hermad")
}

fn has_open(pid: u32, path: &Path) -> bool {
    let files = fs::read_dir(process(pid).join("fd")).into_iter().flatten().flatten();
    files.filter_map(|file| fs::read_link(file.path()).ok()).any(|opened| opened == path)
}

/// Ends the daemons, and waits until they have ended.
///
/// # Errors
/// A daemon does not end.
pub(super) fn end(pids: &[u32]) -> Result<(), Failure> {
    for pid in pids {
        let raw = i32::try_from(*pid).ok().and_then(Pid::from_raw);
        // The daemon may have ended in the meantime.
        let _ = raw.map(|pid| kill_process(pid, Signal::TERM));
    }
    let until = Instant::now() + PATIENCE;
    while let Some(pid) = pids.iter().find(|pid| is_daemon(**pid)) {
        if Instant::now() > until {
            let words = format!("the daemon {pid}, whose lock file was removed, goes on; end it with kill -9 {pid}");
            return Err(Failure::File(words));
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
