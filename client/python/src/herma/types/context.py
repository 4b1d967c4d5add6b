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
"""How long a prompt cache lives."""

CheckReason = Literal[
    "below_threshold",
    "over_threshold",
    "breaker_open",
    "rate_limited",
    "cooldown",
    "nothing_to_compress",
    "disabled",
]
"""What decided about a compression."""

CompactAheadState = Literal["started", "running", "ready", "nothing"]
"""How far a compression in the background is."""

CompressMode = Literal["in_place", "continue"]
"""What a compression does to the session."""

Detail = Literal["low", "medium", "high"]
"""How much a handoff tells."""

EpisodeAction = Literal["open", "close"]
"""What becomes of an episode."""

ErrorClass = Literal["input_too_long", "output_cap", "other"]
"""What a provider's error is about."""

FailureKind = Literal["no_provider", "json", "connection", "timeout", "other"]
"""What kind of failure a call of a model met."""

OverPartKind = Literal["system", "head", "last_exchange", "request"]
"""The parts that no compression touches."""

ReplyForm = Literal["messages", "edits"]
"""How `context.compress` answers."""

SummaryPlace = Literal["alone", "behind_list"]
"""Where the message that asks for a summary goes."""

TextOrOff = Union[str, Literal[False]]
"""A text, or `false` to switch off what happens when the param is absent."""

TokensOrConfigured = Union[int, Literal[True]]
"""A number of tokens, or `true` for the configured one."""

ToolState = Literal["kept", "opened", "stub"]
"""What becomes of a tool."""


class Archived(TypedDict):
    """Where what left the list is kept."""

    handle: str
    """Names the removed messages."""
    messages: int
    """How many messages."""


class AuxFailure(TypedDict):
    """A summary model that failed."""

    model: str
    """The model."""
    error: str
    """What it said, up to 220 chars."""


class Buckets(TypedDict):
    """Tokens of one call of a model."""

    input: int
    """Sent and not cached."""
    output: int
    """Came back."""
    cache_read: int
    """Read from a prompt cache."""
    cache_write: int
    """Written to a prompt cache."""
    reasoning: int
    """Reasoning, part of `output`."""
    request_count: int
    """Calls: 1."""
    prompt: int
    """`input`, `cache_read` and `cache_write` together."""
    total: int
    """`prompt` and `output` together."""


class Compressed(TypedDict):
    """The list or the edits, whichever was asked for, and the report."""

    messages: NotRequired[list[Any]]
    """The new list."""
    edits: NotRequired[Edits]
    """How to get it from the old one."""
    report: Report
    """What was done."""


class ContextCacheControl(TypedDict):
    """Result of `context.cache_control`."""

    messages: list[Any]
    """The conversation with its marks."""


class ContextCheck(TypedDict):
    """Result of `context.check`."""

    compress: bool
    """Whether to compress before the next call."""
    reason: CheckReason
    """Why, or why not."""
    defer: bool
    """The estimate is over the threshold and the provider's own count may be waited for."""
    tokens: int
    """Tokens that were compared with the threshold."""
    threshold: int
    """The threshold in tokens."""
    pressure: float
    """`tokens` as a fraction of the window."""
    wait_s: float
    """Seconds until a compression is allowed; 0 when it is."""


class ContextClassifyError(TypedDict):
    """Result of `context.classify_error`. Sizes are in tokens."""

    kind: ErrorClass
    """What was wrong."""
    context_limit: int | None
    """The window that the text names."""
    lower_limit: int | None
    """The same if it is smaller than `current`."""
    available_output: int | None
    """Tokens that are left for the answer."""
    next_tier: int | None
    """The next smaller usual window below `current`."""


class ContextCompactAhead(TypedDict):
    """Result of `context.compact_ahead`."""

    job: str
    """Names the job; empty when there is nothing to do."""
    state: CompactAheadState
    """How far it is."""


