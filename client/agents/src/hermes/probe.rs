//! Asks an agent's own code which parts it uses, in the agent's own environment.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::{Deserialize, Serialize};

/// The Python program that runs there.
const PROBE: &str = include_str!("../../../python/src/herma/hermes/probe.py");

/// The timeout. An agent's imports take seconds on a slow disk.
const PATIENCE: Duration = Duration::from_secs(60);

/// The pause between two checks whether the probe has ended.
const PAUSE: Duration = Duration::from_millis(20);

/// The bytes of its output that are read, from the end. The answer is the last line.
const TAIL: u64 = 1 << 18;

/// The parts that the agent uses.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Found {
    /// The version of the agent. `None` if it is not installed as a package.
    pub(super) host: Option<String>,
    /// The path of the Python interpreter, as it reports it.
    pub(super) python: String,
    /// The reason why the probe found nothing else.
    pub(super) error: Option<String>,
    pub(super) plugin: Plugin,
    pub(super) engine: Part,
    pub(super) provider: Part,
    /// The agent's own memory tool.
    pub(super) memory: Part,
    /// The handling of large tool results.
    pub(super) results: Part,
}

/// The plugin, as the agent's plugin manager reports it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Plugin {
    found: bool,
    enabled: bool,
    error: Option<String>,
    path: Option<String>,
}

/// A part of an agent that herma can replace.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Part {
    /// Whether the configuration names herma.
    pub(super) configured: bool,
    /// Whether herma is in use.
    pub(super) in_use: bool,
    /// The name of the part in use.
    pub(super) name: Option<String>,
    /// The reason why it is not herma.
    pub(super) why: Option<String>,
}

/// Runs the probe for a home.
pub(super) fn run(python: &Path, home: &Path) -> Result<Found, String> {
    run_for(python, home, PROBE, PATIENCE)
}

fn run_for(python: &Path, home: &Path, probe: &str, patience: Duration) -> Result<Found, String> {
    let failed = |error: io::Error| format!("{}: {error}", python.display());
    // Files instead of pipes: a daemon that the plugin starts may keep inherited pipes open for long.
    let (out, errors) = (tempfile::tempfile().map_err(failed)?, tempfile::tempfile().map_err(failed)?);
    let mut child = Command::new(python)
        .args(["-c", probe])
        .env("HERMES_HOME", home)
        .current_dir("/")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(out.try_clone().map_err(failed)?)
        .stderr(errors.try_clone().map_err(failed)?)
        .spawn()
        .map_err(failed)?;
    let until = Instant::now() + patience;
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break status,
            None if Instant::now() < until => std::thread::sleep(PAUSE),
            None => {
                end(&mut child);
                return Err(format!(
                    "the agent's code did not answer within {} s in {}",
                    patience.as_secs(),
                    python.display()
                ));
            }
        }
    };
    let printed = tail(out).map_err(failed)?;
    let last = printed.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    serde_json::from_str(last).map_err(|_| {
        let words = tail(errors).unwrap_or_default();
        let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
        format!("{} ended with {status}: {last}", python.display())
    })
}

/// Kills the process and its process group.
fn end(child: &mut Child) {
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The process may have ended in the meantime.
        let _ = kill_process_group(group, Signal::KILL);
    }
    drop(child.wait());
}

fn tail(mut file: File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn ask(probe: &str) -> Result<Found, String> {
        run_for(Path::new("python3"), Path::new("/"), probe, Duration::from_millis(1500))
    }

    #[test]
    fn the_last_line_counts_and_whatever_goes_wrong_is_told() {
        let found = ask("print('noise'); print('{\"host\": \"1\", \"engine\": {\"in_use\": true}, \"newer\": 1}')");
        let found = found.unwrap();
        assert_eq!((found.host.as_deref(), found.engine.in_use, found.memory.in_use), (Some("1"), true, false));
        for (probe, words) in [
            ("raise SystemExit('no host')", "no host"),
            ("print('words')", "it said nothing"),
            ("import time; time.sleep(60)", "did not answer within 1 s"),
        ] {
            let error = ask(probe).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_child_of_the_probe_does_not_hold_the_answer() {
        let began = Instant::now();
        let probe = "import subprocess; subprocess.Popen(['sleep', '9'], start_new_session=True); print('{}')";
        assert_eq!(ask(probe), Ok(Found::default()));
        assert!(began.elapsed() < Duration::from_secs(5));
    }

    #[test]
    fn a_python_that_is_none_is_told() {
        let error = run_for(Path::new("/no/python"), Path::new("/"), "", PATIENCE).unwrap_err();
        assert!(error.starts_with("/no/python: "), "{error}");
    }
}
