//! Input: any text to index and search: its words, and the snippet that is shown.

use herma_archive::snippet::snippet;
use herma_archive::text_of;
use herma_archive::token::{lower, normalise, pairs, runs, tokens};

use crate::text;

/// Checks one input.
pub fn run(data: &[u8]) {
    let text = text(data);
    let normal = normalise(text);
    for run in runs(&normal) {
        pairs(run.text).for_each(|pair| assert!(!pair.is_empty()));
    }
    drop((tokens(text), lower(text), text_of(text)));
    let (query, said) = text.split_once('\n').unwrap_or(("a", text));
    drop(snippet(said, query, &[]));
}
