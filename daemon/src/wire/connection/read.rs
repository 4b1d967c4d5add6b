//! Reads what comes in, with as much room as the frame needs.

use herma_protocol::frame::Decoder;
use tokio::io::AsyncReadExt;

use crate::wire::buffers::Buffers;
use crate::wire::transport::Stream;

/// Bytes that are read at one time at least.
const READ: usize = 8 << 10;

/// A buffer of so many bytes grows; for more, one that was used before is taken.
const SMALL: usize = 64 << 10;

/// Bytes that are read at one time at most.
const LARGE_READ: usize = 1 << 20;

/// Reads once, into the decoder; gives back how many bytes came, 0 at the end.
pub(super) async fn read(mut stream: &Stream, decoder: &mut Decoder, buffers: &Buffers) -> std::io::Result<usize> {
    let (have, missing) = decoder.partial().map_or((0, 0), |partial| {
        (partial.have, partial.need.map_or(partial.have, |need| need.saturating_sub(partial.have)))
    });
    let room = missing.clamp(READ, LARGE_READ);
    let buffer = decoder.buffer();
    if buffer.is_empty() && buffer.capacity() > LARGE_READ {
        buffers.give(std::mem::take(buffer));
    }
    if have + room > buffer.capacity().max(SMALL) {
        let mut larger = buffers.take(have + missing);
        if larger.capacity() > buffer.capacity() {
            larger.extend_from_slice(buffer);
            buffers.give(std::mem::replace(buffer, larger));
        }
    }
    buffer.reserve(room);
    stream.read_buf(buffer).await
}
