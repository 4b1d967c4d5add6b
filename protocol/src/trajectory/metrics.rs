//! What came of trajectories: a row for each, and all rows together.
//!
//! The sums are made here, for daemon and command line alike.

use serde::{Deserialize, Serialize};

/// What came of one trajectory. Sizes are in tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryMetrics"))]
pub struct Row {
    /// Tokens before.
    pub original_tokens: u64,
    /// Tokens after.
    pub compressed_tokens: u64,
    /// Tokens before less those after.
    pub tokens_saved: u64,
    /// Tokens after as a fraction of those before, to four decimals; 1 where nothing changed.
    pub compression_ratio: f64,
    /// Turns before.
    pub original_turns: u64,
    /// Turns after.
    pub compressed_turns: u64,
    /// Turns before less those after.
    pub turns_removed: u64,
    /// The turns that a summary replaced.
    pub compression_region: Region,
    /// Whether turns were replaced.
    pub was_compressed: bool,
    /// Whether it is still over the target.
    pub still_over_limit: bool,
    /// Whether it was at or under the target already.
    pub skipped_under_target: bool,
    /// Calls of a model.
    pub summarization_api_calls: u64,
    /// Those that failed.
    pub summarization_errors: u64,
}

/// Turns that a summary replaced; -1, -1 and 0 when none were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryRegion"))]
pub struct Region {
    /// The first one.
    pub start_idx: i64,
    /// Behind the last one.
    pub end_idx: i64,
    /// How many.
    pub turns_count: u64,
}

impl Region {
    /// No turns.
    pub const NONE: Self = Self { start_idx: -1, end_idx: -1, turns_count: 0 };
}

impl Row {
    /// Takes another count of the compressed text, and what follows from it.
    #[must_use]
    pub fn recounted(mut self, compressed_tokens: u64, target: u64) -> Self {
        self.compressed_tokens = compressed_tokens;
        self.tokens_saved = self.original_tokens.saturating_sub(compressed_tokens);
        self.compression_ratio = fraction(compressed_tokens, self.original_tokens).unwrap_or(1.0);
        self.still_over_limit = compressed_tokens > target;
        self
    }
}

/// Rows, added up.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    trajectories: u64,
    compressed: u64,
    skipped: u64,
    over: u64,
    failed: u64,
    tokens: (u64, u64),
    turns: (u64, u64),
    /// Of those that were compressed.
    ratios: f64,
    saved: u64,
    removed: u64,
    calls: u64,
    errors: u64,
}

impl Totals {
    /// Adds a trajectory.
    pub fn add(&mut self, row: &Row) {
        self.trajectories += 1;
        self.skipped += u64::from(row.skipped_under_target);
        self.over += u64::from(row.still_over_limit);
        self.tokens.0 += row.original_tokens;
        self.tokens.1 += row.compressed_tokens;
        self.turns.0 += row.original_turns;
        self.turns.1 += row.compressed_turns;
        self.calls += row.summarization_api_calls;
        self.errors += row.summarization_errors;
        if row.was_compressed {
            self.compressed += 1;
            self.ratios += row.compression_ratio;
            self.saved += row.tokens_saved;
            self.removed += row.turns_removed;
        }
    }

    /// Adds a trajectory that could not be worked on.
    pub const fn add_failed(&mut self) {
        self.trajectories += 1;
        self.failed += 1;
    }

    /// The aggregate of what was added, made between two times in Unix seconds.
    #[must_use]
    pub fn aggregate(&self, start_time: f64, end_time: f64) -> Aggregate {
        let average =
            |sum: f64, decimals| (self.compressed > 0).then(|| rounded(sum / wide(self.compressed), decimals));
        Aggregate {
            summary: Summary {
                total_trajectories: self.trajectories,
                trajectories_compressed: self.compressed,
                trajectories_skipped_under_target: self.skipped,
                trajectories_still_over_limit: self.over,
                trajectories_failed: self.failed,
                compression_rate: fraction(self.compressed, self.trajectories).unwrap_or(0.0),
            },
            tokens: Tokens {
                total_before: self.tokens.0,
                total_after: self.tokens.1,
                total_saved: self.tokens.0.saturating_sub(self.tokens.1),
                overall_compression_ratio: fraction(self.tokens.1, self.tokens.0).unwrap_or(0.0),
            },
            turns: Turns {
                total_before: self.turns.0,
                total_after: self.turns.1,
                total_removed: self.turns.0.saturating_sub(self.turns.1),
            },
            averages: Averages {
                avg_compression_ratio: average(self.ratios, 4).unwrap_or(1.0),
                avg_tokens_saved_per_compressed: average(wide(self.saved), 1).unwrap_or(0.0),
                avg_turns_removed_per_compressed: average(wide(self.removed), 2).unwrap_or(0.0),
            },
            summarization: Summarization {
                total_api_calls: self.calls,
                total_errors: self.errors,
                success_rate: fraction(self.calls.saturating_sub(self.errors), self.calls).unwrap_or(1.0),
            },
            processing: Processing {
                start_time,
                end_time,
                duration_seconds: rounded((end_time - start_time).max(0.0), 3),
            },
        }
    }
}

