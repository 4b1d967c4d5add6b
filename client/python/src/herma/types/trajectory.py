"""The types of `trajectory`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

TextCount = Literal["chars", "script"]
"""A method of counting tokens."""


class TrajectoryAggregate(TypedDict):
    """The metrics of all trajectories together."""

    summary: TrajectorySummary
    """Counts of trajectories."""
    tokens: TrajectoryTokens
    """Tokens of all trajectories."""
    turns: TrajectoryTurns
    """Turns of all trajectories."""
    averages: TrajectoryAverages
    """Averages over the compressed trajectories."""
    summarization: TrajectorySummarization
    """Model calls."""
    processing: TrajectoryProcessing
    """The time of the run."""


class TrajectoryAverages(TypedDict):
    """Averages over the compressed trajectories."""

    avg_compression_ratio: float
    """Average compression ratio, with four decimals; 1 if none was compressed."""
    avg_tokens_saved_per_compressed: float
    """Average number of tokens saved, with one decimal; 0 if none was compressed."""
    avg_turns_removed_per_compressed: float
    """Average number of turns removed, with two decimals; 0 if none was compressed."""


class TrajectoryCompress(TypedDict):
    """Result of `trajectory.compress`. Every list has one item per conversation."""

    conversations: list[list[Any]]
    """The conversations. Unchanged turns are returned byte for byte."""
    plans: list[TrajectoryPlan]
    """The plan for each conversation."""
    metrics: list[TrajectoryMetrics]
    """The metrics of each conversation."""
    aggregate: TrajectoryAggregate
    """The metrics of all conversations together."""
    config: Any
    """The configuration with all effective values."""


class TrajectoryMetrics(TypedDict):
    """The metrics of one trajectory. Sizes are in tokens."""

    original_tokens: int
    """Tokens before."""
    compressed_tokens: int
    """Tokens after."""
    tokens_saved: int
    """Difference of tokens before and after."""
    compression_ratio: float
    """Ratio of tokens after to tokens before, with four decimals; 1 if nothing changed."""
    original_turns: int
    """Number of turns before."""
    compressed_turns: int
    """Number of turns after."""
    turns_removed: int
    """Difference of turns before and after."""
    compression_region: TrajectoryRegion
    """The turns that the summary replaced."""
    was_compressed: bool
    """Whether turns were replaced."""
    still_over_limit: bool
    """Whether it is still over the target size."""
    skipped_under_target: bool
    """Whether it was skipped because it was at or under the target size."""
    summarization_api_calls: int
    """Number of model calls."""
    summarization_errors: int
    """Number of failed model calls."""


class TrajectoryPlan(TypedDict):
    """The plan for a conversation. Positions are those of its turns, from 0."""

    protected: list[int]
    """Positions of the turns that stay, in order."""
    start: int
    """Start of the region between the protected turns."""
    end: int
    """End of that region, exclusive."""
    until: int
    """End of the turns that a summary replaces, exclusive; equal to `start` if no turn can be
    replaced.
    """
    summary_input: str
    """The text of these turns for a model summarizer; empty if no turn can be replaced."""
    skip: str | None
    """Why the conversation is left unchanged."""


class TrajectoryProcessing(TypedDict):
    """The time of a run."""

    start_time: float
    """Start in Unix seconds."""
    end_time: float
    """End in Unix seconds."""
    duration_seconds: float
    """Duration in seconds, with three decimals."""


class TrajectoryRegion(TypedDict):
    """Turns that a summary replaced; -1, -1 and 0 if there are none."""

    start_idx: int
    """The first turn."""
    end_idx: int
    """The turn after the last one."""
    turns_count: int
    """Number of turns."""


class TrajectorySummarization(TypedDict):
    """Model calls for summaries."""

    total_api_calls: int
    """All calls."""
    total_errors: int
    """Failed calls."""
    success_rate: float
    """Ratio of successful calls, with four decimals; 1 if there were none."""


class TrajectorySummary(TypedDict):
    """Counts of trajectories by outcome."""

    total_trajectories: int
    """All trajectories."""
    trajectories_compressed: int
    """Trajectories that now contain a summary."""
    trajectories_skipped_under_target: int
    """Trajectories that were already at or under the target size."""
    trajectories_still_over_limit: int
    """Trajectories that are still over the target size."""
    trajectories_failed: int
    """Trajectories that could not be processed."""
    compression_rate: float
    """Ratio of compressed to all trajectories, with four decimals; 0 if there are none."""


class TrajectoryTokens(TypedDict):
    """Tokens of all trajectories."""

    total_before: int
    """Tokens before."""
    total_after: int
    """Tokens after."""
    total_saved: int
    """Difference of tokens before and after."""
    overall_compression_ratio: float
    """Ratio of tokens after to tokens before, with four decimals; 0 if there are none."""


class TrajectoryTurns(TypedDict):
    """Turns of all trajectories."""

    total_before: int
    """Turns before."""
    total_after: int
    """Turns after."""
    total_removed: int
    """Difference of turns before and after."""
