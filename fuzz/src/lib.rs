//! What the fuzz targets share.

/// The line of a journal or catalog whose checksum is right, from `kind{…}`. No mutation finds a
/// checksum.
#[must_use]
pub fn sealed(line: &[u8]) -> Vec<u8> {
    let start = line.iter().position(|byte| *byte == b'{').unwrap_or(line.len());
    let (kind, body) = line.split_at(start);
    let crc = crc32fast::hash(body);
    [format!("{{\"crc\":\"{crc:08x}\",\"").as_bytes(), kind, b"\":", body, b"}\n"].concat()
}

/// The lines of a text, those that begin with no brace sealed.
pub fn lines(text: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    text.split(|byte| *byte == b'\n').map(|line| match line.first() {
        Some(b'a'..=b'z') => sealed(line),
        _ => line.to_vec(),
    })
}
