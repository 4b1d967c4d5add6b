//! A program that gets a prompt on its standard input, and answers on its standard output.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin};

use super::masker::SecretMasker;
use super::{Failure, FailureKind, Written, reply};
use crate::data::config::CommandConfig;

/// The number of chars from the end of standard error that a failure shows.
const SHOWN: usize = 150;

/// The number of bytes from the end of standard error that are kept.
const KEPT: usize = 64 << 10;

/// The number of bytes of one read.
const CHUNK: usize = 16 << 10;

/// How long to wait for remaining output after the program ended, if other processes hold its output open.
const LINGER: Duration = Duration::from_millis(500);

/// A program and its limits.
#[derive(Debug)]
pub(in crate::owners) struct Command {
    config: CommandConfig,
    masker: Arc<SecretMasker>,
}

/// A running program. Dropping it kills its process group; the runtime then reaps it.
struct Running {
    group: Group,
    child: Child,
}

/// The process group of a running program: the program, and child processes that stayed in its group.
struct Group(Option<Pid>);

/// The output of a program.
#[derive(Default)]
struct Printed {
    out: Vec<u8>,
    /// The end of standard error.
    errors: Vec<u8>,
}

impl Command {
    pub(in crate::owners) const fn new(config: CommandConfig, masker: Arc<SecretMasker>) -> Self {
        Self { config, masker }
    }

    /// Returns the program's name, without its folder.
    pub(in crate::owners) fn name(&self) -> String {
        let program = self.program();
        Path::new(program).file_name().map_or_else(|| program.to_owned(), |name| name.to_string_lossy().into_owned())
    }

    fn program(&self) -> &str {
        self.config.argv.first().map_or("", String::as_str)
    }

    /// Runs the program once, and uses its output as a summary.
    pub(in crate::owners) async fn write(&self, prompt: &str) -> Result<Written, Failure> {
        let (out, hint) = self.run(prompt).await?;
        let text = reply::summary(&String::from_utf8_lossy(&out), &hint)?;
        Ok(Written { text, model: self.name() })
    }

    /// Runs the program once. Returns its output, and a hint with the end of its standard error.
    pub(in crate::owners) async fn run(&self, prompt: &str) -> Result<(Vec<u8>, String), Failure> {
        let running = self.start()?;
        let limit = self.config.timeout;
        let ended = tokio::time::timeout(limit, converse(running, prompt, self.config.max_response)).await;
        let (status, printed) = ended.unwrap_or_else(|_| {
            Err(Failure::new(FailureKind::Timeout, format!("timeout: {} ran longer than {limit:?}", self.name())))
        })?;
        let hint = self.hint(&printed.errors);
        if !status.success() {
            return Err(Failure::new(FailureKind::Other, format!("{} ended with {status}{hint}", self.name())));
        }
        Ok((printed.out, hint))
    }

    fn start(&self) -> Result<Running, Failure> {
        let mut command = tokio::process::Command::new(self.program());
        command.args(self.config.argv.iter().skip(1));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = command.process_group(0).kill_on_drop(true).spawn().map_err(|error| match error.kind() {
            ErrorKind::NotFound | ErrorKind::PermissionDenied => {
                Failure::no_provider(format_args!("{} can't be run: {error}", self.name()))
            }
            _ => Failure::new(FailureKind::Other, format!("{} can't be run: {error}", self.name())),
        })?;
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Ok(Running { group: Group(leader), child })
    }

    fn hint(&self, errors: &[u8]) -> String {
        match self.masker.last(&String::from_utf8_lossy(errors), SHOWN) {
            words if words.is_empty() => words,
            words => format!(": {words}"),
        }
    }
}

impl Group {
    /// Kills the processes that are left.
    fn kill(&mut self) {
        if let Some(leader) = self.0.take() {
            // This fails if they have all ended already.
            kill_process_group(leader, Signal::KILL).ok();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Writes the prompt while it reads the output, until the program has ended.
async fn converse(mut running: Running, prompt: &str, most: usize) -> Result<(ExitStatus, Printed), Failure> {
    let mut printed = Printed::default();
    let (stdin, stdout, stderr) =
        (running.child.stdin.take(), running.child.stdout.take(), running.child.stderr.take());
    let talk = async {
        tokio::try_join!(
            feed(stdin, prompt.as_bytes()),
            first(stdout, most, &mut printed.out),
            last(stderr, &mut printed.errors)
        )
        .map(drop)
    };
    let status = {
        tokio::pin!(talk);
        let mut ended = None;
        tokio::select! {
            talked = &mut talk => talked?,
            status = running.child.wait() => ended = Some(status),
        }
        match ended {
            None => running.child.wait().await,
            Some(status) => {
                running.group.kill();
                tokio::time::timeout(LINGER, talk).await.unwrap_or(Ok(()))?;
                status
            }
        }
    };
    let status = status.map_err(|error| Failure::new(FailureKind::Other, format!("waiting for a program: {error}")))?;
    Ok((status, printed))
}

/// Writes the prompt, as far as the program reads it.
async fn feed(stdin: Option<ChildStdin>, prompt: &[u8]) -> Result<(), Failure> {
    if let Some(mut stdin) = stdin {
        // A program need not read all of it. Its exit status shows whether it succeeded.
        drop(stdin.write_all(prompt).await);
    }
    Ok(())
}

/// Reads everything, unless it is too large.
async fn first(from: Option<impl AsyncRead + Unpin>, most: usize, into: &mut Vec<u8>) -> Result<(), Failure> {
    let Some(from) = from else { return Ok(()) };
    let read = from.take(most as u64 + 1).read_to_end(into).await;
    read.map_err(|error| Failure::new(FailureKind::Connection, format!("reading a program's output: {error}")))?;
    if into.len() > most {
        Err(Failure::new(FailureKind::Other, format!("the answer has more than {most} bytes")))
    } else {
        Ok(())
    }
}

/// Reads everything and keeps the end.
async fn last(from: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) -> Result<(), Failure> {
    let Some(mut from) = from else { return Ok(()) };
    let mut chunk = vec![0; CHUNK];
    while let Ok(read @ 1..) = from.read(&mut chunk).await {
        into.extend_from_slice(chunk.get(..read).unwrap_or_default());
        // Done only from time to time, so that each byte moves once.
        if into.len() > 2 * KEPT {
            into.drain(..into.len() - KEPT);
        }
    }
    Ok(())
}
