//! The threat scan: invisible characters, then patterns.
//!
//! A text is searched in its raw form and as a reader sees it ([`fold`]); a match in either form counts.

use crate::finding::Hit;
use crate::{Finding, Policy, Scope, fold, invisible, patterns, threat_message};

/// Returns all findings in `text`. First come the invisible characters: one finding for each
/// distinct one, in order of appearance. Then come the patterns of `scope` in their fixed order,
/// each with its first match in the raw text, or else in the folded text.
///
/// Every finding has the severity to block; [`Policy::scan`] uses the configured severities.
pub fn scan(text: &str, scope: Scope) -> Vec<Finding> {
    Policy::default().scan(text, scope)
}

/// Returns a message for people and models about the first finding at `scope`; `None` for a clean
/// text. It names the words and their position, and shows no secret.
pub fn first_threat_message(text: &str, scope: Scope) -> Option<String> {
    scan(text, scope).first().map(|finding| threat_message(finding, text))
}

/// Returns all hits in a text, in the order of [`scan`].
pub(crate) fn hits(text: &str, scope: Scope) -> Vec<Hit> {
    let mut hits = patterns::no_hits();
    if text.is_ascii() {
        patterns::find(text.as_bytes(), scope, &mut hits);
        return raw_hits(hits).collect();
    }
    let fold::Folded { view, has_all } = fold::folded(text);
    let mut folded = patterns::no_hits();
    if has_all {
        patterns::find(&view, scope, &mut folded);
    }
    if has_all && folded.iter().all(Option::is_none) {
        return invisible::find(text);
    }
    let may_be_raw = |pattern: usize| !has_all || folded[pattern].is_some();
    patterns::find_among(&fold::raw(text), scope, may_be_raw, &mut hits);
    if !has_all {
        folded.clone_from(&hits);
        patterns::find(&view, scope, &mut folded);
    }
    folded.iter_mut().zip(&hits).filter(|(_, raw)| raw.is_some()).for_each(|(folded, _)| *folded = None);
    map_back(text, &mut folded);
    let merged = hits.into_iter().zip(folded).map(|(raw, folded)| (raw.is_none(), raw.or(folded)));
    let patterns = patterns::ids().zip(merged);
    let patterns = patterns.filter_map(|(id, (folded, chars))| Some(Hit { id, chars: chars?, folded }));
    invisible::find(text).into_iter().chain(patterns).collect()
}

/// Converts hits in a raw view, whose positions are those of the text.
fn raw_hits(hits: patterns::Hits) -> impl Iterator<Item = Hit> {
    let hits = patterns::ids().zip(hits);
    hits.filter_map(|(id, chars)| Some(Hit { id, chars: chars?, folded: false }))
}

/// Converts positions in the folded view to positions in the text.
fn map_back(text: &str, hits: &mut patterns::Hits) {
    let mut bytes: Vec<usize> = hits.iter().flatten().flat_map(|hit| [hit.start, hit.end - 1]).collect();
    if bytes.is_empty() {
        return;
    }
    bytes.sort_unstable();
    bytes.dedup();
    let places = fold::places(text, &bytes);
    let place_of = |byte: usize| places[bytes.partition_point(|other| *other < byte)];
    for hit in hits.iter_mut().flatten() {
        *hit = place_of(hit.start).0..place_of(hit.end - 1).1;
    }
}
