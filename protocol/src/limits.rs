//! Every limit of the wire, by name. Nothing that came from outside is used as
//! a size before it was compared with one of these.

/// Largest frame or line in bytes, unless configured otherwise. A longer one is
/// answered with `too_large` and the connection ends, for the rest of the
/// stream cannot be told apart from the frame's body.
pub const FRAME: usize = 64 << 20;

/// Upper end of what `limits.frame` may be configured to, in bytes: the length
/// prefix is 32 bits wide and bincode's own limit is a constant.
pub const FRAME_CEILING: usize = 1 << 30;

/// Attachments of one binary frame. A frame with more is none; what is beyond them
/// travels in the JSON.
pub const ATTACHMENTS: usize = 4096;

/// Bytes of all connections that are being read or answered at one time, unless
/// configured otherwise. Past it, reading pauses.
pub const IN_FLIGHT: usize = 512 << 20;

/// Frames up to this many bytes are never counted against [`IN_FLIGHT`]: with
/// [`CONNECTIONS`] and [`REQUESTS`] they are bounded anyway.
pub const SMALL_FRAME: usize = 64 << 10;

/// Connections at one time, unless configured otherwise. The next one is
/// answered `busy` and closed.
pub const CONNECTIONS: usize = 1024;

/// Requests in flight per connection. Past it, reading pauses until one is
/// answered.
pub const REQUESTS: usize = 64;

/// Requests in one JSON-RPC batch. A longer batch is `too_large`.
pub const BATCH: usize = 1000;

/// Nesting depth of a JSON line or a JSON text. Deeper ones are `parse_error`.
pub const DEPTH: usize = 128;

/// Bytes of a request's `id` in its JSON form. A longer one is
/// `invalid_request`.
pub const REQUEST_ID: usize = 256;

/// Seconds that a connection has to finish its preface once it began one.
pub const HANDSHAKE_S: u64 = 5;

/// Seconds without one byte of progress in the middle of a frame, or of a
/// reply, after which the connection is closed.
pub const STALL_S: u64 = 30;

/// Seconds that a frame of more than [`SMALL_FRAME`] bytes may take to arrive,
/// however steadily it drips: it holds a share of the bytes in flight.
pub const FRAME_S: u64 = 120;

/// Bytes of one text of a memory write. Longer ones are `too_large`: they are
/// beyond every store, and would only be scanned.
pub const ENTRY: usize = 1 << 20;

/// Results in one `output.settle_turn`.
pub const TURN_RESULTS: usize = 1000;

/// Chars of a session id, an agent name, a tool name or a title. Longer ones
/// are `invalid_params`.
pub const NAME: usize = 1024;

/// Chars of a path that is only shown. Longer ones are `invalid_params`.
pub const PATH: usize = 4096;

/// Chars of an idempotency key. Longer ones are `invalid_params`.
pub const IDEMPOTENCY_KEY: usize = 256;

/// Seconds for which a repeated mutation with the same idempotency key answers
/// the first result.
pub const IDEMPOTENCY_S: u64 = 600;

/// Bytes that all remembered results of idempotent mutations take, with their keys and
/// what it takes to find them. Past it the oldest are forgotten.
pub const IDEMPOTENCY_BYTES: usize = 64 << 20;

/// Longest deadline that a request may ask for, in milliseconds (one hour).
pub const DEADLINE_MS: u64 = 3_600_000;

/// Operations in one `memory.batch`.
pub const BATCH_OPERATIONS: usize = 1000;

/// Conversations in one `trajectory.compress`. More are `invalid_params`.
pub const TRAJECTORIES: usize = 1000;

/// Bytes of the configuration of a `trajectory.compress`. A longer one is `invalid_params`.
pub const TRAJECTORY_CONFIG: usize = 64 << 10;

/// Bytes of a summary that the caller of `trajectory.compress` gives. A longer one is
/// `invalid_params`.
pub const TRAJECTORY_SUMMARY: usize = 1 << 20;

/// Bytes of an error's message: what is wrong may quote what was sent.
pub const ERROR_TEXT: usize = 4_000;

/// Cuts the message of an error to [`ERROR_TEXT`] bytes, at the end of a char, and marks that.
pub fn cut_error(message: &mut String) {
    if message.len() > ERROR_TEXT {
        message.truncate(message.floor_char_boundary(ERROR_TEXT));
        message.push('…');
    }
}
