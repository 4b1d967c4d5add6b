//! JSON text as it stands: skipped, walked through, decoded and measured, never made a tree.
//!
//! * [`closing_quote`] and [`string_end`] skip a string, [`value_end`] any value.
//! * [`members`], [`items`], [`fields`] and [`member`] walk through objects and lists.
//! * [`decode`], [`decode_head`] and [`Pieces`] give the text of a string, whatever its escapes;
//!   [`unescape`] and [`unescape_within`] refuse an escape that stands for no char, and the latter
//!   works where the string is, without a copy.
//! * [`check_depth`] refuses a text that nests too deep, [`StringLength`] and [`canonical_chars`]
//!   say how long a text would be in another form. [`whole_number`] is the one form of a whole number.
//!
//! * [`replace_lone_surrogates`] replaces the halves of a char that a program cut in its middle,
//!   and [`ScalarFinder`] finds one member of what no parser can read.
//!
//! * [`terminal`] takes the escape sequences of terminals out of the text that a string holds.
//!
//! Only [`check_depth`], [`replace_lone_surrogates`], [`ScalarFinder`] and [`terminal`] are meant for text of which
//! nothing is known. All other functions take text
//! that a parser has accepted; on another one they return something harmless, never panic and
//! never loop. Each reads its text once.
//!
//! Invariant: the crate does no I/O, knows no other room, and of other crates only `memchr`.

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
