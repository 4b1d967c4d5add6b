//! What the guard reports and masks, seen from outside. One program, because each one is linked by itself.

mod corpus;
mod folding;
mod invisible;
mod linear;
mod properties;
mod redaction;
mod severity;
mod threats;
