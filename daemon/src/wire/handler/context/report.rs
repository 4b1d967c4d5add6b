//! What is told of a compression.

use std::time::Instant;

use herma_context::{Message, Over, Part, pressure, tokens};
use herma_protocol::context::{
    Archived, AuxFailure, Over as WireOver, OverPart as WireOverPart, Part as WirePart, Report,
};

use crate::data::clock::unix_now;
use crate::data::summarizer_kind::Kind;
use crate::service::compression::commit::Done;
use crate::service::compression::due;
use crate::service::compression::job::Account;
use crate::service::compression::kept::Kept;
use crate::service::session::Session;
use crate::wire::handler::wide;

/// What every report has.
pub(super) struct Frame<'a> {
    pub session: &'a Session,
    pub kept: &'a Kept,
    pub chain: &'a [Kind],
    pub started: Instant,
}

impl Frame<'_> {
    /// Of a list that became a shorter one.
    pub(super) fn done(&self, done: Done) -> Report {
        let numbers = done.compressed.numbers;
        let mut warnings = done.account.warnings.clone();
        let over = done.compressed.over.as_ref();
        warnings.extend(over.map(Over::warning));
        warnings.extend(self.warnings(done.is_vain, numbers.tokens_after));
        Report {
            compressed: true,
            messages_before: wide(numbers.messages_before),
            messages_after: wide(numbers.messages_after),
            chars_before: wide(numbers.chars_before),
            chars_after: wide(numbers.chars_after),
            tokens_before: numbers.tokens_before,
            tokens_after: numbers.tokens_after,
            head: wide(numbers.head),
            tail: wide(numbers.tail),
            pruned: wide(numbers.pruned),
            archived: Some(Archived { handle: done.handle, messages: wide(done.compressed.removed.len()) }),
            dropped: wide(numbers.dropped),
            constraints: wide(numbers.constraints),
            anchors: wide(numbers.anchors),
            summarizer: done.by.name().into(),
            unverified: done.account.unverified.clone(),
            warnings,
            over: over.map(wire_over),
            ..self.common(&done.account)
        }
    }

    /// Of a list that comes back as it was.
    pub(super) fn unchanged(&self, why: String, input: &[Message], account: &Account, over: Option<Over>) -> Report {
        let mut warnings = account.warnings.clone();
        warnings.extend(over.as_ref().map(Over::warning));
        let (count, measure) = (wide(input.len()), tokens::Measure::of_all(input));
        Report {
            compressed: false,
            reason: Some(why),
            messages_before: count,
            messages_after: count,
            chars_before: wide(measure.chars),
            chars_after: wide(measure.chars),
            tokens_before: measure.tokens(),
            tokens_after: measure.tokens(),
            warnings,
            over: over.as_ref().map(wire_over),
            ..self.common(account)
        }
    }

    fn common(&self, account: &Account) -> Report {
        let engine = &self.kept.engine;
        let configured = self.chain.first().copied().unwrap_or(Kind::Extractive);
        let failure = account.aux_failure.clone();
        Report {
            generation: self.session.generation(),
            session: self.session.id.clone(),
            summarizer: configured.name().into(),
            fallback: engine.fallback,
            aborted: engine.aborted,
            aux_failure: failure.map(|failure| AuxFailure { model: failure.model, error: failure.error }),
            error: engine.last_error.clone(),
            savings_pct: engine.savings_pct,
            ineffective_count: u64::from(engine.ineffective_count),
            compression_count: engine.compression_count,
            cooldown_s: due::cooldown_s(self.kept, self.chain, unix_now()),
            elapsed_ms: self.started.elapsed().as_secs_f64() * 1000.0,
            ..Report::default()
        }
    }

    fn warnings(&self, is_vain: bool, tokens: u64) -> Vec<String> {
        let mut warnings = Vec::new();
        let window = self.session.settings().context_length.unwrap_or_default();
        if pressure::is_still_full(tokens, window) {
            warnings.push(pressure::still_full_warning(tokens, window));
        }
        let count = self.kept.engine.compression_count;
        if count >= 2 {
            warnings.push(format!(
                "this conversation was compressed {count} times; accuracy may fall, and a new session with the open \
                 points would help"
            ));
        }
        if is_vain {
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
