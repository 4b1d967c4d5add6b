//! Works on JSON text in place: skips, walks, decodes and measures it without building a tree.
//!
//! * [`closing_quote`] and [`string_end`] skip a string, [`value_end`] any value.
//! * [`members`], [`items`], [`fields`] and [`member`] walk through objects and lists.
//! * [`decode`], [`decode_head`] and [`Pieces`] return the text of a string, whatever its escapes.
//! * [`unescape`] and [`unescape_within`] refuse an escape that encodes no char; the latter decodes
//!   in place, without a copy.
//! * [`check_depth`] refuses a text that nests too deep.
//! * [`StringLength`] and [`canonical_chars`] return how long a text would be in another form.
//! * [`whole_number`] is the canonical form of a whole number.
//! * [`replace_lone_surrogates`] replaces the halves of a char that a program cut in the middle.
//! * [`ScalarFinder`] finds one member of a text that no parser can read.
//! * [`terminal`] removes terminal escape sequences from the text in a string.
//!
//! Only [`check_depth`], [`replace_lone_surrogates`], [`ScalarFinder`] and [`terminal`] accept
//! arbitrary text. All other functions expect text that a parser has accepted. On any other text
//! their result is meaningless, but they never panic and never loop. Each function reads its text
//! once.
//!
//! Invariant: the crate does no I/O, uses no other crate of herma, and of external crates only `memchr`.

mod decode;
mod depth;
mod escape;
mod length;
mod number;
mod scalar;
mod search;
mod string;
mod surrogate;
pub mod terminal;
#[cfg(test)]
mod tests;
mod unescape;
mod walk;

pub use decode::{Piece, Pieces, decode, decode_head, is_blank};
pub use depth::{TooDeep, check_depth};
pub use escape::EscapeError;
pub use length::{StringLength, canonical_chars};
pub use number::whole_number;
pub use scalar::ScalarFinder;
pub use string::{closing_quote, string_end};
pub use surrogate::replace_lone_surrogates;
pub use unescape::{UnescapeError, unescape, unescape_within};
pub use walk::{fields, items, member, members, start, value_end};
