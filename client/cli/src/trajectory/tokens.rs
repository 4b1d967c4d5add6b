//! Exact counts with a tokenizer of the user, in processes of `herma-tokens`. That is a Python script, which the wheel
//! installs. Without the wheel, Python runs the copy that this program contains.

use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use herma_base::Failure;
use herma_client::protocol::Json;
use serde::Deserialize;

/// The program that counts tokens.
const PROGRAM: &str = "herma-tokens";

/// The interpreter for [`SCRIPT`] if there is no such program.
const PYTHON: &str = "python3";

/// The source of that program.
const SCRIPT: &str = include_str!("../../../python/src/herma/tokens.py");

/// The first lines of the script. `-c` lets Python import modules from the current folder, in which anybody's files
/// may be.
const WITHOUT_FOLDER: &str = "import sys\nsys.path[:] = [folder for folder in sys.path if folder]\n";

/// Counts tokens, with one process for each concurrent call.
#[derive(Debug)]
pub(super) struct Counter {
    tokenizer: PathBuf,
    idle: Mutex<Vec<Process>>,
}

impl Counter {
    /// Starts a process that has read the tokenizer.json.
    ///
    /// # Errors
    /// There is no such program, or the file is not a tokenizer.
    pub(super) fn open(tokenizer: &Path) -> Result<Self, Failure> {
        let first = Process::start(tokenizer)?;
        Ok(Self { tokenizer: tokenizer.to_owned(), idle: Mutex::new(vec![first]) })
    }

    /// Returns the tokens of each turn's value.
    ///
    /// # Errors
    /// The process has ended.
    pub(super) fn turns(&self, turns: &[Json]) -> Result<Vec<u64>, Failure> {
        let texts: Vec<String> = turns.iter().map(value).collect();
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut process = idle.map_or_else(|| Process::start(&self.tokenizer), Ok)?;
        let counts = process.ask(&texts)?;
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(process);
        Ok(counts)
    }
}

/// A process that counts. It ends when its standard input ends.
#[derive(Debug)]
struct Process {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    fn start(tokenizer: &Path) -> Result<Self, Failure> {
        let mut child = spawn(Command::new(program()), tokenizer).or_else(|error| match error.kind() {
            ErrorKind::NotFound => {
                let mut python = Command::new(PYTHON);
                python.args(["-c", &format!("{WITHOUT_FOLDER}{SCRIPT}")]);
                spawn(python, tokenizer).map_err(|error| missing(&error))
            }
            _ => Err(Failure::File(format!("{PROGRAM}: {error}"))),
        })?;
        let gone = || Failure::File(format!("{PROGRAM} has no standard output"));
        let answers = child.stdout.take().map(BufReader::new).ok_or_else(gone)?;
        let mut process = Self { questions: child.stdin.take(), child, answers };
        process.ask(&[])?;
        Ok(process)
    }

    /// Returns the tokens of each text.
    fn ask(&mut self, texts: &[String]) -> Result<Vec<u64>, Failure> {
        let counts = self.exchange(texts).and_then(|line| serde_json::from_str::<Vec<u64>>(&line).map_err(Error::from));
        match counts {
            Ok(counts) if counts.len() == texts.len() => Ok(counts),
            Ok(_) => Err(Failure::File(format!("{PROGRAM} counted other texts than it was given"))),
            Err(error) => Err(self.last_words(&error)),
        }
    }

    fn exchange(&mut self, texts: &[String]) -> Result<String, Error> {
        let mut line = serde_json::to_vec(texts)?;
        line.push(b'\n');
        let Some(questions) = &mut self.questions else { return Err(ErrorKind::BrokenPipe.into()) };
        questions.write_all(&line)?;
        let mut answer = String::new();
        match self.answers.read_line(&mut answer)? {
            0 => Err(ErrorKind::UnexpectedEof.into()),
            _ => Ok(answer),
        }
    }

    /// Returns the error message of a process that has ended.
    fn last_words(&mut self, error: &Error) -> Failure {
        drop(self.questions.take());
        let mut words = String::new();
        if let Some(mut errors) = self.child.stderr.take() {
            // If this can't be read, the message is empty.
            drop(errors.read_to_string(&mut words));
        }
        match words.trim().strip_prefix("herma-tokens: ") {
            Some(words) => Failure::File(words.to_owned()),
            None => Failure::File(format!("{PROGRAM}: {error}")),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.questions.take());
        // A process that was killed has ended too.
        drop(self.child.wait());
    }
}

fn spawn(mut command: Command, tokenizer: &Path) -> std::io::Result<Child> {
    command.arg("--").arg(tokenizer).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Returns the program next to this one, or else its name for the search path.
fn program() -> PathBuf {
    let own = std::env::current_exe().ok().map(|own| own.with_file_name(PROGRAM));
    own.filter(|program| program.is_file()).unwrap_or_else(|| PROGRAM.into())
}

fn missing(error: &Error) -> Failure {
    Failure::File(format!("--tokenizer needs {PYTHON} with the package tokenizers: {error}"))
}

/// Returns the text of a turn. A value that is not a string counts as JSON text.
fn value(turn: &Json) -> String {
    #[derive(Deserialize)]
    struct Turn {
        value: Option<Json>,
    }
    let value = serde_json::from_str::<Turn>(turn.get()).ok().and_then(|turn| turn.value);
    value.map_or_else(String::new, |value| serde_json::from_str(value.get()).unwrap_or_else(|_| value.into_text()))
}
