"""Recorded conversations, made shorter."""

from __future__ import annotations

from typing import Literal, TypedDict, Union

from .base import Json

Trajectories = list[list[Json]]
"""Conversations, each a list of turns ``{"from": …, "value": …}``."""

TurnTokens = list[list[int]]
"""Tokens of each turn of each conversation."""

TextCount = Literal["chars", "script"]
"""How text is counted that the caller did not count."""

JsonOrYaml = Union[Json, str]
"""A configuration as an object, or as a text of YAML."""


class TrajectoryPlan(TypedDict):
    """What is decided for a conversation; ``end`` and ``until`` are exclusive."""

    protected: list[int]
    start: int
    end: int
    until: int
    summary_input: str
    skip: Literal["under_target", "nothing_between", "tool_turns", "no_gain"] | None


class TrajectoryRegion(TypedDict):
    """Turns that a summary replaced; -1, -1, 0 without one."""

    start_idx: int
    end_idx: int
    turns_count: int


class TrajectoryMetrics(TypedDict):
    """What came of a conversation."""

    original_tokens: int
    compressed_tokens: int
    tokens_saved: int
    compression_ratio: float
    original_turns: int
    compressed_turns: int
    turns_removed: int
    compression_region: TrajectoryRegion
    was_compressed: bool
    still_over_limit: bool
    skipped_under_target: bool
    summarization_api_calls: int
    summarization_errors: int


class TrajectoryResult(TypedDict):
    """The conversations with plans and metrics, an item for each."""

    conversations: Trajectories
    plans: list[TrajectoryPlan]
    metrics: list[TrajectoryMetrics]
    aggregate: Json
    config: Json
