//! Fits all tool results of one turn into the turn's budget.

use std::borrow::Cow;

use crate::admit::{Admitted, Origin, spill};
use crate::budget::{Budgets, is_reading};
use crate::content::Content;
use crate::outputs::Outputs;

/// One result of a turn.
#[derive(Debug, Clone)]
pub struct TurnResult {
    /// The call's id; `budget_<index>` when there is none.
    pub id: Option<String>,
    /// The tool; empty when unknown.
    pub tool: String,
    /// The result.
    pub content: Content,
}

impl TurnResult {
    /// Returns the call's id. `at` is the position of the result.
    #[must_use]
    pub fn id_at(&self, at: usize) -> Cow<'_, str> {
        self.id.as_deref().map_or_else(|| format!("budget_{at}").into(), Cow::Borrowed)
    }
}

/// The result of fitting a turn.
#[derive(Debug, Default)]
pub struct FittedTurn {
    /// Position and new content of the results that changed.
    pub replacements: Vec<(usize, Admitted)>,
    /// Chars of all results after the replacements.
    pub total: usize,
}

/// Spills results, the largest first, until all of them together fit. Results that were spilled or returned to an agent
/// before stay, but their chars count. The id and the tool of `of` are ignored; `now` is in Unix seconds.
#[must_use]
pub fn settle(outputs: &Outputs, of: &Origin<'_>, results: &[TurnResult], budgets: &Budgets, now: f64) -> FittedTurn {
    let sizes: Vec<usize> = results.iter().map(|result| result.content.chars()).collect();
    let mut settled = FittedTurn { replacements: Vec::new(), total: sizes.iter().sum() };
    if settled.total <= budgets.turn_budget {
        return settled;
    }
    let mut candidates: Vec<usize> = (0..results.len())
        .filter(|at| !results[*at].content.is_spilled() && !is_reading(&results[*at].tool) && sizes[*at] > 0)
        .collect();
    candidates.sort_by_key(|at| std::cmp::Reverse(sizes[*at]));
    for at in candidates {
        if settled.total <= budgets.turn_budget {
            break;
        }
        let result = &results[at];
        let id = result.id_at(at);
        let origin = Origin { id: &id, tool: &result.tool, ..*of };
        let Some(admitted) = spill(outputs, &origin, &result.content, budgets, now) else { continue };
        if let Some(content) = admitted.content.as_ref().filter(|content| **content != result.content) {
            settled.total = settled.total - sizes[at] + content.chars();
            settled.replacements.push((at, admitted));
        }
    }
    settled.replacements.sort_by_key(|(at, _)| *at);
    settled
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

    use super::*;
    use crate::admit::Fate;

    fn of(session: &str) -> Origin<'_> {
        Origin { session, profile: "default", tool: "", id: "" }
    }

    fn results(sizes: &[usize]) -> Vec<TurnResult> {
        sizes
            .iter()
            .map(|size| TurnResult { id: None, tool: String::new(), content: Content::Text("x".repeat(*size)) })
            .collect()
    }

    #[test]
    fn the_largest_go_first_until_the_turn_fits() {
        let home = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(home.path().join("outputs"));
        let settled = settle(&outputs, &of("s"), &results(&[42_000; 6]), &Budgets::default(), 0.0);
        assert_eq!(settled.replacements.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [0, 1]);
        assert!(settled.total <= 200_000);
        let settled = settle(&outputs, &of("t"), &results(&[10, 150_000, 60_000]), &Budgets::default(), 0.0);
        assert_eq!(settled.replacements.len(), 1);
        assert_eq!(settled.replacements[0].0, 1);
        assert!(matches!(&settled.replacements[0].1.fate, Fate::Spilled(kept) if kept.path.ends_with("budget_1.txt")));
        assert!(settle(&outputs, &of("s"), &results(&[200_000]), &Budgets::default(), 0.0).replacements.is_empty());
    }

    #[test]
    fn what_was_spilled_before_counts_but_stays() {
        let home = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(home.path().join("outputs"));
        let mut turn = results(&[150_000, 60_000]);
        turn[0].content = Content::Text(format!("<persisted-output>{}", "x".repeat(150_000)));
        let settled = settle(&outputs, &of("s"), &turn, &Budgets::default(), 0.0);
        assert_eq!(settled.replacements.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn what_was_given_out_stays_under_any_name() {
        let home = tempfile::tempdir().unwrap();
        let outputs = Outputs::new(home.path().join("outputs"));
        let mut turn = results(&[150_000, 140_000, 60_000]);
        turn[1].tool = "recall_expand".into();
        outputs.gave(&turn[0].content.text());
        let settled = settle(&outputs, &of("s"), &turn, &Budgets::default(), 0.0);
        assert_eq!(settled.replacements.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [2]);
    }

    #[test]
    fn without_a_disk_the_beginning_stays() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("outputs");
        herma_disk::file::append_to(&file).unwrap();
        let settled = settle(&Outputs::new(file), &of("s"), &results(&[300_000]), &Budgets::default(), 0.0);
        assert!(matches!(settled.replacements[0].1.fate, Fate::Lost(_)));
        assert!(settled.total < 2_000);
    }
}
