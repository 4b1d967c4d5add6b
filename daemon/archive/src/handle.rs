//! Names of search results, with which a caller can read them later.

/// The location of a hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A message.
    Message {
        /// Its id.
        id: u64,
    },
    /// A part of an output.
    Output {
        /// The output's own handle.
        handle: String,
        /// The line in which it begins, from 1.
        line: u64,
        /// Chars of the output before it.
        start: u64,
        /// Its length in chars.
        chars: u64,
    },
    /// A text from a memory store's history.
    Memory {
        /// Its id.
        id: u64,
    },
    /// A message of another archive.
    Remote {
        /// Its index in the list of remote documents that the search got.
        at: usize,
    },
}

impl Source {
    /// Returns its name: `msg_<id>`, `mem_<id>`, or the output's own handle. A message of another archive has an empty
    /// name, because the caller that passed it to the search names it.
    #[must_use]
    pub fn handle(&self) -> String {
        match self {
            Self::Message { id } => Handle::Message(*id).to_string(),
            Self::Memory { id } => Handle::Memory(*id).to_string(),
            Self::Output { handle, .. } => handle.clone(),
            Self::Remote { .. } => String::new(),
        }
    }
}

/// A name that the archive assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handle {
    /// The name of a message.
    Message(u64),
    /// The name of a memory text.
    Memory(u64),
}

impl std::fmt::Display for Handle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Message(id) => write!(formatter, "msg_{id}"),
            Self::Memory(id) => write!(formatter, "mem_{id}"),
        }
    }
}

/// Parses a name that the archive assigned. Returns `None` for anything else, including another spelling of the same
/// number.
#[must_use]
pub fn parse_handle(text: &str) -> Option<Handle> {
    let (kind, number) = text.split_once('_')?;
    let id = number.parse().ok()?;
    let handle = match kind {
        "msg" => Handle::Message(id),
        "mem" => Handle::Memory(id),
        _ => return None,
    };
    (handle.to_string() == text).then_some(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_were_given_are_read() {
        for (text, expect) in [
            ("msg_1", Some(Handle::Message(1))),
            ("mem_18446744073709551615", Some(Handle::Memory(u64::MAX))),
            ("msg_18446744073709551616", None),
            ("msg_01", None),
            ("msg_+1", None),
            ("msg_-1", None),
            ("msg_", None),
            ("msg1", None),
            ("out_1", None),
            ("", None),
        ] {
            assert_eq!(parse_handle(text), expect, "{text}");
        }
    }

    #[test]
    fn a_source_has_a_name() {
        assert_eq!(Source::Message { id: 7 }.handle(), "msg_7");
        assert_eq!(Source::Memory { id: 8 }.handle(), "mem_8");
        assert_eq!(Source::Output { handle: "out/1".into(), line: 1, start: 0, chars: 2 }.handle(), "out/1");
    }
}
