//! How a command fails: words, and a code that says whose turn it is.

use std::io::Write;
use std::process::ExitCode;

use herma_client::ClientError;
use serde_json::json;

/// Why a command did not do what it should.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The daemon said no, or could not be asked.
    Client(ClientError),
    /// A file of the user can't be used.
    File(String),
    /// The memory refused a write; the result was printed.
    Refused,
    /// The daemon went away from a connection that was to last.
    Gone,
    /// Standard output was closed: nobody wants the rest.
    Closed,
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl Failure {
    /// Prints the failure to standard error and gives its exit code.
    pub(crate) fn report(&self, json: bool) -> ExitCode {
        let (code, words) = match self {
            Self::Client(error @ (ClientError::Unreachable { .. } | ClientError::Spawn(_))) => {
                (3, format!("{error}{}", advice(error)))
            }
            Self::Client(error @ ClientError::TimedOut) => (3, error.to_string()),
            Self::Gone => (3, "the daemon went away".into()),
            Self::Client(error) => (1, error.to_string()),
            Self::File(words) => (1, words.clone()),
            Self::Refused => return ExitCode::from(4),
            Self::Closed => return ExitCode::SUCCESS,
        };
        let line = match self {
            Self::Client(ClientError::Rpc(error)) if json => {
                json!({ "error": { "kind": error.kind.name(), "code": error.kind.code(), "message": error.message } })
                    .to_string()
            }
            _ if json => json!({ "error": { "message": words } }).to_string(),
            _ => format!("herma: {words}"),
        };
        // There is nowhere else to say it.
        drop(writeln!(std::io::stderr(), "{line}"));
        ExitCode::from(code)
    }
}

fn advice(error: &ClientError) -> &'static str {
    match error {
        ClientError::Unreachable { .. } => "\nstart it with `herma daemon start`, or leave out --no-spawn",
        _ => "",
    }
}
