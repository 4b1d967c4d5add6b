//! What a session's engine remembers between two calls, across restarts too.

use herma_archive::engine::EngineRow;
use herma_context::EngineState;
use herma_context::breaker::Breaker;
use herma_context::outcome::Cooldowns;
use serde::{Deserialize, Serialize};

use super::counting::Counting;
use super::streak::Streak;

/// Everything that is remembered. It is kept as JSON; what is absent there has its
/// default, and what is not known is passed over, so that other versions can be read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Kept {
    /// The figures of the engine.
    pub engine: EngineState,
    /// Whether it may run by itself.
    pub breaker: Breaker,
    /// Which summarizers are left alone for a while, by their names.
    pub cooldowns: Cooldowns,
    /// The summary model failed, and the session's own one is asked instead.
    pub uses_main: bool,
    /// How its estimates relate to what the provider counts.
    pub counting: Counting,
    /// How often it was compressed without a call between.
    pub streak: Streak,
}

impl Kept {
    /// What a row says; one that can't be read says nothing.
    pub(crate) fn read(row: EngineRow) -> Self {
        let mut kept: Self = serde_json::from_str(&row.state).unwrap_or_else(|error| {
            tracing::warn!("what an engine remembered can't be read: {error}");
            Self::default()
        });
        kept.engine.previous_summary = row.summary;
        kept
    }

    /// All of it.
    pub(crate) fn row(&self) -> EngineRow {
        EngineRow { state: self.figures(), summary: self.engine.previous_summary.clone() }
    }

    /// All but the summary.
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
        let mut kept = Kept { uses_main: true, ..Kept::default() };
        kept.engine.previous_summary = Some("body".into());
        kept.engine.last_prompt_tokens = -1;
        kept.breaker.note_run(3.0, 500, 10.0);
        kept.cooldowns.start("openai", 60, 10.0);
        assert!(!kept.figures().contains("body"));
        assert_eq!(Kept::read(kept.row()), kept);
    }

    #[test]
    fn rows_of_other_versions_can_be_read() {
        let row = |state: &str| EngineRow { state: state.into(), summary: None };
        let kept = Kept::read(row(r#"{"engine": {"compression_count": 2, "x": 1}, "later": {}}"#));
        assert_eq!(kept.engine.compression_count, 2);
        assert_eq!(Kept::read(row("")), Kept::default());
    }
}
