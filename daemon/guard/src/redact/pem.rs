//! Pass 6: private keys in PEM armour.

use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{Edit, MaskStyle, run_end};

/// The replacement for a whole block.
const REDACTED: &str = "[REDACTED PRIVATE KEY]";

const KIND: &str = "PRIVATE KEY";
const DASHES: &str = "-----";

static BEGIN: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("-----BEGIN"));
static END: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("-----END"));

pub(super) fn edits(text: &str, _: MaskStyle) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut done = 0;
    while let Some((start, header_end)) = armour_line(text, done, &BEGIN) {
        // If no end follows here, none follows any later block either.
        let Some((_, end)) = armour_line(text, header_end, &END) else {
            break;
        };
        edits.push(Edit { range: start..end, with: REDACTED.to_owned() });
        done = end;
    }
    edits
}

/// Returns start and end of the first armour line of a private key after `from`: `-----BEGIN` or
/// `-----END`, capitals and spaces that end in `PRIVATE KEY`, `-----`.
fn armour_line(text: &str, from: usize, opening: &Finder<'_>) -> Option<(usize, usize)> {
    opening.find_iter(&text.as_bytes()[from..]).find_map(|at| {
        let start = from + at;
        let label = start + opening.needle().len();
        let label_end = run_end(text, label, |byte| byte.is_ascii_uppercase() || byte == b' ');
        let is_key = text[label..label_end].ends_with(KIND);
        let is_closed = text[label_end..].starts_with(DASHES);
        (is_key && is_closed).then_some((start, label_end + DASHES.len()))
    })
}