class ContextCompress(TypedDict):
    """Result of `context.compress` and `context.resume`.

    The list or its edits, or the summary that the caller is to write first.
    """

    messages: NotRequired[list[Any]]
    """The new list."""
    edits: NotRequired[Edits]
    """How to get it from the old one."""
    report: NotRequired[Report]
    """What was done."""
    needs_summary: NotRequired[NeedsSummary]


class ContextConstants(TypedDict):
    """Result of `context.constants`: what clients match on."""

    prefix: str
    """What a handoff begins with."""
    end_marker: str
    """What it ends with."""
    metadata_key: str
    """The key that marks the message with a handoff."""
    headings: Headings
    """The headings that a reader must not act on."""
    image_tokens: int
    """Tokens that one image counts."""
    image_chars: int
    """Chars that one image counts in a budget."""
    min_context: int
    """The window below which a summary model is refused, in tokens."""
    probe_tiers: list[int]
    """Windows to try when one is too large, from large to small."""


class ContextDiscard(TypedDict):
    """Result of `context.discard`."""

    outputs: int
    """Outputs that the next compression leaves a line of."""
    tokens: int
    """Tokens that they take now, by estimate."""


class ContextEpisode(TypedDict):
    """Result of `context.episode`."""

    title: str
    """The title as it is kept: without secrets, in one line."""
    messages: int
    """Messages that the next compression takes out of the list; 0 where it begins."""
    tokens: int
    """Tokens that they take now, by estimate."""
    open: list[str]
    """Titles of the episodes that are open now, oldest first."""


class ContextEstimate(TypedDict):
    """Result of `context.estimate`."""

    tokens: int
    """Tokens by chars/4."""
    own: int
    """Tokens by script."""
    budget_chars: int
    """Chars as the boundaries count them."""


class ContextFold(TypedDict):
    """Result of `context.fold`."""

    folded: list[str]
    """The nodes that are closed now."""
    remove: list[list[int]]
    """Ranges `[from, to)` of positions that leave the list, in order."""
    list_tokens: int
    """Tokens of the list without them, by estimate."""
    open: list[str]
    """The nodes that are still open, in the order of the conversation."""


class ContextManual(TypedDict):
    """Result of `context.manual`: the answer to the question that was asked."""

    partial: NotRequired[bool]
    """Whether the latest exchanges stay."""
    keep: NotRequired[int]
    """How many."""
    focus: NotRequired[str | None]
    """A topic to keep most of."""
    head: NotRequired[list[Any]]
    """What is to be compressed."""
    tail: NotRequired[list[Any]]
    """What stays."""
    messages: NotRequired[list[Any]]
    """Both as one valid list."""
    noop: NotRequired[bool]
    """Nothing changed."""
    headline: NotRequired[str]
    """A line for people."""
    token_line: NotRequired[str]
    """A line about the size."""
    note: NotRequired[str | None]
    """A further sentence, where one is needed."""


class ContextOpen(TypedDict):
    """Result of `context.open`."""

    node: str
    """The node."""
    at: int
    """The messages come before the message at this position of the list."""
    messages: list[Any]
    """What the node stands for, byte for byte, with a mark before or behind it where two messages
    of one role would meet.
    """
    tokens: int
    """Their tokens, by estimate."""
    list_tokens: int
    """Tokens of the whole list with them."""
    threshold: int | None
    """Tokens from which compression is due; null where the session's window is not known."""
    open: list[str]
    """All nodes that are open now, in the order of the conversation."""


class ContextPins(TypedDict):
    """Result of `context.pins`."""

    pins: list[Pin]
    """Those in force, oldest first."""
    most_tokens: int | None
    """Tokens that they may take together; absent where the session's window is not known."""


