"""Windows, estimates, usage, rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

from .base import Message

if TYPE_CHECKING:
    from typing_extensions import NotRequired

CacheTtl = Literal["5m", "1h"]
ConstraintScope = Literal["standing", "once"]


class EngineSettings(TypedDict, total=False):
    """Settings of an engine; those that are absent have their usual values."""

    model: str
    context_length: int
    threshold: float
    target_ratio: float
    protect_first_n: int
    protect_last_n: int
    summary_model: str
    provider: str
    base_url: str
    api_mode: str
    abort_on_summary_failure: bool
    engine: str
    redact: bool


class ContextSettings(EngineSettings, total=False):
    """The same, and who writes summaries."""

    summarizer: str


class AuxFailure(TypedDict):
    """A summary model that failed."""

    model: str
    error: str


class ContextStatus(TypedDict):
    """Settings in force and the engine's state; sizes are tokens, -1 is unknown."""

    engine: str
    model: str
    context_length: int
    threshold: float
    threshold_tokens: int
    target_ratio: float
    tail_token_budget: int
    max_summary_tokens: int
    protect_first_n: int
    protect_last_n: int
    last_prompt_tokens: int
    last_completion_tokens: int
    last_total_tokens: int
    last_real_prompt_tokens: int
    usage_percent: float
    compression_count: int
    last_compression_rough_tokens: int
    last_rough_tokens_when_real_prompt_fit: int
    awaiting_real_usage: bool
    generation: int
    previous_summary: str | None
    summary_model: str | None
    last_error: str | None
    dropped: int
    fallback: bool
    aborted: bool
    aux_failure: AuxFailure | None
    savings_pct: float
    ineffective_count: int
    cooldown_s: float
    breaker: Literal["closed", "open", "half_open"]
    wait_s: float


class Headings(TypedDict):
    """Headings of a handoff."""

    task: str
    in_progress: str
    pending: str
    remaining: str


class ContextConstants(TypedDict):
    """What programs match on."""

    prefix: str
    end_marker: str
    metadata_key: str
    headings: Headings
    image_tokens: int
    image_chars: int
    min_context: int
    probe_tiers: list[int]


class Estimate(TypedDict):
    """Tokens by chars/4 and by script, and the chars that budgets count."""

    tokens: int
    own: int
    budget_chars: int


class Buckets(TypedDict):
    """Tokens of one call of a model, the same for every provider."""

    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    request_count: int
    prompt: int
    total: int


class RecordedUsage(TypedDict):
    """The call's usage, and with a configured session what follows of it."""

    usage: Buckets
    should_compress: bool | None
    pressure: float | None
    warning: str | None


class Check(TypedDict):
    """Whether to compress now."""

    compress: bool
    reason: Literal[
        "below_threshold",
        "over_threshold",
        "breaker_open",
        "rate_limited",
        "cooldown",
        "nothing_to_compress",
        "disabled",
    ]
    defer: bool
    tokens: int
    threshold: int
    pressure: float
    wait_s: float


class ClassifiedError(TypedDict):
    """What a provider's error means; sizes are tokens."""

    kind: Literal["input_too_long", "output_cap", "other"]
    context_limit: int | None
    lower_limit: int | None
    available_output: int | None
    next_tier: int | None


class CacheControl(TypedDict):
    """The messages with their marks."""

    messages: list[Message]


class Manual(TypedDict):
    """The answer to one of the four questions; it has the fields of that one only."""

    partial: NotRequired[bool]
    keep: NotRequired[int]
    focus: NotRequired[str | None]
    head: NotRequired[list[Message]]
    tail: NotRequired[list[Message]]
    messages: NotRequired[list[Message]]
    noop: NotRequired[bool]
    headline: NotRequired[str]
    token_line: NotRequired[str]
    note: NotRequired[str | None]


class AddedConstraint(TypedDict):
    """The rule's id."""

    id: str


class Constraint(TypedDict):
    """A rule of the user."""

    id: str
    text: str
    scope: ConstraintScope
    source: Literal["explicit", "found"]
    at: float


class ConstraintList(TypedDict):
    """Rules in force, oldest first."""

    constraints: list[Constraint]
