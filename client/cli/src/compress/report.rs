//! Reports of planned and finished compressions, for people.

use herma_client::protocol::context::{PlanResult, Report, ScoredMessage, Superseded};

use super::out;

/// The most chars of a quotation that are shown.
const QUOTATION: usize = 100;

/// The most messages of a plan that are listed with their scores.
const MOST_SCORED: usize = 5;

/// The most old outputs of a plan that are listed.
const MOST_OLD: usize = 10;

/// Describes a plan.
pub(super) fn planned(plan: &PlanResult) -> String {
    let middle = plan.end.saturating_sub(plan.start);
    let total = u64::try_from(plan.messages.len()).unwrap_or(u64::MAX);
    out::columns(&[
        ("head", format!("{} would stay", out::count_of(plan.start.min(total), "message"))),
        ("middle", format!("{} would be replaced by one handoff", out::count_of(middle, "message"))),
        ("tail", format!("{} would stay", out::count_of(total.saturating_sub(plan.end), "message"))),
        ("pruned", format!("{} would be shortened", out::count_of(plan.pruned, "tool result"))),
        ("summary", format!("up to {} tokens", out::thousands(plan.summary_budget))),
        ("focus", plan.focus.clone().unwrap_or_else(|| "none".into())),
        ("worth most", most(&plan.scores)),
        ("old outputs", old(&plan.superseded)),
    ])
}

/// Describes the outputs that may be discarded: their number, their tokens, and their positions.
fn old(superseded: &[Superseded]) -> String {
    let positions: Vec<String> = superseded.iter().take(MOST_OLD).map(|old| old.index.to_string()).collect();
    let more = if superseded.len() > MOST_OLD { ", …" } else { "" };
    let tokens: u64 = superseded.iter().map(|old| old.tokens).sum();
    match superseded.len() {
        0 => "none".to_owned(),
        count => format!("{count}, {} tokens: messages {}{more}", out::thousands(tokens), positions.join(", ")),
    }
}

/// Lists the messages with the highest scores, which later messages need most.
fn most(scores: &[ScoredMessage]) -> String {
    let mut best: Vec<&ScoredMessage> = scores.iter().collect();
    best.sort_by_key(|message| std::cmp::Reverse(message.score));
    if best.is_empty() { "none".into() } else { scored(best.into_iter().take(MOST_SCORED)) }
}

fn scored<'a>(messages: impl Iterator<Item = &'a ScoredMessage>) -> String {
    let answer = messages.map(|message| {
        if message.reasons.is_empty() {
            // A call that stays because its results stay.
            message.index.to_string()
        } else {
            let why = message.reasons.join(", ").replace('_', " ");
            format!("{} ({}: {why})", message.index, message.score)
        }
    });
    answer.collect::<Vec<_>>().join("; ")
}