class ContextPlan(TypedDict):
    """Result of `context.plan`."""

    head_size: int
    """Messages that are never compressed, at the front."""
    start: int
    """First message that would be summarised, in the pruned list."""
    end: int
    """First message of the tail, in the pruned list."""
    min_tail: int
    """Fewest messages of the tail."""
    pruned: int
    """Messages that pruning changed."""
    messages: list[Any]
    """The list after pruning."""
    serialized: str
    """The middle as text, as a summarizer gets it."""
    prompt: str | None
    """The prompt for a model; null when there is nothing to summarise."""
    max_tokens: int | None
    """The request's `max_tokens`; null with the prompt."""
    summary_budget: int
    """Tokens that the summary may have."""
    focus: str | None
    """The topic in force."""
    previous_summary: str | None
    """The body of the summary that this one would update."""
    scores: NotRequired[list[ScoredMessage]]
    """What each message of the input is worth to what comes after it, those that are worth nothing
    left out.
    """
    superseded: NotRequired[list[Superseded]]
    """Outputs of the input that later ones stand in for: to discard, if the agent thinks so too."""
    preview: NotRequired[PlanPreview]
    """What the list would be, if that was asked for."""


class ContextRecordUsage(TypedDict):
    """Result of `context.record_usage`."""

    usage: Buckets
    """The same for every provider."""
    should_compress: bool | None
    """With a configured session: whether to compress now."""
    pressure: float | None
    """With a configured session: prompt tokens as a fraction of the window."""
    warning: str | None
    """With a configured session: a sentence for people when the window fills."""


class ContextSchema(TypedDict):
    """Result of `context.schema`."""

    tools: list[Any]
    """The function schemas that let a model discard outputs, and open and close episodes."""


class ContextSettings(TypedDict):
    """The `config` of `context.plan`, for a list that belongs to no session."""

    model: NotRequired[str | None]
    """The model in use."""
    context_length: NotRequired[int | None]
    """Its window in tokens, from 1. Needed once for a session."""
    threshold: NotRequired[float | None]
    """Fraction of the window at which to compress, above 0 and up to 1."""
    target_ratio: NotRequired[float | None]
    """Fraction of the threshold that the tail may fill, 0.10 to 0.80; what is outside is clamped.
    """
    protect_first_n: NotRequired[int | None]
    """Messages after the system message that are never compressed."""
    protect_last_n: NotRequired[int | None]
    """Latest messages that pruning leaves alone."""
    summary_model: NotRequired[str | None]
    """The model that writes summaries, if not the one in use."""
    provider: NotRequired[str | None]
    """The provider of the model in use."""
    base_url: NotRequired[str | None]
    """The endpoint of the model in use."""
    api_mode: NotRequired[str | None]
    """How the endpoint is spoken to."""
    abort_on_summary_failure: NotRequired[bool | None]
    """Return the input when no model can write a summary."""
    engine: NotRequired[str | None]
    """Which engine; `compressor` when absent."""
    summarizer: NotRequired[str | None]
    """Which summarizer; the configured chain when absent."""
    redact: NotRequired[bool | None]
    """Mask secrets in what is summarised."""


