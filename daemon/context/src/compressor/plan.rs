//! A dry run: shows what a compression would do, and changes nothing.

use super::clean::CleanTurns;
use super::decide::decide;
use super::layout::{Brief, Layout};
use super::options::Options;
use crate::importance::importance;
use crate::redaction::Redaction;
use crate::rehydrate::Earlier;
use crate::request::{Gain, PlanRequest, Prompt};
use crate::run::Plan;
use crate::superseded::superseded;
use crate::{Message, Settings, serialize};

/// Plans a compression. Every list and every window has a plan.
pub fn plan(messages: &[Message], settings: &Settings, request: &PlanRequest) -> Plan {
    let redaction = Redaction::from(settings);
    let held = request.previous_summary.as_deref();
    let earlier = Earlier { held, is_scattered: request.has_scattered_handoffs };
    let options = Options {
        settings,
        earlier,
        focus: &request.focus,
        gain: Gain::Any,
        prompt: Prompt::default(),
        wishes: &request.wishes,
        range: request.range.as_ref(),
        weighs: true,
    };
    let (layout, brief) = match decide(messages, &options) {
        Ok(decided) => (decided.layout, decided.brief.unwrap_or_default()),
        Err(_) => {
            let layout = Layout::of(messages, settings);
            let brief = Brief::of(&layout, messages, settings, earlier, &request.focus);
            (layout, brief)
        }
    };
    let turns = CleanTurns::of(messages, &layout, &brief, redaction);
    let serialized = serialize::serialize(&turns.pruned, Redaction::Off);
    let prompt = brief.prompt(&serialized, request.today.as_ref(), redaction);
    Plan {
        head_size: layout.head_size,
        start: layout.start,
        end: layout.end,
        min_tail: layout.min_tail,
        pruned: layout.pruned_count,
        max_tokens: prompt.is_some().then(|| brief.max_tokens()),
        messages: layout.pruned,
        serialized,
        prompt,
        summary_budget: brief.summary_budget,
        focus: brief.focus,
        previous_summary: brief.previous,
        scores: importance(messages),
        superseded: superseded(messages),
    }
}
