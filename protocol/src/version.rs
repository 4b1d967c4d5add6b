//! Protocol versions, each with its story, and the preface of the binary codec.

/// The version that this build speaks.
///
/// * 1: the first one: the methods of [`crate::Method`], JSON-RPC 2.0 lines and
///   bincode frames.
pub const PROTOCOL: u32 = 1;

/// The oldest version that this build still answers.
pub const OLDEST: u32 = 1;

/// What a client that wants binary frames sends first: the name, the version of
/// the framing, and the codec (1 is bincode 2 in its standard configuration).
/// A JSON line can't begin with its first byte, which is how they are told
/// apart.
pub const PREFACE: [u8; 8] = *b"HERMA\0\x01\x01";
