//! The error of a command: a message and an exit code.

use herma_client::ClientError;
use herma_client::protocol::limits;
use herma_disk::DiskError;

/// The error of a command.
#[derive(Debug)]
pub enum Failure {
    /// The daemon answered with an error, or could not be reached.
    Client(ClientError),
    /// A file of the user can't be used.
    File(String),
    /// The memory refused a write. The result is already printed.
    Refused,
    /// The daemon closed a connection that was meant to last.
    Gone,
    /// The arguments contradict each other in a way that the parser can't check.
    Usage(String),
    /// The answer is negative and already printed: nothing was found, or not everything was done.
    No,
    /// Standard output was closed, so nobody reads the rest.
    Closed,
    /// The program that the command started ended with this exit code, or it is not there. That was said.
    Ended(u8),
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        Self::Client(error)
    }
}

impl From<DiskError> for Failure {
    fn from(error: DiskError) -> Self {
        Self::File(format!("{}: {}", error.path.display(), error.source))
    }
}

impl Failure {
    /// Returns the exit code.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Closed => 0,
            Self::Client(ClientError::Rpc(_) | ClientError::Answer(_) | ClientError::NoHome)
            | Self::File(_)
            | Self::No => 1,
            Self::Usage(_) => 2,
            Self::Client(
                ClientError::Unreachable { .. } | ClientError::Spawn(_) | ClientError::TimedOut | ClientError::Lost(_),
            )
            | Self::Gone => 3,
            Self::Refused => 4,
            Self::Ended(code) => *code,
        }
    }

    /// Returns the message, or `None` if it is already printed.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let mut words = self.whole_words()?;
        limits::cut_error(&mut words);
        Some(words)
    }

    fn whole_words(&self) -> Option<String> {
        match self {
            // Programs get the kind of an error with `--json`.
            Self::Client(ClientError::Rpc(error)) => Some(in_commands(error.message.clone())),
            Self::Client(error) => Some(format!("{}{}", in_commands(error.to_string()), advice(error))),
            Self::Gone => Some("the daemon went away".into()),
            Self::File(words) | Self::Usage(words) => Some(words.clone()),
            Self::Refused | Self::No | Self::Closed | Self::Ended(_) => None,
        }
    }
}

fn advice(error: &ClientError) -> &'static str {
    match error {
        ClientError::Unreachable { .. } if std::env::args_os().any(|argument| argument == "--no-spawn") => {
            "\nstart it with `herma daemon start`, or leave out --no-spawn"
        }
        ClientError::Unreachable { .. } => "\nstart it with `herma daemon start`",
        _ => "",
    }
}

/// The methods that the daemon's messages advise, as a person gives them here.
const COMMANDS: [(&str, &str); 9] = [
    ("session.list", "`herma session list`"),
    ("session.open", "`herma session open`"),
    ("context.pins", "`herma context pins`"),
    ("recall.describe", "`herma recall --describe`"),
    ("recall.expand", "`herma recall --expand`"),
    ("profile.create", "`herma profile create`"),
    ("constraint.list", "`herma constraint list`"),
    ("session.append", "`herma session append`"),
    ("session.remove", "`herma session rm`"),
];

/// Names commands instead of methods.
fn in_commands(words: String) -> String {
    let named = |words: String, (method, command): &(&str, &str)| words.replace(method, command);
    COMMANDS.iter().fold(words, named)
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::PathBuf;

    use herma_client::protocol::{self, RpcError};

    use super::*;

    #[test]
    fn advice_names_commands() {
        let words = in_commands("there is no session \"x\"; session.list has those there are".to_owned());
        assert_eq!(words, "there is no session \"x\"; `herma session list` has those there are");
        assert_eq!(
            in_commands("open it with session.open first".to_owned()),
            "open it with `herma session open` first"
        );
    }

    #[test]
    fn the_code_says_whose_turn_it_is() {
        let broken = || Error::from(ErrorKind::UnexpectedEof);
        let refused = RpcError::new(protocol::ErrorKind::Busy, "later");
        for (failure, code, shown) in [
            (Failure::Client(refused.into()), 1, true),
            (Failure::Client(ClientError::Answer("it is no frame".into())), 1, true),
            (Failure::Client(ClientError::NoHome), 1, true),
            (Failure::File("f: not found".into()), 1, true),
            (Failure::No, 1, false),
            (Failure::Usage("--yes is missing".into()), 2, true),
            (Failure::Client(ClientError::Unreachable { socket: PathBuf::new(), source: broken() }), 3, true),
            (Failure::Client(ClientError::Spawn("no".into())), 3, true),
            (Failure::Client(ClientError::TimedOut), 3, true),
            (Failure::Client(ClientError::Lost(broken())), 3, true),
            (Failure::Gone, 3, true),
            (Failure::Refused, 4, false),
            (Failure::Closed, 0, false),
        ] {
            assert_eq!((failure.code(), failure.words().is_some()), (code, shown), "{failure:?}");
        }
    }
}
