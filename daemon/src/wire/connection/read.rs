//! Reads incoming bytes, with room for the rest of the frame.

use herma_protocol::frame::Decoder;
use tokio::io::AsyncReadExt;

use crate::wire::buffers::Buffers;
use crate::wire::transport::Stream;

/// The smallest size of one read, in bytes.
const MIN_READ: usize = 8 << 10;

/// A buffer up to this size, in bytes, grows. A larger one comes from the pool.
const MAX_UNPOOLED: usize = 64 << 10;

/// The largest size of one read, in bytes.
const LARGE_READ: usize = 1 << 20;

/// Reads once into the decoder. Returns the number of bytes; 0 at the end.
pub(super) async fn read(mut stream: &Stream, decoder: &mut Decoder, buffers: &Buffers) -> std::io::Result<usize> {
    let (have, missing) = decoder.partial().map_or((0, 0), |partial| {
        (partial.have, partial.need.map_or(partial.have, |need| need.saturating_sub(partial.have)))
    });
    let room = missing.clamp(MIN_READ, LARGE_READ);
    let buffer = decoder.buffer();
    if buffer.is_empty() && buffer.capacity() > LARGE_READ {
        buffers.give(std::mem::take(buffer));
    }
    if have + room > buffer.capacity().max(MAX_UNPOOLED) {
        let mut larger = buffers.take(have + missing);
        if larger.capacity() > buffer.capacity() {
            larger.extend_from_slice(buffer);
            buffers.give(std::mem::replace(buffer, larger));
        }
    }
    buffer.reserve(room);
    stream.read_buf(buffer).await
}