class ContextStatus(TypedDict):
    """Result of `context.status` and `context.configure`.

    Token fields are -1 where a value is unknown.
    """

    engine: str
    """The engine in use."""
    model: str
    """The model in use; empty when it was never named."""
    context_length: int
    """Its window in tokens."""
    threshold: float
    """Fraction of the window at which to compress."""
    threshold_tokens: int
    """The same in tokens."""
    target_ratio: float
    """Fraction of the threshold that the tail may fill."""
    tail_token_budget: int
    """The same in tokens."""
    max_summary_tokens: int
    """Most tokens of a summary."""
    protect_first_n: int
    """Messages after the system message that are never compressed."""
    protect_last_n: int
    """Latest messages that pruning leaves alone."""
    last_prompt_tokens: int
    """Prompt tokens of the last call; -1 right after a compression."""
    last_completion_tokens: int
    """Completion tokens of the last call."""
    last_total_tokens: int
    """Sum of both."""
    last_real_prompt_tokens: int
    """Last prompt tokens that a provider reported."""
    usage_percent: float
    """Share of the window that the last prompt filled, 0 to 100."""
    compression_count: int
    """Compressions so far."""
    last_compression_rough_tokens: int
    """Estimate of the list right after the last compression."""
    last_rough_tokens_when_real_prompt_fit: int
    """That estimate, once the provider showed that it fits."""
    awaiting_real_usage: bool
    """A compression happened and no real usage was reported since."""
    generation: int
    """Grows by one with each in-place compression."""
    previous_summary: str | None
    """Body of the last summary."""
    summary_model: str | None
    """The model that writes summaries, if not the one in use."""
    last_error: str | None
    """Why the last summary failed."""
    dropped: int
    """Messages that the last compression took out."""
    fallback: bool
    """Another summarizer than the configured one wrote the last summary."""
    aborted: bool
    """The last compression gave up."""
    aux_failure: AuxFailure | None
    """The summary model that failed and was left."""
    savings_pct: float
    """What the last compression saved, in percent."""
    ineffective_count: int
    """Compressions in a row that saved less than 10 %."""
    cooldown_s: float
    """Seconds until a failed summarizer is asked again."""
    breaker: Breaker
    """Whether automatic compression is allowed."""
    wait_s: float
    """Seconds until it is."""


class ContextTools(TypedDict):
    """Result of `context.tools`."""

    list: list[Any]
    """What is to be sent: those that are kept, as they were given and in their order, then the tool
    that opens others, then those that were opened.
    """
    tools: list[ToolUse]
    """Each tool that was given."""
    tokens_before: int
    """What all of them cost, in tokens."""
    tokens_after: int
    """What the list costs, in tokens; more than the budget where what is needed does."""
    opener: str | None
    """The name of the tool that opens others; null where none is left out."""


class ContextUndo(TypedDict):
    """Result of `context.undo`."""

    session: str
    """The session's id."""
    generation: int
    """Its generation by now: one more than before, unless it was only looked."""
    restored: int
    """The generation whose list came back."""
    undone: list[str]
    """Handles of the compressions that are undone, newest first."""
    archived: Archived | None
    """Where what left the list by it is kept; null where it was only looked."""
    messages: list[Any]
    """The list, byte for byte as it was, and behind it what was said since."""
    since: int
    """How many of its last messages were said since."""
    chars: int
    """Its chars."""
    tokens: int
    """What it costs, in tokens, by estimate."""
    threshold: int | None
    """Tokens from which compression is due; null where the session's window is not known."""
    context_length: int | None
    """The window in tokens, if known."""
    over_threshold: bool
    """The list is over the threshold: the next check will call for a compression."""


class Edits(TypedDict):
    """How to make the new list of the old one.

    The kept ranges in order, with replaced messages in place and inserted ones before position
    `at`. All positions are of the input list.
    """

    keep: list[list[int]]
    """Ranges `[from, to)` of messages that stay, replaced ones included."""
    replace: list[ReplacedMessage]
    """Messages that stay with another text."""
    insert: list[InsertedMessage]
    """New messages."""


class EngineSettings(TypedDict):
    """The `config` of `context.plan`, for a list that belongs to no session."""

    model: NotRequired[str | None]
    """The model in use."""
    context_length: NotRequired[int | None]
    """Its window in tokens, from 1. Needed once for a session."""
    threshold: NotRequired[float | None]
    """Fraction of the window at which to compress, above 0 and up to 1."""
    target_ratio: NotRequired[float | None]
    """Fraction of the threshold that the tail may fill, 0.10 to 0.80; what is outside is clamped.
    """
    protect_first_n: NotRequired[int | None]
    """Messages after the system message that are never compressed."""
    protect_last_n: NotRequired[int | None]
    """Latest messages that pruning leaves alone."""
    summary_model: NotRequired[str | None]
    """The model that writes summaries, if not the one in use."""
    provider: NotRequired[str | None]
    """The provider of the model in use."""
    base_url: NotRequired[str | None]
    """The endpoint of the model in use."""
    api_mode: NotRequired[str | None]
    """How the endpoint is spoken to."""
    abort_on_summary_failure: NotRequired[bool | None]
    """Return the input when no model can write a summary."""
    engine: NotRequired[str | None]
    """Which engine; `compressor` when absent."""
    redact: NotRequired[bool | None]
    """Mask secrets in what is summarised."""


