//! Makes system calls of a running daemon fail on command, with strace.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::daemon::Daemon;
use crate::wait::eventually;

/// The calls that fail.
#[derive(Debug, Clone, Copy)]
pub enum Where<'a> {
    /// Calls of the thread with this name.
    Thread(&'a str),
    /// Calls on this file, by any thread.
    File(&'a Path),
    /// Calls of the whole daemon.
    Everywhere,
}

/// A running strace. The calls fail until it ends. Dropping this value ends it.
#[derive(Debug)]
pub struct Injection {
    child: Child,
    folder: TempDir,
}

impl Injection {
    /// Makes calls fail from now on. `rule` is strace's argument `inject=`.
    ///
    /// # Panics
    /// strace can't attach. `Need::Strace` detects that before.
    #[must_use]
    pub fn attach(daemon: &Daemon, place: Where<'_>, rule: &str) -> Self {
        Self::try_attach(daemon, place, rule).unwrap_or_else(|words| panic!("strace can't attach: {words:?}"))
    }

    /// Makes calls fail, or returns strace's messages if it can't.
    ///
    /// # Errors
    /// strace is missing, or neither this user nor root may trace the daemon.
    pub fn try_attach(daemon: &Daemon, place: Where<'_>, rule: &str) -> Result<Self, Vec<String>> {
        let mut words = Vec::new();
        for command in [&["strace"][..], &["sudo", "-n", "strace"]] {
            match Self::try_with(command, daemon, place, rule) {
                Ok(injection) => return Ok(injection),
                Err(why) => words.push(why),
            }
        }
        Err(words)
    }

    fn try_with(command: &[&str], daemon: &Daemon, place: Where<'_>, rule: &str) -> Result<Self, String> {
        let folder = tempfile::tempdir().unwrap();
        let mut strace = Command::new(command[0]);
        strace.args(&command[1..]).arg("-o").arg(folder.path().join("log"));
        strace.args(["-y", "-e", &format!("inject={rule}")]);
        match place {
            Where::Thread(name) => strace.args(["-p", &thread(daemon, name)]),
            Where::File(path) => strace.arg("-P").arg(path).args(["-f", "-p", &daemon.pid().to_string()]),
            Where::Everywhere => strace.args(["-f", "-p", &daemon.pid().to_string()]),
        };
        let spawned = strace.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut child = spawned.map_err(|error| format!("{}: {error}", command.join(" ")))?;
        let mut words = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while words.read_line(&mut said).unwrap() > 0 {
            if said.contains(" attached") {
                // Reads strace's messages, so that it never blocks on a full pipe.
                std::thread::spawn(move || words.lines().count());
                return Ok(Self { child, folder });
            }
        }
        child.wait().unwrap();
        Err(said)
    }

    /// Returns the calls that failed so far, as strace logs them. strace splits a call into two lines if another thread
    /// makes a call meanwhile. Only the first line has the file's name.
    ///
    /// # Panics
    /// The log can't be read.
    #[must_use]
    pub fn hits(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap();
        failed_calls(&log)
    }

    /// Detaches from the daemon.
    pub fn end(self) {
        drop(self);
    }
}

fn failed_calls(log: &str) -> Vec<String> {
    let mut begun: HashMap<&str, &str> = HashMap::new();
    let mut failed = Vec::new();
    for line in log.lines() {
        let thread = line.split_whitespace().next().unwrap_or("");
        if let Some(call) = line.strip_suffix("<unfinished ...>") {
            begun.insert(thread, call);
        } else if line.contains("(INJECTED)") {
            let call = if line.contains(" resumed>") { begun.get(thread).copied().unwrap_or("") } else { "" };
            failed.push(format!("{call}{line}"));
        }
    }
    failed
}

impl Drop for Injection {
    fn drop(&mut self) {
        // strace ends by itself when the daemon ends.
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).unwrap();
        let _ = kill_process(pid, Signal::TERM);
        eventually("strace to end", || self.child.try_wait().unwrap());
    }
}

/// Returns the id of a daemon's thread.
fn thread(daemon: &Daemon, name: &str) -> String {
    let named = |task: PathBuf| {
        let is_it = fs::read_to_string(task.join("comm")).is_ok_and(|comm| comm.trim_end() == name);
        is_it.then(|| task.file_name().unwrap().to_string_lossy().into_owned())
    };
    let tasks = format!("/proc/{}/task", daemon.pid());
    eventually(name, || fs::read_dir(&tasks).unwrap().flatten().find_map(|task| named(task.path())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_stands_in_two_lines_is_told_with_its_file() {
        let log = "7 fsync(3</a>) = -1 EIO (Input/output error) (INJECTED)\n\
                   8 fsync(4</b> <unfinished ...>\n\
                   9 fsync(5</c>) = 0\n\
                   8 <... fsync resumed>)              = -1 EIO (Input/output error) (INJECTED)\n";
        let failed = failed_calls(log);
        assert_eq!(failed.len(), 2);
        assert!(failed[0].contains("</a>") && failed[1].starts_with("8 fsync(4</b> "), "{failed:?}");
    }
}
