//! Daemons whose lock file was removed or replaced: no socket of the home leads to them any more.
//! They end by themselves within two seconds, unless they are stopped or hang.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use herma_base::Failure;
use rustix::process::{Pid, Signal, kill_process};

/// Where Linux tells of processes.
const PROCESSES: &str = "/proc";

/// What Linux writes behind the path of an open file that has it no more.
const DELETED: &str = " (deleted)";

/// How long such a daemon has to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Pause between two looks at it.
const PAUSE: Duration = Duration::from_millis(20);

/// The process ids of this user's daemons that have this home's lock file open, but not the one
/// that is there now; none where the system doesn't tell.
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

/// Ends them, and waits for that.
///
/// # Errors
/// One that goes on.
pub(super) fn end(pids: &[u32]) -> Result<(), Failure> {
    for pid in pids {
        let raw = i32::try_from(*pid).ok().and_then(Pid::from_raw);
        // It may have ended meanwhile.
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
