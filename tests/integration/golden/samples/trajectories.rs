//! The sample of `trajectory.compress`.

use herma_protocol::trajectory::metrics::{
    Aggregate, Averages, Processing, Region, Row, Summarization, Summary, Tokens, Turns,
};
use herma_protocol::trajectory::{CompressParams, CompressResult, Count, Plan};
use herma_protocol::{Reply, Request};

use super::json;

pub(super) fn compress() -> (Request, Reply) {
    let turn = || json(r#"{ "from": "gpt", "value": "caf\u00e9" }"#);
    let params = CompressParams {
        conversations: vec![vec![turn()], vec![]],
        config: Some(json(r#""compression:\n  target_max_tokens: 16000\n""#)),
        tokens: Some(vec![vec![7], vec![]]),
        summaries: Some(vec!["It ran.".into(), String::new()]),
        summarizer: Some("extractive".into()),
        count: Some(Count::Script),
        dry_run: Some(false),
    };
    let result = CompressResult {
        conversations: vec![vec![turn()]],
        plans: vec![Plan {
            protected: vec![0, 1, 2, 3, 12, 13],
            start: 4,
            end: 12,
            until: 8,
            summary_input: "[Turn 4 - GPT]:\ncafé".into(),
            skip: Some("no_gain".into()),
        }],
        metrics: vec![row()],
        aggregate: aggregate(),
        config: json(r#"{"compression":{"target_max_tokens":16000}}"#),
    };
    (Request::TrajectoryCompress(params), Reply::TrajectoryCompress(result))
}

fn row() -> Row {
    Row {
        original_tokens: 20_000,
        compressed_tokens: 15_000,
        tokens_saved: 5_000,
        compression_ratio: 0.75,
        original_turns: 40,
        compressed_turns: 30,
        turns_removed: 10,
        compression_region: Region { start_idx: 4, end_idx: 15, turns_count: 11 },
        was_compressed: true,
        still_over_limit: false,
        skipped_under_target: false,
        summarization_api_calls: 2,
        summarization_errors: 1,
    }
}

fn aggregate() -> Aggregate {
    Aggregate {
        summary: Summary {
            total_trajectories: 3,
            trajectories_compressed: 1,
            trajectories_skipped_under_target: 1,
            trajectories_still_over_limit: 1,
            trajectories_failed: 1,
            compression_rate: 0.3333,
        },
        tokens: Tokens {
            total_before: 60_000,
            total_after: 55_000,
            total_saved: 5_000,
            overall_compression_ratio: 0.9167,
        },
        turns: Turns { total_before: 90, total_after: 80, total_removed: 10 },
        averages: Averages {
            avg_compression_ratio: 0.75,
            avg_tokens_saved_per_compressed: 5000.0,
            avg_turns_removed_per_compressed: 10.0,
        },
        summarization: Summarization { total_api_calls: 2, total_errors: 1, success_rate: 0.5 },
        processing: Processing { start_time: 1_795_000_000.5, end_time: 1_795_000_002.75, duration_seconds: 2.25 },
    }
}