/// Describes a finished compression.
pub(super) fn reported(report: &Report) -> String {
    if !report.compressed {
        return out::columns(&refusal(report));
    }
    let before_after = |before, after| format!("{} -> {}", out::thousands(before), out::thousands(after));
    let mut rows = vec![
        ("messages", before_after(report.messages_before, report.messages_after)),
        ("chars", before_after(report.chars_before, report.chars_after)),
        (
            "tokens",
            format!("{}, {:.0} % saved", before_after(report.tokens_before, report.tokens_after), report.savings_pct),
        ),
        ("kept", format!("{} in front, {} at the end", out::count_of(report.head, "message"), report.tail)),
        (
            "replaced",
            format!(
                "{}, by a handoff of the {} summarizer",
                out::count_of(report.dropped, "message"),
                report.summarizer
            ),
        ),
        ("pruned", format!("{} shortened", out::count_of(report.pruned, "tool result"))),
        (
            "in the handoff",
            format!(
                "{}, {}",
                out::count_of(report.constraints, "constraint"),
                out::count_of(report.anchors, "exact reference")
            ),
        ),
    ];
    if report.invalidated_tokens > 0 {
        let pays = match report.pays_after_calls {
            Some(1) => "pays with the next call".to_owned(),
            Some(calls) => format!("pays after {} calls", out::thousands(calls)),
            None => "never pays by itself".to_owned(),
        };
        let tokens = out::thousands(report.invalidated_tokens);
        rows.push(("prompt cache", format!("{tokens} tokens no longer cached; {pays}")));
    }
    if report.pinned > 0 {
        rows.push(("pinned", out::count_of(report.pinned, "message")));
    }
    if report.discarded > 0 {
        rows.push(("discarded", out::count_of(report.discarded, "output")));
    }
    if report.episodes > 0 {
        rows.push(("episodes left", out::thousands(report.episodes)));
    }
    if !report.folded.is_empty() {
        rows.push(("closed", report.folded.join(", ")));
    }
    if !report.verbatim.is_empty() {
        rows.push(("word for word", format!("messages {}", scored(report.verbatim.iter()))));
    }
    if !report.shortened.is_empty() {
        let outputs = out::count_noun(report.shortened.len(), "output", "outputs");
        rows.push(("made room", format!("{outputs} near the end shortened, for the handoff")));
    }
    if let Some(archived) = &report.archived {
        rows.push(("archived", format!("{} under {}", out::count_of(archived.messages, "message"), archived.handle)));
    }
    rows.push(("session", format!("{}, generation {}", report.session, report.generation)));
    rows.push(("took", format!("{:.1} ms", report.elapsed_ms)));
    if report.fallback {
        rows.push(("instead", format!("of the configured summarizer, which failed{}", because(report))));
    }
    rows.extend(report.unverified.iter().map(|quotation| ("not verified", out::cut(quotation, QUOTATION))));
    rows.extend(report.warnings.iter().map(|warning| ("warning", warning.clone())));
    out::columns(&rows)
}

fn refusal(report: &Report) -> Vec<(&'static str, String)> {
    let why = report.reason.as_deref().unwrap_or(if report.aborted {
        "the summary failed, and without one nothing is done"
    } else {
        "there was nothing to do"
    });
    let mut rows = vec![("not compressed", why.to_owned())];
    if report.aborted {
        rows.push(("failure", format!("{} summarizer{}", report.summarizer, because(report))));
    }
    if report.cooldown_s > 0.0 {
        rows.push(("asked again", format!("in {:.0} s, or with --force", report.cooldown_s)));
    }
    rows.extend(report.warnings.iter().map(|warning| ("warning", warning.clone())));
    rows
}

fn because(report: &Report) -> String {
    match (&report.aux_failure, &report.error) {
        (Some(failure), _) => format!(": {}: {}", failure.model, failure.error),
        (None, Some(error)) => format!(": {error}"),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use herma_client::protocol::context::{Archived, AuxFailure};

    use super::*;

    #[test]
    fn a_report_says_what_was_kept_and_what_failed() {
        let report = Report {
            compressed: true,
            messages_before: 1201,
            messages_after: 26,
            summarizer: "extractive".into(),
            fallback: true,
            aux_failure: Some(AuxFailure { model: "m-small".into(), error: "no such model".into() }),
            archived: Some(Archived { handle: "cmp_1".into(), messages: 1176 }),
            constraints: 2,
            anchors: 40,
            unverified: vec!["never said".into()],
            verbatim: vec![
                ScoredMessage { index: 16, score: 0, reasons: Vec::new() },
                ScoredMessage { index: 17, score: 44, reasons: vec!["used".into(), "only_place".into()] },
            ],
            ..Report::default()
        };
        let text = reported(&report);
        for words in [
            "1,201 -> 26",
            "2 constraints, 40 exact references",
            "1,176 messages under cmp_1",
            "which failed: m-small: no such model",
            "never said",
            "messages 16; 17 (44: used, only place)",
        ] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }

    #[test]
    fn a_run_that_gave_up_says_when_to_try_again() {
        let report = Report {
            aborted: true,
            summarizer: "openai".into(),
            error: Some("timeout".into()),
            cooldown_s: 59.6,
            ..Report::default()
        };
        let text = reported(&report);
        for words in ["the summary failed", "openai summarizer: timeout", "in 60 s, or with --force"] {
            assert!(text.contains(words), "{words} in {text}");
        }
    }
}
