"""The types of `context`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Breaker = Literal["closed", "open", "half_open"]
"""Whether automatic compression is allowed."""

CacheTtl = Literal["5m", "1h"]
"""The lifetime of a prompt cache."""

CheckReason = Literal[
    "below_threshold",
    "over_threshold",
    "breaker_open",
    "rate_limited",
    "cooldown",
    "nothing_to_compress",
    "disabled",
]
"""The reason for the result of a check."""

CompactAheadState = Literal["started", "running", "ready", "nothing"]
"""The state of a compression in the background."""

CompressMode = Literal["in_place", "continue"]
"""What happens to the session in a compression."""

Detail = Literal["low", "medium", "high"]
"""How detailed a handoff is."""

EpisodeAction = Literal["open", "close"]
"""Whether an episode is opened or closed."""

ErrorClass = Literal["input_too_long", "output_cap", "other"]
"""The kind of a provider's error."""

FailureKind = Literal["no_provider", "json", "connection", "timeout", "other"]
"""The kind of failure of a model call."""

OverPartKind = Literal["system", "head", "last_exchange", "request"]
"""The parts that no compression changes."""

ReplyForm = Literal["messages", "edits"]
"""What `context.compress` returns."""

SummaryPlace = Literal["alone", "behind_list"]
"""Where the message that requests a summary goes."""

TextOrOff = Union[str, Literal[False]]
"""A text, or `false` to switch off what happens when the param is absent."""

TokensOrConfigured = Union[int, Literal[True]]
"""A number of tokens, or `true` for the configured one."""

ToolState = Literal["kept", "opened", "stub"]
"""Where a tool ended up in the list."""


class Archived(TypedDict):
    """Where the removed messages are archived."""

    handle: str
    """The handle of the removed messages."""
    messages: int
    """Number of removed messages."""


class AuxFailure(TypedDict):
    """A summary model that failed."""

    model: str
    """The model."""
    error: str
    """Its error message, up to 220 chars."""


class Buckets(TypedDict):
    """Tokens of one model call."""

    input: int
    """Input tokens not served by a cache."""
    output: int
    """Output tokens."""
    cache_read: int
    """Tokens read from a prompt cache."""
    cache_write: int
    """Tokens written to a prompt cache."""
    reasoning: int
    """Reasoning tokens; they are part of `output`."""
    request_count: int
    """Number of calls: 1."""
    prompt: int
    """Sum of `input`, `cache_read` and `cache_write`."""
    total: int
    """Sum of `prompt` and `output`."""


class Compressed(TypedDict):
    """The list or the edits, as requested with `reply`, and the report."""

    messages: NotRequired[list[Any]]
    """The new list."""
    edits: NotRequired[Edits]
    """The edits that make the new list from the old one."""
    report: Report
    """What the compression did."""


class ContextCacheControl(TypedDict):
    """Result of `context.cache_control`."""

    messages: list[Any]
    """The conversation with cache marks."""


class ContextCheck(TypedDict):
    """Result of `context.check`."""

    compress: bool
    """Whether to compress before the next call."""
    reason: CheckReason
    """Why, or why not."""
    defer: bool
    """Whether the caller may wait for the provider's own count although the estimate is over the
    threshold.
    """
    tokens: int
    """The number of tokens that was compared with the threshold."""
    threshold: int
    """The threshold in tokens."""
    pressure: float
    """`tokens` as a fraction of the window."""
    wait_s: float
    """Seconds until a compression is allowed; 0 if it is allowed now."""


class ContextClassifyError(TypedDict):
    """Result of `context.classify_error`. Sizes are in tokens."""

    kind: ErrorClass
    """The kind of error."""
    context_limit: int | None
    """The window that the error text names."""
    lower_limit: int | None
    """The same window, if it is smaller than `current`."""
    available_output: int | None
    """Tokens left for the answer."""
    next_tier: int | None
    """The largest usual window below `current`."""


class ContextCompactAhead(TypedDict):
    """Result of `context.compact_ahead`."""

    job: str
    """The job's id; empty if there is nothing to do."""
    state: CompactAheadState
    """The state of the job."""


