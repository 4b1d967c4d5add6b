//! An index of exact strings in the replaced turns: decisions, errors, commands, URLs, hashes, issue numbers,
//! measures and paths, word for word.
//!
//! It reads the turns as they were before pruning. Rare shapes count more than common ones: a line whose
//! shape occurs thousands of times in a log says little, one with a unique shape says much. The index does
//! not interpret the text. It finds strings, ranks them and cuts them to a budget.

mod calls;
mod decision;
mod gather;
mod kind;
mod measure;
mod rank;
mod render;
mod shape;
mod snippet;

pub use gather::gather;
pub(crate) use gather::with_lists;
pub use kind::Kind;
pub(crate) use measure::{Prose, is_decision, kind_of};
pub use rank::Anchor;
pub(crate) use render::parse;
pub use render::{Rendered, render};

#[cfg(test)]
mod tests;
