//! Named limits of the wire protocol. Nothing from outside is used as a size before it was
//! compared with one of these.

/// The largest frame or line in bytes, unless configured otherwise. A longer one is answered with
/// `too_large` and the connection ends, because the end of that frame in the stream is unknown.
pub const FRAME: usize = 64 << 20;

/// The largest allowed value of `limits.frame` in bytes: the length prefix has 32 bits, and
/// bincode's own limit is a constant.
pub const FRAME_CEILING: usize = 1 << 30;

/// The most attachments of one binary frame. A frame with more is invalid; a writer puts further values into the JSON.
pub const ATTACHMENTS: usize = 4096;

/// The most bytes being read or answered on all connections together, unless configured otherwise.
/// Above it, reading pauses.
pub const IN_FLIGHT: usize = 512 << 20;

/// Frames of at most this many bytes don't count against [`IN_FLIGHT`], because [`CONNECTIONS`] and
/// [`REQUESTS`] already bound them.
pub const SMALL_FRAME: usize = 64 << 10;

/// The most open connections, unless configured otherwise. The next one is answered with `busy` and closed.
pub const CONNECTIONS: usize = 1024;

/// The most requests in flight per connection. Above it, reading pauses until one is answered.
pub const REQUESTS: usize = 64;

/// The most requests in one JSON-RPC batch. A longer batch is `too_large`.
pub const BATCH: usize = 1000;

/// The largest nesting depth of a JSON line or JSON text. A deeper one is a `parse_error`.
pub const DEPTH: usize = 128;

/// The most bytes of a request's `id` in its JSON form. A longer one is `invalid_request`.
pub const REQUEST_ID: usize = 256;

/// Seconds within which a connection must finish a preface that it has begun.
pub const HANDSHAKE_S: u64 = 5;

/// Seconds without a single byte of progress in a frame or reply after which the connection is closed.
pub const STALL_S: u64 = 30;

/// Seconds within which a frame of more than [`SMALL_FRAME`] bytes must arrive, even if it makes
/// steady progress, because it uses a share of the bytes in flight.
pub const FRAME_S: u64 = 120;

/// The most bytes of a text in a memory write. A longer one is `too_large`: it fits into no store,
/// so scanning it would be wasted.
pub const ENTRY: usize = 1 << 20;

/// The most results in one `output.settle_turn`.
pub const TURN_RESULTS: usize = 1000;

/// The most chars of a session id, agent name, tool name or title. A longer one is `invalid_params`.
pub const NAME: usize = 1024;

/// The most chars of a path that is only displayed. A longer one is `invalid_params`.
pub const PATH: usize = 4096;

/// The most chars of an idempotency key. A longer one is `invalid_params`.
pub const IDEMPOTENCY_KEY: usize = 256;

/// Seconds for which a repeated mutation with the same idempotency key gets the first result.
pub const IDEMPOTENCY_S: u64 = 600;

/// The most bytes of all stored results of idempotent mutations, including their keys and the
/// index. Above it, the oldest are dropped.
pub const IDEMPOTENCY_BYTES: usize = 64 << 20;

/// The longest deadline that a request may set, in milliseconds (one hour).
pub const DEADLINE_MS: u64 = 3_600_000;

/// The most operations in one `memory.batch`.
pub const BATCH_OPERATIONS: usize = 1000;

/// The most conversations in one `trajectory.compress`. More are `invalid_params`.
pub const TRAJECTORIES: usize = 1000;

/// The most bytes of the configuration in `trajectory.compress`. A longer one is `invalid_params`.
pub const TRAJECTORY_CONFIG: usize = 64 << 10;

/// The most bytes of a summary in the params of `trajectory.compress`. A longer one is `invalid_params`.
pub const TRAJECTORY_SUMMARY: usize = 1 << 20;

/// The most bytes of an error message, which may quote parts of the request.
pub const ERROR_TEXT: usize = 4_000;

/// Cuts an error message to [`ERROR_TEXT`] bytes at a char boundary and appends `…`.
pub fn cut_error(message: &mut String) {
    if message.len() > ERROR_TEXT {
        message.truncate(message.floor_char_boundary(ERROR_TEXT));
        message.push('…');
    }
}