class Headings(TypedDict):
    """The four historical headings."""

    task: str
    """What the user asked last."""
    in_progress: str
    """What was being done."""
    pending: str
    """What the user had asked."""
    remaining: str
    """What was left."""


class Host(TypedDict):
    """What a host takes of a new list.

    A host that keeps messages by a handle puts its own form of them back, and a change of them is
    lost.
    """

    merged_handoff: NotRequired[bool | None]
    """The handoff may stand in front of the text of another message; true when absent. Otherwise it
    is a message of its own with the role of the user, and two messages of one role may follow each
    other.
    """
    short_calls: NotRequired[bool | None]
    """Arguments of calls may become shorter; true when absent."""
    short_results: NotRequired[bool | None]
    """Results of tools may become shorter; true when absent."""
    fewer_messages: NotRequired[int | None]
    """A list counts as compressed only if it has so many messages fewer at the least; otherwise it
    comes back as it was. 0 when absent.
    """


class InsertedMessage(TypedDict):
    """A new message."""

    at: int
    """It comes before this position of the input list."""
    message: Any
    """The message."""


class NeedsSummary(TypedDict):
    """A summary that the caller is to write with its own model."""

    ticket: str
    """What `context.resume` takes, once."""
    request: SummaryRequest
    """The call to make."""


class Over(TypedDict):
    """A list that is over the threshold although nothing in it can be made smaller."""

    threshold: int
    """Tokens from which compression is due."""
    tokens: int
    """Tokens of the list that was answered, by the larger estimate, and of what the caller counts
    beside it.
    """
    parts: list[OverPart]
    """What takes them and stays."""


class OverPart(TypedDict):
    """A part of a list that no compression touches."""

    part: OverPartKind
    """Which one."""
    tokens: int
    """Tokens that it takes."""


class Pin(TypedDict):
    """A pinned message."""

    id: str
    """Names it within its session."""
    role: str
    """Who said it."""
    text: str
    """How its text begins, 200 chars at the most, without secrets."""
    tokens: int
    """Tokens of what stays because of it, its pair included; estimated when it was pinned."""
    at: float
    """Since when, in Unix seconds."""
    until: float | None
    """Until when, in Unix seconds; until it is unpinned when absent."""


class PlanPreview(TypedDict):
    """What a compression would make of a list by herma's own record, without a call of a model."""

    compressed: bool
    """Whether it would change anything."""
    reason: str | None
    """Why not."""
    edits: Edits
    """What stays, what takes another form and what is new; everything else leaves the list."""
    handoff: str
    """The text of the handoff; empty without one."""
    messages_after: int
    """Messages of the list after it."""
    tokens_before: int
    """Tokens of the list before it, by estimate."""
    tokens_after: int
    """Tokens of the list after it."""


class ReplacedMessage(TypedDict):
    """A message that stays with another text."""

    index: int
    """Its position in the input list."""
    message: Any
    """Its new form."""


