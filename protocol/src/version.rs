//! Protocol versions, each with its story, and the preface of the binary codec.

/// The version that this build speaks.
///
/// * 1: the first one: the methods of [`crate::Method`], JSON-RPC 2.0 lines and
///   bincode frames whose fields are known by their place.
/// * 2: a binary frame is an envelope around the JSON of the other codec, so that a field
///   more breaks nobody. The JSON lines are those of version 1.
pub const PROTOCOL: u32 = 2;

/// The oldest version that this build still answers, in JSON lines. Binary frames are
/// those of [`PROTOCOL`] only.
pub const OLDEST: u32 = 1;

/// What a client that wants binary frames sends first: the name, the protocol version, and
/// the codec (1 is an envelope in bincode 2's standard configuration). A JSON line can't
/// begin with its first byte, which is how they are told apart.
pub const PREFACE: [u8; 8] = *b"HERMA\0\x02\x01";

/// Bytes of [`PREFACE`] before the version.
pub const NAME: usize = 6;

/// Says that two sides don't understand each other, which one is the older one, and what
/// to do.
#[must_use]
pub fn mismatch(client: u32, daemon: u32) -> String {
    let what_to_do = if client < daemon {
        "the client is the older one; upgrade it"
    } else {
        "the daemon is the older one; restart it with the newer program: herma daemon stop"
    };
    format!("this client speaks protocol {client}, the daemon {daemon}: {what_to_do}")
}
