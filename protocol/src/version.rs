//! Protocol versions with their history, and the preface of the binary codec.

/// The protocol version of this build.
///
/// * 1: the methods of [`crate::Method`], JSON-RPC 2.0 lines, and bincode frames whose fields are
///   identified by position.
/// * 2: a binary frame is an envelope around the JSON of the other codec, so that a new field
///   breaks no client. The JSON lines are those of version 1.
pub const PROTOCOL: u32 = 2;

/// The oldest version that this build still answers, in JSON lines. Binary frames must have the version [`PROTOCOL`].
pub const OLDEST: u32 = 1;

/// The first bytes from a client that uses binary frames: the name, the protocol version and the
/// codec (1 is an envelope in bincode 2's standard configuration). No JSON line begins with the
/// same first byte, so it identifies the codec.
pub const PREFACE: [u8; 8] = *b"HERMA\0\x02\x01";

/// Number of bytes in [`PREFACE`] before the version.
pub const NAME: usize = 6;

/// Returns the error message for incompatible versions: which side is older and what to do.
#[must_use]
pub fn mismatch(client: u32, daemon: u32) -> String {
    let what_to_do = if client < daemon {
        "the client is the older one; upgrade it"
    } else {
        "the daemon is the older one; restart it with the newer program: herma daemon stop"
    };
    format!("this client speaks protocol {client}, the daemon {daemon}: {what_to_do}")
}
