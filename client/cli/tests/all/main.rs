//! The programs `herma` and `hermad`, run as processes. That these tests are here also makes `cargo test --workspace`
//! build both, which the tests of `herma-tests` need.

mod commands;
mod herma;
mod hermad;
