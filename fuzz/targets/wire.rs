//! Whatever comes over the socket: no panic, and what was read can be written
//! and read again.

#![no_main]

use herma_protocol::binary::{self, ClientFrame, ServerFrame};
use herma_protocol::frame::{Codec, Decoder};
use herma_protocol::jsonrpc;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|stream: &[u8]| {
    let mut decoder = Decoder::new(1 << 16);
    for piece in stream.chunks(61) {
        decoder.buffer().extend_from_slice(piece);
        while let Ok(Some(frame)) = decoder.next_frame() {
            let bytes = decoder.take(&frame);
            match decoder.codec() {
                Some(Codec::Json) => drop(jsonrpc::read_line(&bytes)),
                _ => {
                    drop(binary::read::<ServerFrame>(&bytes));
                    // Bytes are compared, for a number in it may be none.
                    if let Ok(packed) = binary::read::<ClientFrame>(&bytes).and_then(|frame| binary::pack(&frame)) {
                        let again = binary::read::<ClientFrame>(&packed).and_then(|frame| binary::pack(&frame));
                        assert_eq!(again, Ok(packed));
                    }
                }
            }
        }
    }
    drop(decoder.finish());
});
