//! Metrics of trajectories: a row for each, and the sum of all rows.
//!
//! Both the daemon and the command line compute the sums with this module.

use serde::{Deserialize, Serialize};

/// The metrics of one trajectory. Sizes are in tokens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryMetrics"))]
pub struct Row {
    /// Tokens before.
    pub original_tokens: u64,
    /// Tokens after.
    pub compressed_tokens: u64,
    /// Difference of tokens before and after.
    pub tokens_saved: u64,
    /// Ratio of tokens after to tokens before, with four decimals; 1 if nothing changed.
    pub compression_ratio: f64,
    /// Number of turns before.
    pub original_turns: u64,
    /// Number of turns after.
    pub compressed_turns: u64,
    /// Difference of turns before and after.
    pub turns_removed: u64,
    /// The turns that the summary replaced.
    pub compression_region: Region,
    /// Whether turns were replaced.
    pub was_compressed: bool,
    /// Whether it is still over the target size.
    pub still_over_limit: bool,
    /// Whether it was skipped because it was at or under the target size.
    pub skipped_under_target: bool,
    /// Number of model calls.
    pub summarization_api_calls: u64,
    /// Number of failed model calls.
    pub summarization_errors: u64,
}

/// Turns that a summary replaced; -1, -1 and 0 if there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryRegion"))]
pub struct Region {
    /// The first turn.
    pub start_idx: i64,
    /// The turn after the last one.
    pub end_idx: i64,
    /// Number of turns.
    pub turns_count: u64,
}

impl Region {
    /// An empty region.
    pub const NONE: Self = Self { start_idx: -1, end_idx: -1, turns_count: 0 };
}

impl Row {
    /// Replaces the token count of the compressed text, and updates the fields that depend on it.
    #[must_use]
    pub fn recounted(mut self, compressed_tokens: u64, target: u64) -> Self {
        self.compressed_tokens = compressed_tokens;
        self.tokens_saved = self.original_tokens.saturating_sub(compressed_tokens);
        self.compression_ratio = fraction(compressed_tokens, self.original_tokens).unwrap_or(1.0);
        self.still_over_limit = compressed_tokens > target;
        self
    }
}

/// The sum of several rows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    trajectories: u64,
    compressed: u64,
    skipped: u64,
    over: u64,
    failed: u64,
    tokens: (u64, u64),
    turns: (u64, u64),
    /// Sum of the ratios of compressed trajectories.
    ratios: f64,
    saved: u64,
    removed: u64,
    calls: u64,
    errors: u64,
}

impl Totals {
    /// Adds the row of a trajectory.
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

    /// Adds a trajectory that could not be processed.
    pub const fn add_failed(&mut self) {
        self.trajectories += 1;
        self.failed += 1;
    }

    /// Returns the aggregate of the added rows. The times are start and end of the run in Unix seconds.
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

/// The metrics of all trajectories together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryAggregate"))]
pub struct Aggregate {
    /// Counts of trajectories.
    pub summary: Summary,
    /// Tokens of all trajectories.
    pub tokens: Tokens,
    /// Turns of all trajectories.
    pub turns: Turns,
    /// Averages over the compressed trajectories.
    pub averages: Averages,
    /// Model calls.
    pub summarization: Summarization,
    /// The time of the run.
    pub processing: Processing,
}

/// Counts of trajectories by outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectorySummary"))]
pub struct Summary {
    /// All trajectories.
    pub total_trajectories: u64,
    /// Trajectories that now contain a summary.
    pub trajectories_compressed: u64,
    /// Trajectories that were already at or under the target size.
    pub trajectories_skipped_under_target: u64,
    /// Trajectories that are still over the target size.
    pub trajectories_still_over_limit: u64,
    /// Trajectories that could not be processed.
    pub trajectories_failed: u64,
    /// Ratio of compressed to all trajectories, with four decimals; 0 if there are none.
    pub compression_rate: f64,
}

/// Tokens of all trajectories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryTokens"))]
pub struct Tokens {
    /// Tokens before.
    pub total_before: u64,
    /// Tokens after.
    pub total_after: u64,
    /// Difference of tokens before and after.
    pub total_saved: u64,
    /// Ratio of tokens after to tokens before, with four decimals; 0 if there are none.
    pub overall_compression_ratio: f64,
}

/// Turns of all trajectories.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryTurns"))]
pub struct Turns {
    /// Turns before.
    pub total_before: u64,
    /// Turns after.
    pub total_after: u64,
    /// Difference of turns before and after.
    pub total_removed: u64,
}

/// Averages over the compressed trajectories.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryAverages"))]
pub struct Averages {
    /// Average compression ratio, with four decimals; 1 if none was compressed.
    pub avg_compression_ratio: f64,
    /// Average number of tokens saved, with one decimal; 0 if none was compressed.
    pub avg_tokens_saved_per_compressed: f64,
    /// Average number of turns removed, with two decimals; 0 if none was compressed.
    pub avg_turns_removed_per_compressed: f64,
}

/// Model calls for summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectorySummarization"))]
pub struct Summarization {
    /// All calls.
    pub total_api_calls: u64,
    /// Failed calls.
    pub total_errors: u64,
    /// Ratio of successful calls, with four decimals; 1 if there were none.
    pub success_rate: f64,
}

/// The time of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TrajectoryProcessing"))]
pub struct Processing {
    /// Start in Unix seconds.
    pub start_time: f64,
    /// End in Unix seconds.
    pub end_time: f64,
    /// Duration in seconds, with three decimals.
    pub duration_seconds: f64,
}

/// Returns the ratio of two numbers with four decimals; `None` if `whole` is 0.
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
