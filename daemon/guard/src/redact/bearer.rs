//! Pass 4: the token of an `Authorization: Bearer` header.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::{Edit, Shown};

/// What may stand round the header's name and value where it is part of a program or of JSON.
const QUOTES: [char; 3] = ['"', '\'', '`'];

#[expect(clippy::expect_used, reason = "one word is far below the automaton's limits")]
static HEADER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(["authorization"]).expect("a word fits into an automaton")
});

pub(super) fn edits(text: &str, shown: Shown) -> Vec<Edit> {
    let headers = HEADER.find_iter(text);
    headers.filter_map(|name| token(text, name.end(), shown)).collect()
}

/// The token of the header whose name ends at `from`.
fn token(text: &str, from: usize, shown: Shown) -> Option<Edit> {
    let rest = &text[from..];
    let rest = rest.strip_prefix(QUOTES).unwrap_or(rest);
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    let rest = rest.strip_prefix(QUOTES).unwrap_or(rest);
    let (scheme, rest) = rest.split_at_checked("bearer".len())?;
    let credentials = rest.trim_start();
    if !scheme.eq_ignore_ascii_case("bearer") || credentials.len() == rest.len() {
        return None;
    }
    let token = credentials.split(|c: char| c.is_whitespace() || QUOTES.contains(&c)).next()?;
    let start = text.len() - credentials.len();
    (!token.is_empty()).then(|| Edit { range: start..start + token.len(), with: shown.of(token) })
}
