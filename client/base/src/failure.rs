//! How a command fails: words, and a code that says whose turn it is.

use herma_client::ClientError;
use herma_client::protocol::limits;
use herma_disk::DiskError;

/// Why a command did not do what it should.
#[derive(Debug)]
pub enum Failure {
    /// The daemon said no, or could not be asked.
    Client(ClientError),
    /// A file of the user can't be used.
    File(String),
    /// The memory refused a write; the result was printed.
    Refused,
    /// The daemon went away from a connection that was to last.
    Gone,
    /// The arguments don't go together in a way that the parser can't see.
    Usage(String),
    /// The answer is no, and was told: nothing was found, or not all was done.
    No,
    /// Standard output was closed: nobody wants the rest.
    Closed,
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
        }
    }

    /// What is said, unless it was said already.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let mut words = self.whole_words()?;
        limits::cut_error(&mut words);
        Some(words)
    }

    fn whole_words(&self) -> Option<String> {
        match self {
            Self::Client(error) => Some(format!("{error}{}", advice(error))),
            Self::Gone => Some("the daemon went away".into()),
            Self::File(words) | Self::Usage(words) => Some(words.clone()),
            Self::Refused | Self::No | Self::Closed => None,
        }
    }
}

fn advice(error: &ClientError) -> &'static str {
    match error {
        ClientError::Unreachable { .. } => "\nstart it with `herma daemon start`, or leave out --no-spawn",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Error, ErrorKind};
    use std::path::PathBuf;

    use herma_client::protocol::{self, RpcError};

    use super::*;

    #[test]
    fn the_code_says_whose_turn_it_is() {
        let broken = || Error::from(ErrorKind::UnexpectedEof);
        let refused = RpcError::new(protocol::ErrorKind::Busy, "later");
        for (failure, code, told) in [
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
            assert_eq!((failure.code(), failure.words().is_some()), (code, told), "{failure:?}");
        }
    }
}
