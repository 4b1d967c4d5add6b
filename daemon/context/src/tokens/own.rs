//! The script-aware estimate: which script a char belongs to says what it costs.
//!
//! The numbers are thousandths of a token per char, rounded from what common tokenizers give
//! for running text. They are a starting point: the daemon corrects the sum for each session by
//! what the provider reports.

use crate::Message;
use crate::constants::IMAGE_TOKENS;
use crate::json::{Piece, Pieces};
use crate::message::{Content, Part};

/// ASCII: English words, code, JSON.
const ASCII: u64 = 250;
/// Alphabets with many letters a token: accented Latin, Greek, Cyrillic, Armenian, Georgian.
const ALPHABET: u64 = 420;
/// Scripts of which a letter is a third to a half of a token: Hebrew, Arabic, the Indic ones.
const DENSE: u64 = 600;
/// Chinese, Japanese, Korean.
const CJK: u64 = 1_400;
/// Emoji and other symbols beyond the basic plane.
const SYMBOL: u64 = 2_000;
/// What a message costs besides its text.
const MESSAGE_OVERHEAD: u64 = 4_000;
/// Thousandths in a token.
const SCALE: u64 = 1_000;

/// The estimate of a text.
pub fn own_estimate_text(text: &str) -> u64 {
    cost(text).div_ceil(SCALE)
}

/// The estimate of a message list.
pub fn own_estimate_messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> u64 {
    let (mut thousandths, mut images) = (0, 0);
    for message in messages {
        thousandths += MESSAGE_OVERHEAD + content_cost(message);
        for call in message.tool_calls() {
            thousandths += cost(call.name.as_deref().unwrap_or("")) + cost(&message.arguments(call));
        }
        let parts: &[Part] = match message.content() {
            Content::List(parts) => parts,
            Content::Object(object) => &object.parts,
            _ => &[],
        };
        images += parts.iter().filter(|part| part.is_image()).count() as u64;
        images += message.blocks_cost().map_or(0, |(_, images)| images as u64);
    }
    thousandths.div_ceil(SCALE) + images * IMAGE_TOKENS
}

fn content_cost(message: &Message) -> u64 {
    match message.content() {
        Content::Text(span) => Pieces::new(message.slice(*span), 0)
            .map(|piece| match piece {
                Piece::Run(run) => cost(run),
                Piece::Escape(c) => char_cost(c),
            })
            .sum(),
        _ => cost(&message.text()),
    }
}

fn cost(text: &str) -> u64 {
    if text.is_ascii() {
        return text.len() as u64 * ASCII;
    }
    text.chars().map(char_cost).sum()
}

fn char_cost(c: char) -> u64 {
    match u32::from(c) {
        0..0x80 => ASCII,
        0x80..0x590 | 0x10A0..0x1100 | 0x1E00..0x2000 => ALPHABET,
        0x590..0x10A0 | 0x1200..0x1E00 => DENSE,
        0x2000..0x2E80 => DENSE,
        0x1100..0x1200 | 0x2E80..0xFE00 | 0xFF00..0xFFF0 | 0x20000..0x34000 => CJK,
        0xFE00..0x10000 => DENSE,
        _ => SYMBOL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_cost_what_tokenizers_make_of_them() {
        for (text, low, high) in [
            ("The quick brown fox jumps over the lazy dog.", 9, 13),
            ("Съешь ещё этих мягких французских булок", 13, 20),
            ("上下文压缩会保留用户的规则", 13, 22),
            ("コンテキストを圧縮する", 10, 18),
            ("", 0, 0),
        ] {
            let tokens = own_estimate_text(text);
            assert!((low..=high).contains(&tokens), "{text}: {tokens}");
        }
    }

    #[test]
    fn an_image_counts_flat() {
        let raw = r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:AAAA"}}]}"#;
        let message = Message::parse(raw).unwrap();
        assert_eq!(own_estimate_messages([&message]), 1_504);
    }
}
