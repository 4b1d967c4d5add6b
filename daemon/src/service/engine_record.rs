//! The record of a session's engine, which is kept between two calls and across restarts.

use herma_archive::engine::EngineRow;
use herma_context::breaker::Breaker;
use herma_context::engine::EngineState;
use herma_context::outcome::Cooldowns;
use serde::Serialize;

use super::consecutive_runs::ConsecutiveRuns;
use super::lenient;
use super::token_correction::TokenCorrection;

/// The whole record. It is stored as JSON. A missing field gets its default, and an unreadable one costs only that
/// field, so that records of other versions can be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(crate) struct EngineRecord {
    /// The figures of the engine.
    pub engine: EngineState,
    /// Whether the engine may run automatically.
    pub breaker: Breaker,
    /// Pauses of summarizers after failures, by their names.
    pub cooldowns: Cooldowns,
    /// Whether the summary model failed, so that the session's own model is used instead.
    pub uses_main: bool,
    /// The ratio between estimates and the provider's counts.
    pub counting: TokenCorrection,
    /// Compressions without a model call between them.
    pub streak: ConsecutiveRuns,
    /// The form of its lists, if they are not chat completions.
    pub form: String,
}

impl EngineRecord {
    /// Reads a row.
    pub(crate) fn read(row: EngineRow) -> Self {
        const WHAT: &str = "what an engine remembered";
        let mut object = lenient::object(WHAT, &row.state);
        let mut record = Self {
            engine: lenient::take(WHAT, &mut object, "engine"),
            breaker: lenient::take(WHAT, &mut object, "breaker"),
            cooldowns: lenient::take(WHAT, &mut object, "cooldowns"),
            uses_main: lenient::take(WHAT, &mut object, "uses_main"),
            counting: lenient::take(WHAT, &mut object, "counting"),
            streak: lenient::take(WHAT, &mut object, "streak"),
            form: lenient::take(WHAT, &mut object, "form"),
        };
        record.engine.previous_summary = row.summary;
        record
    }

    /// Returns the whole record as a row.
    pub(crate) fn row(&self) -> EngineRow {
        EngineRow { state: self.figures(), summary: self.engine.previous_summary.clone() }
    }

    /// Restores the engine's figures of an earlier record, after compressions were undone.
    pub(crate) fn undo(&mut self, before: Option<EngineRow>) {
        self.engine.undo(before.map(Self::read).unwrap_or_default().engine);
        self.counting.list_changed();
    }

    /// Returns everything except the summary, as JSON.
    pub(crate) fn figures(&self) -> String {
        let mut figures = self.clone();
        figures.engine.previous_summary = None;
        serde_json::to_string(&figures).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;

    #[test]
    fn what_was_kept_comes_back() {
        let mut record = EngineRecord { uses_main: true, ..EngineRecord::default() };
        record.engine.previous_summary = Some("body".into());
        record.engine.last_prompt_tokens = -1;
        record.breaker.note_run(3.0, 500, 10.0);
        record.cooldowns.start("openai", 60, 10.0);
        assert!(!record.figures().contains("body"));
        assert_eq!(EngineRecord::read(record.row()), record);
    }

    #[test]
    fn rows_of_other_versions_can_be_read() {
        let row = |state: &str| EngineRow { state: state.into(), summary: None };
        let record = EngineRecord::read(row(r#"{"engine": {"compression_count": 2, "x": 1}, "later": {}}"#));
        assert_eq!(record.engine.compression_count, 2);
        let record =
            EngineRecord::read(row(r#"{"engine": {"compression_count": 2}, "uses_main": "yes", "breaker": 7}"#));
        assert_eq!((record.engine.compression_count, record.uses_main), (2, false));
        assert_eq!(EngineRecord::read(row("")), EngineRecord::default());
    }
}