class Report(TypedDict):
    """What a compression did."""

    compressed: bool
    """Whether anything was compressed; if not, the input came back."""
    reason: str | None
    """Why not."""
    generation: int
    """The session's generation after it."""
    session: str
    """The session to go on with."""
    messages_before: int
    """Messages before."""
    messages_after: int
    """Messages after."""
    chars_before: int
    """Chars before."""
    chars_after: int
    """Chars after."""
    tokens_before: int
    """Tokens before."""
    tokens_after: int
    """Tokens after."""
    head: int
    """Messages kept at the front."""
    tail: int
    """Messages kept at the end."""
    pruned: int
    """Messages that pruning changed."""
    archived: Archived | None
    """Where what left the list is kept."""
    summarizer: str
    """What wrote the summary."""
    fallback: bool
    """Another summarizer than the configured one wrote it."""
    aborted: bool
    """The run gave up and the input came back."""
    dropped: int
    """Messages that the handoff replaces."""
    aux_failure: AuxFailure | None
    """The summary model that failed and was left."""
    error: str | None
    """Why the summary failed."""
    savings_pct: float
    """What was saved, in percent of the tokens before."""
    ineffective_count: int
    """Compressions in a row that saved less than 10 %."""
    compression_count: int
    """Compressions of the session so far."""
    cooldown_s: float
    """Seconds until a failed summarizer is asked again."""
    constraints: int
    """Constraints quoted in the handoff."""
    anchors: int
    """Exact things indexed in the handoff."""
    unverified: list[str]
    """Quotations in the summary that don't occur in what it came from."""
    warnings: list[str]
    """What the caller should know."""
    elapsed_ms: float
    """How long it took."""
    over: Over | None
    """What keeps the list over the threshold, if it is."""
    verbatim: NotRequired[list[ScoredMessage]]
    """Messages between head and tail that stay word for word, because much refers to them."""
    shortened: NotRequired[list[ScoredMessage]]
    """Outputs of the tail that became short to make room for the handoff."""
    invalidated_tokens: NotRequired[int]
    """Tokens of the list of before that a prompt cache has no use for any more, by estimate."""
    pays_after_calls: NotRequired[int]
    """Calls after which it has paid for itself where prompts are cached; absent if it never does.
    """
    pinned: NotRequired[int]
    """Messages of the list that stay because they or their pairs are pinned."""
    discarded: NotRequired[int]
    """Outputs of the list that are only a line any more because the agent was done with them."""
    episodes: NotRequired[int]
    """Closed episodes of which messages left the list."""
    folded: NotRequired[list[str]]
    """Nodes that were open in the list (`context.open`) and left it, for the budget needs their
    room.
    """


class ScoredMessage(TypedDict):
    """A message of the input, and what it is worth to what comes after it."""

    index: int
    """Its position."""
    score: int
    """What it is worth, 0 to 100."""
    reasons: list[str]
    """Why, what counts most first: `used`, `open_error`, `correction`, `decision`, `only_place`."""


class SummaryError(TypedDict):
    """A call of a model that failed."""

    text: str
    """What the provider or the library said."""
    status: NotRequired[int | None]
    """The HTTP status."""
    kind: NotRequired[FailureKind | None]
    """What kind of failure; text and status decide without it."""


class SummaryRequest(TypedDict):
    """A call of a model that writes a summary."""

    task: str
    """What it is for: `compression`."""
    model: str | None
    """The model, where a summary model is set; else the caller's own."""
    messages: list[Any]
    """Chat messages to send."""
    max_tokens: int
    """Most tokens of the answer."""
    place: NotRequired[SummaryPlace]
    """Where the messages go; `alone` when absent."""


class Superseded(TypedDict):
    """An output that a later one stands in for."""

    index: int
    """Its position."""
    by: int
    """Position of the output that stands in for it."""
    since: str
    """What happened since: `looked_again`, `changed`, `went_well`."""
    tokens: int
    """Tokens that it takes, by estimate."""


class ToolUse(TypedDict):
    """A tool by its use."""

    name: str | None
    """Its name; null for a schema of an unknown form."""
    tokens: int
    """What its schema costs, in tokens, by estimate."""
    calls: int
    """Calls of it in the session's archived messages."""
    state: ToolState
    """What becomes of it."""
