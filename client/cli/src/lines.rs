//! Files of lines that may be of any length.

use std::io::BufRead;

/// Skips the rest of a line whose read part ends with `last`. Returns the number of skipped bytes.
pub(crate) fn skip_line(source: &mut impl BufRead, last: Option<&u8>) -> std::io::Result<u64> {
    let mut skipped = 0;
    let mut is_over = last == Some(&b'\n');
    while !is_over {
        let part = source.fill_buf()?;
        let newline = part.iter().position(|byte| *byte == b'\n');
        let used = newline.map_or(part.len(), |at| at + 1);
        is_over = newline.is_some() || part.is_empty();
        source.consume(used);
        skipped += used as u64;
    }
    Ok(skipped)
}
