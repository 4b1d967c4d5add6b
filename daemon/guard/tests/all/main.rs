//! Tests of the guard's public interface. They are one program, because each test program is linked separately.

mod corpus;
mod folding;
mod invisible;
mod linear;
mod properties;
mod redaction;
mod severity;
mod threats;
