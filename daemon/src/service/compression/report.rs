//! The report of a compression.

use std::time::Instant;

use herma_context::cache::Prices;
use herma_context::engine::{Over, Scored};
use herma_context::{pressure, tokens};

use super::commit::Done;
use super::run::RunReport;
use super::{SentList, due, pins};
use crate::data::clock::unix_now;
use crate::data::event::{CompressionReport, Size};
use crate::data::summarizer_kind::Kind;
use crate::service::engine_record::EngineRecord;
use crate::service::session::Session;

/// The number of compressions of a session at which the caller is warned.
const MANY: u64 = 2;

/// The data that each report needs.
pub(super) struct Frame<'a> {
    pub session: &'a Session,
    pub record: &'a EngineRecord,
    pub chain: &'a [Kind],
    pub started: Instant,
}

impl Frame<'_> {
    /// Returns the report about a list that became shorter, at these prices.
    pub(super) fn done(&self, done: &Done, sent: &SentList, prices: Prices) -> CompressionReport {
        let numbers = done.compressed.numbers;
        let over = done.compressed.over.clone();
        let mut report = self.common(&done.report, over);
        let unpinned: Vec<usize> = done.compressed.unpinned.iter().map(|at| sent.position(*at)).collect();
        let scored =
            |all: &[Scored]| all.iter().map(|one| Scored { index: sent.position(one.index), ..one.clone() }).collect();
        report.warnings.extend(self.warnings(done.is_ineffective, numbers.tokens_after));
        report.warnings.extend(pins::warning(&unpinned));
        CompressionReport {
            reason: None,
            before: Size { messages: sent.list().len(), chars: numbers.chars_before, tokens: numbers.tokens_before },
            after: Size { messages: numbers.messages_after, chars: numbers.chars_after, tokens: numbers.tokens_after },
            head: sent.position(numbers.head),
            tail: sent.last(numbers.tail),
            pruned: numbers.pruned,
            dropped: numbers.dropped,
            constraints: numbers.constraints,
            anchors: numbers.anchors,
            archived: Some((done.handle.clone(), done.compressed.removed.len())),
            summarizer: done.by,
            unverified: done.report.unverified.clone(),
            verbatim: scored(&done.compressed.verbatim),
            shortened: scored(&done.compressed.shortened),
            invalidated_tokens: done.compressed.sizes.invalidated(),
            pays_after_calls: done.compressed.sizes.pays_after(prices),
            pinned: done.compressed.pinned,
            discarded: done.compressed.discarded,
            episodes: done.compressed.episodes,
            ..report
        }
    }

    /// Returns the report about a list that is returned unchanged.
    pub(super) fn unchanged(
        &self,
        why: String,
        sent: &SentList,
        report: &RunReport,
        over: Option<Over>,
    ) -> CompressionReport {
        let measure = tokens::Measure::of_all(sent.messages());
        let size = Size { messages: sent.list().len(), chars: measure.chars, tokens: measure.tokens() };
        CompressionReport { reason: Some(why), before: size, after: size, ..self.common(report, over) }
    }

    fn common(&self, report: &RunReport, over: Option<Over>) -> CompressionReport {
        let engine = &self.record.engine;
        let mut warnings = report.warnings.clone();
        warnings.extend(over.as_ref().map(Over::warning));
        CompressionReport {
            reason: None,
            session: self.session.id.clone(),
            generation: self.session.generation(),
            before: Size::default(),
            after: Size::default(),
            head: 0,
            tail: 0,
            pruned: 0,
            dropped: 0,
            constraints: 0,
            anchors: 0,
            archived: None,
            summarizer: self.chain.first().copied().unwrap_or(Kind::Extractive),
            fallback: engine.fallback,
            aborted: engine.aborted,
            aux_failure: report.aux_failure.clone(),
            error: engine.last_error.clone(),
            savings_pct: engine.savings_pct,
            ineffective_count: engine.ineffective_count,
            compression_count: engine.compression_count,
            cooldown_s: due::cooldown_s(self.record, self.chain, unix_now()),
            unverified: Vec::new(),
            warnings,
            elapsed_s: self.started.elapsed().as_secs_f64(),
            over,
            verbatim: Vec::new(),
            shortened: Vec::new(),
            invalidated_tokens: 0,
            pays_after_calls: None,
            pinned: 0,
            discarded: 0,
            episodes: 0,
            folded: Vec::new(),
        }
    }

    fn warnings(&self, is_ineffective: bool, tokens: u64) -> Vec<String> {
        let mut warnings = Vec::new();
        let window = self.session.window().unwrap_or_default();
        if pressure::is_still_full(tokens, window) {
            warnings.push(pressure::still_full_warning(tokens, window));
        }
        let count = self.record.engine.compression_count;
        if count >= MANY {
            warnings.push(format!(
                "this conversation was compressed {count} times; accuracy may fall, and a new session with the open \
                 points would help"
            ));
        }
        if is_ineffective {
            warnings.push(
                "this is at least the fourth compression in a row without a call in between; it does not help any \
                 more: what is left is the head, the handoff and the newest messages, so send less of these or use a \
                 larger window"
                    .into(),
            );
        }
        warnings
    }
}