class ContextCompress(TypedDict):
    """Result of `context.compress` and `context.resume`.

    The list or its edits, or the summary that the caller is to write first.
    """

    messages: NotRequired[list[Any]]
    """The new list."""
    edits: NotRequired[Edits]
    """The edits that make the new list from the old one."""
    report: NotRequired[Report]
    """What the compression did."""
    needs_summary: NotRequired[NeedsSummary]


class ContextConstants(TypedDict):
    """Result of `context.constants`: constants that clients match on."""

    prefix: str
    """The text that a handoff begins with."""
    end_marker: str
    """The text that a handoff ends with."""
    metadata_key: str
    """The key that marks a message as a handoff."""
    headings: Headings
    """The headings of the sections that a reader must not act on."""
    image_tokens: int
    """Tokens counted for one image."""
    image_chars: int
    """Chars counted for one image in a budget."""
    min_context: int
    """The smallest window of a summary model, in tokens; a model with a smaller one is refused."""
    probe_tiers: list[int]
    """Windows to try when the assumed one is too large, in descending order."""


class ContextDiscard(TypedDict):
    """Result of `context.discard`."""

    outputs: int
    """Number of outputs that the next compression reduces to one line."""
    tokens: int
    """Estimated tokens of these outputs now."""


class ContextEpisode(TypedDict):
    """Result of `context.episode`."""

    title: str
    """The title as stored: without secrets, in one line."""
    messages: int
    """Number of messages that the next compression removes from the list; 0 when the episode is
    opened.
    """
    tokens: int
    """Estimated tokens of these messages now."""
    open: list[str]
    """Titles of the open episodes, oldest first."""


class ContextEstimate(TypedDict):
    """Result of `context.estimate`."""

    tokens: int
    """Estimated tokens: chars divided by 4."""
    own: int
    """Tokens by herma's own estimate, which depends on the writing systems of the text."""
    budget_chars: int
    """Chars as the boundaries of a compression count them."""


class ContextFold(TypedDict):
    """Result of `context.fold`."""

    folded: list[str]
    """The nodes that this call closed."""
    remove: list[list[int]]
    """Ranges `[from, to)` of positions to remove from the list, in order."""
    list_tokens: int
    """Estimated tokens of the list without them."""
    open: list[str]
    """The nodes that are still open, in the order of the conversation."""


class ContextManual(TypedDict):
    """Result of `context.manual`: one variant for each of the four requests."""

    partial: NotRequired[bool]
    """Whether the latest exchanges stay uncompressed."""
    keep: NotRequired[int]
    """How many of them stay."""
    focus: NotRequired[str | None]
    """A topic to keep in most detail."""
    head: NotRequired[list[Any]]
    """The messages to compress."""
    tail: NotRequired[list[Any]]
    """The messages that stay."""
    messages: NotRequired[list[Any]]
    """Both parts as one valid list."""
    noop: NotRequired[bool]
    """Whether nothing changed."""
    headline: NotRequired[str]
    """A line for the user."""
    token_line: NotRequired[str]
    """A line about the size."""
    note: NotRequired[str | None]
    """An additional sentence, if one is needed."""


class ContextOpen(TypedDict):
    """Result of `context.open`."""

    node: str
    """The node."""
    at: int
    """The position in the list before which the messages go."""
    messages: list[Any]
    """The messages that the node covers, byte for byte. Where two messages of one role would meet,
    a mark is added before or after them.
    """
    tokens: int
    """Their estimated tokens."""
    list_tokens: int
    """Estimated tokens of the whole list with them."""
    threshold: int | None
    """The threshold for compression in tokens; null if the session's window is unknown."""
    open: list[str]
    """All nodes that are open now, in the order of the conversation."""


class ContextPins(TypedDict):
    """Result of `context.pins`."""

    pins: list[Pin]
    """The pins in force, oldest first."""
    most_tokens: int | None
    """The most tokens that all pins may keep together; absent if the session's window is unknown.
    """