/// All trajectories together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryAggregate"))]
pub struct Aggregate {
    /// How many of each kind.
    pub summary: Summary,
    /// Tokens of all.
    pub tokens: Tokens,
    /// Turns of all.
    pub turns: Turns,
    /// Averages over those that were compressed.
    pub averages: Averages,
    /// Calls of models.
    pub summarization: Summarization,
    /// When it was made.
    pub processing: Processing,
}

/// How many trajectories of each kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectorySummary"))]
pub struct Summary {
    /// All of them.
    pub total_trajectories: u64,
    /// Those with a summary in them now.
    pub trajectories_compressed: u64,
    /// Those that were at or under the target already.
    pub trajectories_skipped_under_target: u64,
    /// Those that are still over the target.
    pub trajectories_still_over_limit: u64,
    /// Those that could not be worked on.
    pub trajectories_failed: u64,
    /// Compressed ones as a fraction of all, to four decimals; 0 of none.
    pub compression_rate: f64,
}

/// Tokens of all trajectories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryTokens"))]
pub struct Tokens {
    /// Before.
    pub total_before: u64,
    /// After.
    pub total_after: u64,
    /// Before less after.
    pub total_saved: u64,
    /// After as a fraction of before, to four decimals; 0 of nothing.
    pub overall_compression_ratio: f64,
}

/// Turns of all trajectories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryTurns"))]
pub struct Turns {
    /// Before.
    pub total_before: u64,
    /// After.
    pub total_after: u64,
    /// Before less after.
    pub total_removed: u64,
}

/// Averages over the trajectories that were compressed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryAverages"))]
pub struct Averages {
    /// To four decimals; 1 of none.
    pub avg_compression_ratio: f64,
    /// To one decimal; 0 of none.
    pub avg_tokens_saved_per_compressed: f64,
    /// To two decimals; 0 of none.
    pub avg_turns_removed_per_compressed: f64,
}

/// Calls of models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectorySummarization"))]
pub struct Summarization {
    /// All of them.
    pub total_api_calls: u64,
    /// Those that failed.
    pub total_errors: u64,
    /// Those that did not, as a fraction to four decimals; 1 of none.
    pub success_rate: f64,
}

/// When it was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryProcessing"))]
pub struct Processing {
    /// In Unix seconds.
    pub start_time: f64,
    /// In Unix seconds.
    pub end_time: f64,
    /// To three decimals.
    pub duration_seconds: f64,
}

/// A part of a whole to four decimals; `None` of nothing.
#[must_use]
pub fn fraction(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| rounded(wide(part) / wide(whole), 4))
}

fn rounded(number: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (number * scale).round() / scale
}

#[expect(clippy::cast_precision_loss, reason = "at most four decimals are told")]
const fn wide(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(before: u64, after: u64) -> Row {
        let unchanged = Row {
            original_tokens: before,
            compressed_tokens: before,
            tokens_saved: 0,
            compression_ratio: 1.0,
            original_turns: 12,
            compressed_turns: 12,
            turns_removed: 0,
            compression_region: Region::NONE,
            was_compressed: false,
            still_over_limit: false,
            skipped_under_target: before == after,
            summarization_api_calls: 0,
            summarization_errors: 0,
        };
        if before == after {
            return unchanged;
        }
        let compressed = Row {
            compressed_turns: 5,
            turns_removed: 7,
            was_compressed: true,
            summarization_api_calls: 3,
            summarization_errors: 1,
            ..unchanged
        };
        compressed.recounted(after, 500)
    }

    #[test]
    fn nothing_divides_by_zero() {
        let aggregate = Totals::default().aggregate(7.0, 7.0);
        assert_eq!(aggregate.summary.compression_rate, 0.0);
        assert_eq!(aggregate.tokens.overall_compression_ratio, 0.0);
        assert_eq!(aggregate.averages.avg_compression_ratio, 1.0);
        assert_eq!(aggregate.averages.avg_tokens_saved_per_compressed, 0.0);
        assert_eq!(aggregate.summarization.success_rate, 1.0);
        assert_eq!(aggregate.processing.duration_seconds, 0.0);
    }

    #[test]
    fn rows_add_up_and_averages_are_of_the_compressed_ones() {
        let mut totals = Totals::default();
        for row in [row(1000, 600), row(900, 300), row(100, 100)] {
            totals.add(&row);
        }
        totals.add_failed();
        let told = totals.aggregate(1.0, 3.5);
        let summary = &told.summary;
        assert_eq!((summary.total_trajectories, summary.trajectories_compressed), (4, 2));
        assert_eq!((summary.trajectories_skipped_under_target, summary.trajectories_failed), (1, 1));
        assert_eq!((summary.trajectories_still_over_limit, summary.compression_rate), (1, 0.5));
        assert_eq!((told.tokens.total_before, told.tokens.total_after, told.tokens.total_saved), (2000, 1000, 1000));
        assert_eq!(told.tokens.overall_compression_ratio, 0.5);
        assert_eq!((told.turns.total_before, told.turns.total_after, told.turns.total_removed), (36, 22, 14));
        // (0.6 + 0.3333) / 2
        assert_eq!(told.averages.avg_compression_ratio, 0.4667);
        assert_eq!(told.averages.avg_tokens_saved_per_compressed, 500.0);
        assert_eq!(told.averages.avg_turns_removed_per_compressed, 7.0);
        assert_eq!((told.summarization.total_api_calls, told.summarization.success_rate), (6, 0.6667));
        assert_eq!(told.processing.duration_seconds, 2.5);
    }
}
