//! The tokens of a message in the wire format of PostgreSQL's `tsvector`.

use std::collections::BTreeMap;
use std::error::Error;

use bytes::BytesMut;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// The maximum number of bytes of all tokens of one message. A `tsvector` may have 2^20 with its overhead. Later tokens
/// are not found.
const MOST: usize = 700_000;

/// Bytes that a `tsvector` needs for a token and for each of its positions, in addition to the token.
const FOR_TOKEN: usize = 8;
const FOR_PLACE: usize = 2;

/// The last position of a `tsvector`, and the maximum number of positions of one token.
const LAST_PLACE: u16 = 16_383;
const PLACES: usize = 255;

/// Tokens with their positions; some have none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Tokens {
    places: BTreeMap<String, Vec<u16>>,
}

impl Tokens {
    /// Builds the tokens from words in their order, and others without positions, both separated by spaces.
    pub(super) fn new(words: &str, others: &str) -> Self {
        let mut tokens = Self::default();
        let mut left = MOST;
        for (at, word) in (1_u16..=LAST_PLACE).chain(std::iter::repeat(LAST_PLACE)).zip(words.split_whitespace()) {
            let is_known = tokens.places.contains_key(word);
            let costs = FOR_PLACE + if is_known { 0 } else { FOR_TOKEN + word.len() };
            if costs > left {
                break;
            }
            let places = tokens.places.entry(word.to_owned()).or_default();
            if places.len() < PLACES && places.last() != Some(&at) {
                places.push(at);
                left -= costs;
            }
        }
        for other in others.split_whitespace() {
            if !tokens.places.contains_key(other) && FOR_TOKEN + other.len() <= left {
                left -= FOR_TOKEN + other.len();
                tokens.places.insert(other.to_owned(), Vec::new());
            }
        }
        tokens
    }
}

/// The format of `tsvectorsend` and `tsvectorrecv` in PostgreSQL's src/backend/utils/adt/tsvector.c. It has the number
/// of tokens, then each token with a NUL after it, the number of its positions, and the positions. The upper two bits
/// of a position are its weight.
impl ToSql for Tokens {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.extend_from_slice(&i32::try_from(self.places.len())?.to_be_bytes());
        for (token, places) in &self.places {
            out.extend_from_slice(token.as_bytes());
            out.extend_from_slice(&[0]);
            out.extend_from_slice(&u16::try_from(places.len())?.to_be_bytes());
            places.iter().for_each(|place| out.extend_from_slice(&place.to_be_bytes()));
        }
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::TS_VECTOR
    }

    to_sql_checked!();
}

/// Returns a query for any of these tokens.
pub(super) fn any<'a>(tokens: impl IntoIterator<Item = &'a str>) -> String {
    tokens.into_iter().map(quoted).collect::<Vec<_>>().join(" | ")
}

/// Returns a query for tokens that begin with this one.
pub(super) fn beginning(token: &str) -> String {
    format!("{}:*", quoted(token))
}

/// Returns a query for tokens that follow each other.
pub(super) fn sequence(tokens: &[String]) -> String {
    tokens.iter().map(|token| quoted(token)).collect::<Vec<_>>().join(" <-> ")
}

/// Quotes a token for a `tsquery`.
fn quoted(token: &str) -> String {
    format!("'{}'", token.replace('\\', "\\\\").replace('\'', "''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_their_places_within_what_can_be_kept() {
        let tokens = Tokens::new("b a b", "c a");
        let places: Vec<(&str, &[u16])> = tokens.places.iter().map(|(token, at)| (token.as_str(), &at[..])).collect();
        assert_eq!(places, [("a", &[2][..]), ("b", &[1, 3]), ("c", &[])]);
        let many: String = (0..100_000).map(|number| format!("word{number} ")).collect();
        let tokens = Tokens::new(&many, &many);
        let bytes: usize = tokens.places.keys().map(|token| FOR_TOKEN + FOR_PLACE + token.len()).sum();
        assert!(bytes <= MOST && tokens.places.len() > 30_000, "{bytes}");
        let same = Tokens::new(&"x ".repeat(100_000), "");
        assert_eq!(same.places.get("x").map(Vec::len), Some(PLACES));
        let far = format!("{} end", "x y ".repeat(20_000));
        assert_eq!(Tokens::new(&far, "").places.get("end"), Some(&vec![LAST_PLACE]));
    }

    #[test]
    fn a_token_can_t_end_its_quotes() {
        assert_eq!(any(["it's", "a\\b"]), r"'it''s' | 'a\\b'");
        assert_eq!((beginning("x"), sequence(&["a".into(), "b".into()])), ("'x':*".into(), "'a' <-> 'b'".into()));
    }
}