class ContextPlan(TypedDict):
    """Result of `context.plan`."""

    head_size: int
    """Number of messages at the start that are never compressed."""
    start: int
    """Position of the first message to summarise, in the pruned list."""
    end: int
    """Position of the first message of the tail, in the pruned list."""
    min_tail: int
    """The fewest messages that the tail may have."""
    pruned: int
    """Number of messages that pruning changed."""
    messages: list[Any]
    """The list after pruning."""
    serialized: str
    """The middle as text, in the form that a summarizer gets."""
    prompt: str | None
    """The prompt for a model; null when there is nothing to summarise."""
    max_tokens: int | None
    """The request's `max_tokens`; null if `prompt` is null."""
    summary_budget: int
    """Tokens allotted to the summary."""
    focus: str | None
    """The topic in force."""
    previous_summary: str | None
    """The body of the summary that the new one would update."""
    scores: NotRequired[list[ScoredMessage]]
    """The score of each message of the input: how much later messages refer to it. Messages with
    score 0 are left out.
    """
    superseded: NotRequired[list[Superseded]]
    """Outputs of the input that later ones replace. The agent may discard them with
    `context.discard`.
    """
    preview: NotRequired[PlanPreview]
    """The new list, if `preview` was set."""


class ContextRecordUsage(TypedDict):
    """Result of `context.record_usage`."""

    usage: Buckets
    """The usage in a form that is the same for every provider."""
    should_compress: bool | None
    """Whether to compress now. Only with a configured session."""
    pressure: float | None
    """Prompt tokens as a fraction of the window. Only with a configured session."""
    warning: str | None
    """A warning for the user when the window fills up. Only with a configured session."""


class ContextSchema(TypedDict):
    """Result of `context.schema`."""

    tools: list[Any]
    """The function schemas that let a model discard outputs, and open and close episodes."""


class ContextSettings(TypedDict):
    """The `config` of `context.plan`, for a conversation that belongs to no session."""

    model: NotRequired[str | None]
    """The model in use."""
    context_length: NotRequired[int | None]
    """The model's context window in tokens, at least 1. Must be set once per session."""
    threshold: NotRequired[float | None]
    """Fraction of the window at which to compress; above 0, at most 1."""
    target_ratio: NotRequired[float | None]
    """Fraction of the threshold that the tail may fill, 0.10 to 0.80; other values are clamped."""
    protect_first_n: NotRequired[int | None]
    """Number of messages after the system message that are never compressed."""
    protect_last_n: NotRequired[int | None]
    """Number of latest messages that pruning leaves unchanged."""
    summary_model: NotRequired[str | None]
    """The model that writes summaries, if it is not the model in use."""
    provider: NotRequired[str | None]
    """The provider of the model in use."""
    base_url: NotRequired[str | None]
    """The endpoint of the model in use."""
    api_mode: NotRequired[str | None]
    """The protocol of the endpoint."""
    abort_on_summary_failure: NotRequired[bool | None]
    """Return the input if no model can write a summary."""
    engine: NotRequired[str | None]
    """The engine; `compressor` when absent."""
    summarizer: NotRequired[str | None]
    """The summarizer; the configured chain when absent."""
    redact: NotRequired[bool | None]
    """Mask secrets in the text to summarise."""


