//! The report of a compression.

use herma_context::engine::{Over, Part};
use herma_context::importance::Importance;
use herma_protocol::context::{
    Archived, AuxFailure, Over as WireOver, OverPart as WireOverPart, Part as WirePart, Report, ScoredMessage,
};

use crate::data::event::CompressionReport;
use crate::data::numbers::to_u64;

/// Converts a report for answers and notifications.
pub(in crate::wire) fn wire(report: &CompressionReport) -> Report {
    let archived = report.archived.as_ref();
    let failure = report.aux_failure.clone();
    Report {
        compressed: report.reason.is_none(),
        reason: report.reason.clone(),
        generation: report.generation,
        session: report.session.clone(),
        messages_before: to_u64(report.before.messages),
        messages_after: to_u64(report.after.messages),
        chars_before: to_u64(report.before.chars),
        chars_after: to_u64(report.after.chars),
        tokens_before: report.before.tokens,
        tokens_after: report.after.tokens,
        head: to_u64(report.head),
        tail: to_u64(report.tail),
        pruned: to_u64(report.pruned),
        archived: archived.map(|(handle, messages)| Archived { handle: handle.clone(), messages: to_u64(*messages) }),
        summarizer: report.summarizer.name().into(),
        fallback: report.fallback,
        aborted: report.aborted,
        dropped: to_u64(report.dropped),
        aux_failure: failure.map(|failure| AuxFailure { model: failure.model, error: failure.error }),
        error: report.error.clone(),
        savings_pct: report.savings_pct,
        ineffective_count: u64::from(report.ineffective_count),
        compression_count: report.compression_count,
        cooldown_s: report.cooldown_s,
        constraints: to_u64(report.constraints),
        anchors: to_u64(report.anchors),
        unverified: report.unverified.clone(),
        warnings: report.warnings.clone(),
        elapsed_ms: report.elapsed_s * 1000.0,
        over: report.over.as_ref().map(wire_over),
        invalidated_tokens: report.invalidated_tokens,
        pays_after_calls: report.pays_after_calls,
        pinned: to_u64(report.pinned),
        discarded: to_u64(report.discarded),
        episodes: to_u64(report.episodes),
        folded: report.folded.clone(),
        verbatim: report.verbatim.iter().map(|one| scored(one.index, &one.importance)).collect(),
        shortened: report.shortened.iter().map(|one| scored(one.index, &one.importance)).collect(),
    }
}

/// Converts a message's score.
pub(super) fn scored(index: usize, importance: &Importance) -> ScoredMessage {
    let reasons = importance.reasons.iter().map(|reason| reason.name().to_owned()).collect();
    ScoredMessage { index: to_u64(index), score: u64::from(importance.score), reasons }
}

fn wire_over(over: &Over) -> WireOver {
    let parts = over.parts.iter().map(|part| WireOverPart {
        part: match part.part {
            Part::System => WirePart::System,
            Part::Head => WirePart::Head,
            Part::LastExchange => WirePart::LastExchange,
            Part::Request => WirePart::Request,
        },
        tokens: part.tokens,
    });
    WireOver { threshold: over.threshold, tokens: over.tokens, parts: parts.collect() }
}
