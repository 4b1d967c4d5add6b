//! The MCP client's name and its session.

use std::hash::{BuildHasher, RandomState};

/// The chars of a client's name that become part of an id.
const NAME: usize = 64;

/// The session and the agent that each write is recorded under.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    /// The session's id.
    pub(super) session: String,
    /// The client's name, as sent by the client.
    pub(super) agent: String,
}

impl Identity {
    /// Creates an identity with the given session, or with a new unique session id.
    pub(super) fn new(session: Option<String>, client: &str) -> Self {
        let agent = plain(client);
        let session = session.unwrap_or_else(|| format!("mcp-{agent}-{}", unique()));
        Self { session, agent }
    }
}

/// Returns a text that is unique among all processes: 16 hex digits.
pub(super) fn unique() -> String {
    format!("{:016x}", RandomState::new().hash_one((std::process::id(), std::time::SystemTime::now())))
}

/// Returns a client's name with the characters replaced that an id must not contain.
fn plain(name: &str) -> String {
    let allowed = |char: char| if char.is_alphanumeric() || "._-".contains(char) { char } else { '-' };
    let name: String = name.trim().chars().take(NAME).map(allowed).collect();
    if name.is_empty() { "client".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_becomes_part_of_an_id() {
        for (name, expected) in [
            ("claude-code", "claude-code"),
            (" Visual Studio Code\n", "Visual-Studio-Code"),
            ("a/../b\u{0}", "a-..-b-"),
            ("日本", "日本"),
            (" ", "client"),
        ] {
            assert_eq!(plain(name), expected);
        }
        assert_eq!(plain(&"x".repeat(5000)).len(), NAME);
    }

    #[test]
    fn a_session_is_the_one_asked_for_or_a_new_one() {
        assert_eq!(Identity::new(Some("mine".into()), "app").session, "mine");
        let [one, other] = [(); 2].map(|()| Identity::new(None, "app").session);
        assert!(one.starts_with("mcp-app-") && one != other, "{one} {other}");
    }
}