class ContextStatus(TypedDict):
    """Result of `context.status` and `context.configure`.

    Token fields are -1 if the value is unknown.
    """

    engine: str
    """The engine in use."""
    model: str
    """The model in use; empty if it was never set."""
    context_length: int
    """The model's context window in tokens."""
    threshold: float
    """Fraction of the window at which to compress."""
    threshold_tokens: int
    """The threshold in tokens."""
    target_ratio: float
    """Fraction of the threshold that the tail may fill."""
    tail_token_budget: int
    """The tail's budget in tokens."""
    max_summary_tokens: int
    """The most tokens that a summary may have."""
    protect_first_n: int
    """Number of messages after the system message that are never compressed."""
    protect_last_n: int
    """Number of latest messages that pruning leaves unchanged."""
    last_prompt_tokens: int
    """Prompt tokens of the last call; -1 right after a compression."""
    last_completion_tokens: int
    """Completion tokens of the last call."""
    last_total_tokens: int
    """Sum of prompt and completion tokens of the last call."""
    last_real_prompt_tokens: int
    """The last number of prompt tokens that a provider reported."""
    usage_percent: float
    """Percentage of the window that the last prompt filled, 0 to 100."""
    compression_count: int
    """Number of compressions so far."""
    last_compression_rough_tokens: int
    """Estimated tokens of the list right after the last compression."""
    last_rough_tokens_when_real_prompt_fit: int
    """The same estimate, set once the provider's count showed that the list fits."""
    awaiting_real_usage: bool
    """Whether no real usage was reported since the last compression."""
    generation: int
    """Incremented by each in-place compression."""
    previous_summary: str | None
    """Body of the last summary."""
    summary_model: str | None
    """The model that writes summaries, if not the one in use."""
    last_error: str | None
    """Why the last summary failed."""
    dropped: int
    """Number of messages that the last compression removed."""
    fallback: bool
    """Whether a summarizer other than the configured one wrote the last summary."""
    aborted: bool
    """Whether the last compression gave up."""
    aux_failure: AuxFailure | None
    """The summary model that failed and was replaced by another summarizer."""
    savings_pct: float
    """Percentage that the last compression saved."""
    ineffective_count: int
    """Number of consecutive compressions that saved less than 10 %."""
    cooldown_s: float
    """Seconds until a failed summarizer is called again."""
    breaker: Breaker
    """Whether automatic compression is allowed."""
    wait_s: float
    """Seconds until automatic compression is allowed."""


class ContextTools(TypedDict):
    """Result of `context.tools`."""

    list: list[Any]
    """The schemas to send: first the kept ones, unchanged and in order, then the tool that opens
    others, then the opened ones.
    """
    tools: list[ToolUse]
    """The use of each given tool."""
    tokens_before: int
    """Tokens of all given schemas."""
    tokens_after: int
    """Tokens of the list. They exceed the budget if the needed tools alone do."""
    opener: str | None
    """The name of the tool that opens others; null if no tool was left out."""


class ContextUndo(TypedDict):
    """Result of `context.undo`."""

    session: str
    """The session's id."""
    generation: int
    """Its current generation: one more than before, or unchanged with `dry_run`."""
    restored: int
    """The generation whose list was restored."""
    undone: list[str]
    """Handles of the undone compressions, newest first."""
    archived: Archived | None
    """Where the messages that left the list are archived; null with `dry_run`."""
    messages: list[Any]
    """The restored list, byte for byte, followed by the messages since then."""
    since: int
    """Number of messages at its end that are newer than the compression."""
    chars: int
    """Chars of the list."""
    tokens: int
    """Estimated tokens of the list."""
    threshold: int | None
    """The threshold for compression in tokens; null if the session's window is unknown."""
    context_length: int | None
    """The window in tokens, if known."""
    over_threshold: bool
    """Whether the list is over the threshold, so that the next check asks for a compression."""


class Edits(TypedDict):
    """How to make the new list from the old one.

    Take the kept ranges in order, use the replaced messages in place of the old ones, and put each
    inserted message before position `at`. All positions are of the input list.
    """

    keep: list[list[int]]
    """Ranges `[from, to)` of messages that stay, replaced ones included."""
    replace: list[ReplacedMessage]
    """Messages that stay with a changed text."""
    insert: list[InsertedMessage]
    """New messages."""


