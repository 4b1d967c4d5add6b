//! The programs `herma` and `hermad`, run as processes. Because these tests are here, `cargo test --workspace` also
//! builds both programs, which the tests of `herma-tests` need.

mod commands;
mod herma;
mod hermad;
