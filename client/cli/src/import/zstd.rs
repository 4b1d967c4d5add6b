//! Texts that a program keeps compressed in a database.

use std::io::Read;

use ruzstd::decoding::StreamingDecoder;

/// The largest text in bytes.
const LARGEST: u64 = 256 << 20;

/// Returns the text of a frame of Zstandard (RFC 8878).
pub(super) fn text(frame: &[u8]) -> Result<String, String> {
    let mut decoder = StreamingDecoder::new(frame).map_err(|error| error.to_string())?;
    let mut bytes = Vec::new();
    decoder.by_ref().take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is longer than {} MiB", LARGEST >> 20));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_frame_is_an_error() {
        // "abc" as `zstd` writes it.
        let frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x03, 0x19, 0x00, 0x00, 0x61, 0x62, 0x63];
        assert_eq!(text(&frame).as_deref(), Ok("abc"));
        for length in 0..frame.len() {
            assert!(text(&frame[..length]).is_err(), "{length}");
        }
    }
}