class EngineSettings(TypedDict):
    """The `config` of `context.plan`, for a conversation that belongs to no session."""

    model: NotRequired[str | None]
    """The model in use."""
    context_length: NotRequired[int | None]
    """The model's context window in tokens, at least 1. Must be set once per session."""
    threshold: NotRequired[float | None]
    """Fraction of the window at which to compress; above 0, at most 1."""
    target_ratio: NotRequired[float | None]
    """Fraction of the threshold that the tail may fill, 0.10 to 0.80; other values are clamped."""
    protect_first_n: NotRequired[int | None]
    """Number of messages after the system message that are never compressed."""
    protect_last_n: NotRequired[int | None]
    """Number of latest messages that pruning leaves unchanged."""
    summary_model: NotRequired[str | None]
    """The model that writes summaries, if it is not the model in use."""
    provider: NotRequired[str | None]
    """The provider of the model in use."""
    base_url: NotRequired[str | None]
    """The endpoint of the model in use."""
    api_mode: NotRequired[str | None]
    """The protocol of the endpoint."""
    abort_on_summary_failure: NotRequired[bool | None]
    """Return the input if no model can write a summary."""
    engine: NotRequired[str | None]
    """The engine; `compressor` when absent."""
    redact: NotRequired[bool | None]
    """Mask secrets in the text to summarise."""


class Headings(TypedDict):
    """The four headings for past work."""

    task: str
    """The user's last request."""
    in_progress: str
    """The work in progress."""
    pending: str
    """Earlier requests of the user."""
    remaining: str
    """The remaining work."""


class Host(TypedDict):
    """Which changes of a list a host accepts.

    A host that keeps messages by a handle restores its own form of them, so changes to them are
    lost.
    """

    merged_handoff: NotRequired[bool | None]
    """Whether the handoff may be put in front of the text of another message; true when absent. If
    false, it is a separate message with the role `user`, and two messages of one role may follow
    each other.
    """
    short_calls: NotRequired[bool | None]
    """Whether arguments of calls may be shortened; true when absent."""
    short_results: NotRequired[bool | None]
    """Whether tool results may be shortened; true when absent."""
    fewer_messages: NotRequired[int | None]
    """The fewest messages that a compression must remove. If it removes fewer, the list is returned
    unchanged. 0 when absent.
    """


class InsertedMessage(TypedDict):
    """A new message."""

    at: int
    """The position in the input list before which to insert the message."""
    message: Any
    """The message."""


class NeedsSummary(TypedDict):
    """A summary that the caller has to write with its own model."""

    ticket: str
    """The ticket for `context.resume`; it works once."""
    request: SummaryRequest
    """The model call to make."""


class Over(TypedDict):
    """A list that stays over the threshold because nothing in it can be made smaller."""

    threshold: int
    """The threshold in tokens."""
    tokens: int
    """Tokens of the returned list by the larger of the two estimates, plus what the caller counts
    in addition to the list.
    """
    parts: list[OverPart]
    """The parts that stay and take these tokens."""


class OverPart(TypedDict):
    """A part of a list that no compression changes."""

    part: OverPartKind
    """Which part."""
    tokens: int
    """Its tokens."""


class Pin(TypedDict):
    """A pinned message."""

    id: str
    """Its id, unique within its session."""
    role: str
    """The role of the message."""
    text: str
    """The beginning of its text without secrets, at most 200 chars."""
    tokens: int
    """Tokens kept because of this pin, including the message's pair; estimated when it was pinned.
    """
    at: float
    """When it was pinned, in Unix seconds."""
    until: float | None
    """When the pin ends, in Unix seconds; when absent, it stays until `context.unpin`."""


class PlanPreview(TypedDict):
    """A preview of a compression with herma's own record, without a model call."""

    compressed: bool
    """Whether the compression would change anything."""
    reason: str | None
    """Why it would change nothing."""
    edits: Edits
    """The messages that stay, change or are new; all others leave the list."""
    handoff: str
    """The text of the handoff; empty if there is none."""
    messages_after: int
    """Number of messages after the compression."""
    tokens_before: int
    """Estimated tokens before the compression."""
    tokens_after: int
    """Estimated tokens after the compression."""


class ReplacedMessage(TypedDict):
    """A message that stays with a changed text."""

    index: int
    """Its position in the input list."""
    message: Any
    """Its new form."""


