//! The report of a compression.

use std::time::Instant;

use herma_context::cache::Prices;
use herma_context::engine::{self, Scored};
use herma_context::importance::Importance;
use herma_context::{pressure, tokens};
use herma_protocol::context::report::{Archived, AuxFailure, Over, OverPart, Part, Report, ScoredMessage};

use super::commit::Done;
use super::run::RunReport;
use super::{SentList, due, pins};
use crate::data::clock::unix_now;
use crate::data::numbers::to_u64;
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
    pub(super) fn done(&self, done: &Done, sent: &SentList, prices: Prices) -> Report {
        let compressed = &done.compressed;
        let numbers = compressed.numbers;
        let mut report = self.common(&done.report, compressed.over.as_ref());
        let unpinned: Vec<usize> = compressed.unpinned.iter().map(|at| sent.position(*at)).collect();
        let placed = |all: &[Scored]| all.iter().map(|one| scored(sent.position(one.index), &one.importance)).collect();
        report.warnings.extend(self.warnings(done.is_ineffective, numbers.tokens_after));
        report.warnings.extend(pins::warning(&unpinned));
        Report {
            compressed: true,
            messages_before: to_u64(sent.list().len()),
            chars_before: to_u64(numbers.chars_before),
            tokens_before: numbers.tokens_before,
            messages_after: to_u64(numbers.messages_after),
            chars_after: to_u64(numbers.chars_after),
            tokens_after: numbers.tokens_after,
            head: to_u64(sent.position(numbers.head)),
            tail: to_u64(sent.last(numbers.tail)),
            pruned: to_u64(numbers.pruned),
            dropped: to_u64(numbers.dropped),
            constraints: to_u64(numbers.constraints),
            anchors: to_u64(numbers.anchors),
            archived: Some(Archived { handle: done.handle.clone(), messages: to_u64(compressed.removed.len()) }),
            summarizer: done.by.name().into(),
            unverified: done.report.unverified.clone(),
            verbatim: placed(&compressed.verbatim),
            shortened: placed(&compressed.shortened),
            invalidated_tokens: compressed.sizes.invalidated(),
            pays_after_calls: compressed.sizes.pays_after(prices),
            pinned: to_u64(compressed.pinned),
            discarded: to_u64(compressed.discarded),
            episodes: to_u64(compressed.episodes),
            ..report
        }
    }

    /// Returns the report about a list that is returned unchanged.
    pub(super) fn unchanged(
        &self,
        why: String,
        sent: &SentList,
        report: &RunReport,
        over: Option<&engine::Over>,
    ) -> Report {
        let measure = tokens::Measure::of_all(sent.messages());
        let (messages, chars, tokens) = (to_u64(sent.list().len()), to_u64(measure.chars), measure.tokens());
        Report {
            reason: Some(why),
            messages_before: messages,
            messages_after: messages,
            chars_before: chars,
            chars_after: chars,
            tokens_before: tokens,
            tokens_after: tokens,
            ..self.common(report, over)
        }
    }

    fn common(&self, report: &RunReport, over: Option<&engine::Over>) -> Report {
        let engine = &self.record.engine;
        let mut warnings = report.warnings.clone();
        warnings.extend(over.map(engine::Over::warning));
        Report {
            session: self.session.id.clone(),
            generation: self.session.generation(),
            summarizer: self.chain.first().copied().unwrap_or(Kind::Extractive).name().into(),
            fallback: engine.fallback,
            aborted: engine.aborted,
            aux_failure: report
                .aux_failure
                .as_ref()
                .map(|failure| AuxFailure { model: failure.model.clone(), error: failure.error.clone() }),
            error: engine.last_error.clone(),
            savings_pct: engine.savings_pct,
            ineffective_count: u64::from(engine.ineffective_count),
            compression_count: engine.compression_count,
            cooldown_s: due::cooldown_s(self.record, self.chain, unix_now()),
            warnings,
            elapsed_ms: self.started.elapsed().as_secs_f64() * 1000.0,
            over: over.map(reported_over),
            ..Report::default()
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

/// Returns a message's position and importance as reports and plans contain them.
pub(crate) fn scored(index: usize, importance: &Importance) -> ScoredMessage {
    let reasons = importance.reasons.iter().map(|reason| reason.name().to_owned()).collect();
    ScoredMessage { index: to_u64(index), score: u64::from(importance.score), reasons }
}

fn reported_over(over: &engine::Over) -> Over {
    let parts = over.parts.iter().map(|part| OverPart {
        part: match part.part {
            engine::Part::System => Part::System,
            engine::Part::Head => Part::Head,
            engine::Part::LastExchange => Part::LastExchange,
            engine::Part::Request => Part::Request,
        },
        tokens: part.tokens,
    });
    Over { threshold: over.threshold, tokens: over.tokens, parts: parts.collect() }
}
