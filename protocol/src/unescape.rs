//! The text of a JSON string, made where the string is: a large text would otherwise take
//! its room twice.

use std::ops::Range;

/// The text of a JSON string with its quotes, that a parser has taken for one.
///
/// # Errors
/// An escape that stands for no char, such as one half of a surrogate pair.
pub(crate) fn unescape(quoted: &str) -> Result<String, &'static str> {
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    unescape_within(inner.as_bytes().to_vec(), 0..inner.len())
}

/// The text of the JSON string that stands, without its quotes, in this part of `bytes`.
///
/// # Errors
/// As [`unescape`], and bytes that are not UTF-8.
pub(crate) fn unescape_within(mut bytes: Vec<u8>, inner: Range<usize>) -> Result<String, &'static str> {
    let (mut from, mut written) = (inner.start, 0);
    bytes.truncate(inner.end);
    while let Some(length) = memchr::memchr(b'\\', bytes.get(from..).ok_or(CUT)?) {
        bytes.copy_within(from..from + length, written);
        written += length;
        from += length + 1;
        let (char, used) = escape(bytes.get(from..).ok_or(CUT)?)?;
        from += used;
        // What an escape stands for is never longer than the escape.
        let mut encoded = [0; 4];
        for byte in char.encode_utf8(&mut encoded).bytes() {
            *bytes.get_mut(written).ok_or(CUT)? = byte;
            written += 1;
        }
    }
    let rest = bytes.len() - from;
    bytes.copy_within(from.., written);
    bytes.truncate(written + rest);
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8")
}

const CUT: &str = "an escape in it is cut short";
const LONE: &str = "an escape in it is one half of a surrogate pair";

/// The char that an escape stands for, and the bytes that it has after its backslash.
fn escape(bytes: &[u8]) -> Result<(char, usize), &'static str> {
    let plain = match bytes.first().ok_or(CUT)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => {
            let first = unit(bytes.get(1..5))?;
            if !(0xD800..0xE000).contains(&first) {
                return char::from_u32(first).map(|char| (char, 5)).ok_or(LONE);
            }
            if bytes.get(5..7) != Some(br"\u") || first >= 0xDC00 {
                return Err(LONE);
            }
            let second = unit(bytes.get(7..11))?;
            if !(0xDC00..0xE000).contains(&second) {
                return Err(LONE);
            }
            let both = 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00);
            return char::from_u32(both).map(|char| (char, 11)).ok_or(LONE);
        }
        quoted => char::from(*quoted),
    };
    Ok((plain, 1))
}

fn unit(digits: Option<&[u8]>) -> Result<u32, &'static str> {
    let digits = digits.and_then(|digits| std::str::from_utf8(digits).ok()).ok_or(CUT)?;
    u32::from_str_radix(digits, 16).map_err(|_| CUT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_what_the_parser_says() {
        for text in
            ["", "plain", "\"\\/\u{8}\u{c}\n\r\t", "é日本😀", "ends with \\", "\u{0}\u{1f}\u{7f}\u{2028}", "\u{ffff}"]
        {
            for json in [serde_json::to_string(text).unwrap_or_default(), ascii(text)] {
                assert_eq!(serde_json::from_str::<String>(&json).ok().as_deref(), Some(text), "{json}");
                assert_eq!(unescape(&json).as_deref(), Ok(text), "{json}");
            }
        }
        assert_eq!(unescape(r#""\/""#).as_deref(), Ok("/"));
    }

    #[test]
    fn halves_of_pairs_stand_for_nothing() {
        for json in
            [r#""\ud83d""#, r#""\ud83d\n""#, r#""\ud83dA""#, r#""\udc00\ud83d""#, r#""\ud83d\ud83d""#, r#""\udc00""#]
        {
            assert!(serde_json::from_str::<String>(json).is_err(), "{json}");
            assert!(unescape(json).is_err(), "{json}");
        }
    }

    /// The same with everything escaped.
    fn ascii(text: &str) -> String {
        let units: String = text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
        format!("\"{units}\"")
    }
}