class Report(TypedDict):
    """What a compression did."""

    compressed: bool
    """Whether anything was compressed; if not, the input was returned."""
    reason: str | None
    """Why nothing was compressed."""
    generation: int
    """The session's generation after the compression."""
    session: str
    """The session to continue with."""
    messages_before: int
    """Number of messages before."""
    messages_after: int
    """Number of messages after."""
    chars_before: int
    """Chars before."""
    chars_after: int
    """Chars after."""
    tokens_before: int
    """Tokens before."""
    tokens_after: int
    """Tokens after."""
    head: int
    """Number of messages kept at the start."""
    tail: int
    """Number of messages kept at the end."""
    pruned: int
    """Number of messages that pruning changed."""
    archived: Archived | None
    """Where the removed messages are archived."""
    summarizer: str
    """The summarizer that wrote the summary."""
    fallback: bool
    """Whether a summarizer other than the configured one wrote it."""
    aborted: bool
    """Whether the run gave up and the input was returned."""
    dropped: int
    """Number of messages that the handoff replaces."""
    aux_failure: AuxFailure | None
    """The summary model that failed and was replaced by another summarizer."""
    error: str | None
    """Why the summary failed."""
    savings_pct: float
    """Saved tokens as a percentage of the tokens before."""
    ineffective_count: int
    """Number of consecutive compressions that saved less than 10 %."""
    compression_count: int
    """Number of compressions of the session so far."""
    cooldown_s: float
    """Seconds until a failed summarizer is called again."""
    constraints: int
    """Number of constraints quoted in the handoff."""
    anchors: int
    """Number of exact references in the handoff."""
    unverified: list[str]
    """Quotations in the summary that don't occur in the summarised text."""
    warnings: list[str]
    """Warnings for the caller."""
    elapsed_ms: float
    """Duration in milliseconds."""
    over: Over | None
    """What keeps the list over the threshold, if it still is."""
    verbatim: NotRequired[list[ScoredMessage]]
    """Messages between head and tail that stay word for word, because many later messages refer to
    them.
    """
    shortened: NotRequired[list[ScoredMessage]]
    """Outputs of the tail that were shortened to make room for the handoff."""
    invalidated_tokens: NotRequired[int]
    """Estimated tokens of the old list that a prompt cache can no longer serve."""
    pays_after_calls: NotRequired[int]
    """Number of calls after which the compression has paid for itself if prompts are cached; absent
    if it never does.
    """
    pinned: NotRequired[int]
    """Number of messages in the list that stay because they or their pairs are pinned."""
    discarded: NotRequired[int]
    """Number of outputs reduced to one line, because the agent had discarded them."""
    episodes: NotRequired[int]
    """Number of closed episodes whose messages left the list."""
    folded: NotRequired[list[str]]
    """Nodes opened with `context.open` that left the list, because the budget needs their room."""


class ScoredMessage(TypedDict):
    """A message of the input, and how much later messages refer to it."""

    index: int
    """Its position."""
    score: int
    """Its score, 0 to 100."""
    reasons: list[str]
    """The reasons, most important first: `used`, `open_error`, `correction`, `decision`,
    `only_place`.
    """


class SummaryError(TypedDict):
    """A failed model call."""

    text: str
    """The error message of the provider or the library."""
    status: NotRequired[int | None]
    """The HTTP status."""
    kind: NotRequired[FailureKind | None]
    """The kind of failure; when absent, herma derives it from text and status."""


class SummaryRequest(TypedDict):
    """A model call that writes a summary."""

    task: str
    """The purpose of the call: `compression`."""
    model: str | None
    """The model, if a summary model is set; null for the caller's own."""
    messages: list[Any]
    """Chat messages to send."""
    max_tokens: int
    """The most tokens that the answer may have."""
    place: NotRequired[SummaryPlace]
    """Where the messages go; `alone` when absent."""


class Superseded(TypedDict):
    """An output that a later output replaces."""

    index: int
    """Its position."""
    by: int
    """Position of the output that replaces it."""
    since: str
    """What has happened since: `looked_again`, `changed` or `went_well`."""
    tokens: int
    """Estimated tokens of the output."""


class ToolUse(TypedDict):
    """A tool and its use."""

    name: str | None
    """Its name; null for a schema of an unknown form."""
    tokens: int
    """Estimated tokens of its schema."""
    calls: int
    """Number of its calls in the session's archived messages."""
    state: ToolState
    """Where the tool ended up."""
