"""The types of `trajectory`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import Any, Literal, TypedDict

TextCount = Literal["chars", "script"]
"""How tokens are counted."""


class TrajectoryAggregate(TypedDict):
    """All trajectories together."""

    summary: TrajectorySummary
    """How many of each kind."""
    tokens: TrajectoryTokens
    """Tokens of all."""
    turns: TrajectoryTurns
    """Turns of all."""
    averages: TrajectoryAverages
    """Averages over those that were compressed."""
    summarization: TrajectorySummarization
    """Calls of models."""
    processing: TrajectoryProcessing
    """When it was made."""


class TrajectoryAverages(TypedDict):
    """Averages over the trajectories that were compressed."""

    avg_compression_ratio: float
    """To four decimals; 1 of none."""
    avg_tokens_saved_per_compressed: float
    """To one decimal; 0 of none."""
    avg_turns_removed_per_compressed: float
    """To two decimals; 0 of none."""


class TrajectoryCompress(TypedDict):
    """Result of `trajectory.compress`. Every list has an item for each conversation."""

    conversations: list[list[Any]]
    """The conversations; turns that did not change come back byte for byte."""
    plans: list[TrajectoryPlan]
    """What was decided."""
    metrics: list[TrajectoryMetrics]
    """What came of it."""
    aggregate: TrajectoryAggregate
    """All of it together."""
    config: Any
    """The configuration with all values in force."""


class TrajectoryMetrics(TypedDict):
    """What came of one trajectory. Sizes are in tokens."""

    original_tokens: int
    """Tokens before."""
    compressed_tokens: int
    """Tokens after."""
    tokens_saved: int
    """Tokens before less those after."""
    compression_ratio: float
    """Tokens after as a fraction of those before, to four decimals; 1 where nothing changed."""
    original_turns: int
    """Turns before."""
    compressed_turns: int
    """Turns after."""
    turns_removed: int
    """Turns before less those after."""
    compression_region: TrajectoryRegion
    """The turns that a summary replaced."""
    was_compressed: bool
    """Whether turns were replaced."""
    still_over_limit: bool
    """Whether it is still over the target."""
    skipped_under_target: bool
    """Whether it was at or under the target already."""
    summarization_api_calls: int
    """Calls of a model."""
    summarization_errors: int
    """Those that failed."""


class TrajectoryPlan(TypedDict):
    """What is decided for a conversation. Positions are of its turns, from 0."""

    protected: list[int]
    """Turns that stay as they are, in order."""
    start: int
    """Where the region between the protected turns begins."""
    end: int
    """Where it ends, exclusive."""
    until: int
    """Where the turns end that a summary replaces, exclusive; `start` when none can be replaced."""
    summary_input: str
    """What a model summarizer would read of them; empty when none can be replaced."""
    skip: str | None
    """Why the conversation stays as it is."""


class TrajectoryProcessing(TypedDict):
    """When it was made."""

    start_time: float
    """In Unix seconds."""
    end_time: float
    """In Unix seconds."""
    duration_seconds: float
    """To three decimals."""


class TrajectoryRegion(TypedDict):
    """Turns that a summary replaced; -1, -1 and 0 when none were."""

    start_idx: int
    """The first one."""
    end_idx: int
    """Behind the last one."""
    turns_count: int
    """How many."""


class TrajectorySummarization(TypedDict):
    """Calls of models."""

    total_api_calls: int
    """All of them."""
    total_errors: int
    """Those that failed."""
    success_rate: float
    """Those that did not, as a fraction to four decimals; 1 of none."""


class TrajectorySummary(TypedDict):
    """How many trajectories of each kind."""

    total_trajectories: int
    """All of them."""
    trajectories_compressed: int
    """Those with a summary in them now."""
    trajectories_skipped_under_target: int
    """Those that were at or under the target already."""
    trajectories_still_over_limit: int
    """Those that are still over the target."""
    trajectories_failed: int
    """Those that could not be worked on."""
    compression_rate: float
    """Compressed ones as a fraction of all, to four decimals; 0 of none."""


class TrajectoryTokens(TypedDict):
    """Tokens of all trajectories."""

    total_before: int
    """Before."""
    total_after: int
    """After."""
    total_saved: int
    """Before less after."""
    overall_compression_ratio: float
    """After as a fraction of before, to four decimals; 0 of nothing."""


class TrajectoryTurns(TypedDict):
    """Turns of all trajectories."""

    total_before: int
    """Before."""
    total_after: int
    """After."""
    total_removed: int
    """Before less after."""
