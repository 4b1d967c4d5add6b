//! Input: any bytes from the socket. There is no panic, and a parsed message can be written and parsed again, also with
//! the other codec. `.ci/fuzz` bounds the memory.

use herma_protocol::binary::{self, ClientFrame};
use herma_protocol::frame::{Codec, Decoder};
use herma_protocol::jsonrpc::{self, Item, Line};
use herma_protocol::{Header, Incoming, Request};

/// Checks one input.
pub fn run(stream: &[u8]) {
    let mut decoder = Decoder::new(1 << 16);
    for piece in stream.chunks(61) {
        decoder.buffer().extend_from_slice(piece);
        while let Ok(Some(frame)) = decoder.next_frame() {
            let bytes = decoder.take(&frame);
            match decoder.codec() {
                Some(Codec::Json) => {
                    if let Line::One(Item { request: Ok((header, request)), .. }) = jsonrpc::read_line(&bytes) {
                        comes_back(&header, &request);
                    }
                }
                _ => payload(bytes),
            }
        }
    }
    drop(decoder.finish());
    // Most streams are not valid frames. As a payload, each of them reaches deeper code.
    payload(stream.to_vec());
}

/// Parses an envelope with every parser.
fn payload(bytes: Vec<u8>) {
    let read = binary::read_request(&bytes);
    assert_eq!(binary::read_request_taking(&mut bytes.clone()), read);
    if let Ok(ClientFrame { request: Ok((header, request)), .. }) = read {
        comes_back(&header, &request);
    }
    if let Ok(Incoming::Reply(Some(id), outcome)) = binary::read_incoming(bytes) {
        let mut frame = Vec::new();
        assert_eq!(binary::append_reply(id, &outcome, &mut frame), Ok(()));
        assert_eq!(binary::read_incoming(frame.split_off(4)), Ok(Incoming::Reply(Some(id), outcome)));
    }
}

/// Writes a request and reads it again.
fn comes_back(header: &Header, request: &Request) {
    let frame = binary::write_request(7, header, request).map(|mut frame| frame.split_off(4));
    let again = frame.and_then(|payload| binary::read_request(&payload));
    assert_eq!(again, Ok(ClientFrame { id: 7, request: Ok((header.clone(), request.clone())) }));
}
