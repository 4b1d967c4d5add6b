"""The types of `recall`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

RecallKind = Literal["message", "output", "memory"]
"""What a hit is in."""

RecallScope = Literal["here", "everywhere"]
"""Where is looked."""


class Attribute(TypedDict):
    """One thing that is known of an entity."""

    name: str
    """As those who said it call it."""
    value: str
    """Its newest value."""
    was: str | None
    """The value before that; null when there was none."""
    handle: str
    """The message that says so, for `recall.expand`."""


class Compression(TypedDict):
    """A compression."""

    generation: int
    """The session's generation after it."""
    time: float
    """When, in Unix seconds."""
    handle: str
    """Leads to the messages in `recall.expand`."""
    messages: int
    """Messages whose text left the list."""
    chars: int
    """Their chars."""
    summary: str
    """The summary that took their place."""
    back_to: NotRequired[int]
    """Of an undo: the generation whose list it brought back; its messages are what left by it."""
    undone: NotRequired[int]
    """The generation of the undo that took it back: its messages are in the list again."""


class Entity(TypedDict):
    """Something that a session is about."""

    kind: str
    """What it is: `order`, `file`, `test`, or how its name is written."""
    id: str
    """Its exact name."""
    attributes: list[Attribute]
    """What is known of it."""
    given: int
    """Calls that were given it."""
    said: int
    """Times that it was named otherwise."""
    handle: str
    """The message that named it last, for `recall.expand`."""


class MapNode(TypedDict):
    """A part of a conversation that left its list."""

    id: str
    """Leads to what it stands for in `recall.expand`."""
    depth: int
    """0 for a leaf, which stands for messages; else one more than the nodes that it stands for."""
    first: int
    """The number of its first message in the conversation, from 0."""
    next: int
    """That of the message after its last one."""
    since: float
    """When its first message came, in Unix seconds."""
    until: float
    """When its last one did, in Unix seconds."""
    tokens: int
    """Tokens of its messages, by the rough estimate."""
    writer: str
    """Who wrote its text: a summarizer."""
    children: list[str]
    """The nodes that it stands for, oldest first; none of a leaf."""
    text: str
    """What it says."""
    references: str
    """Exact references of its messages."""
    state: str
    """The state of the work at its end."""
    warnings: list[str]
    """What the checks of its text had to say."""


class RecallAsk(TypedDict):
    """Result of `recall.ask`."""

    answer: str | None
    """The answer; null where nothing there tells, or no model was asked."""
    evidence: list[RecallEvidence]
    """What shows it, word for word; without an answer the passages that fit the question best."""
    by: str
    """Who answered: a summarizer, `extractive` where there are only passages."""
    unverified: int
    """Quotations that the summarizer made up; they are left out."""
    notice: str | None
    """What somebody should know: why no model answered."""
    recalled: bool
    """Always true: a message with this result is not archived as new."""


class RecallDescribe(TypedDict):
    """Result of `recall.describe`."""

    compressions: list[Compression]
    """What each compression took out, oldest first."""
    map: NotRequired[list[MapNode]]
    """Of a session whose engine is `lossless`: the nodes that no other one stands for, oldest
    first.
    """
    open: NotRequired[list[str]]
    """The nodes whose messages stand in its list again (`context.open`), in the order of the
    conversation.
    """


class RecallEvidence(TypedDict):
    """Words that were said."""

    quote: str
    """The words, with their white space as one space each."""
    handle: str
    """Leads to the message in `recall.expand`."""
    role: str | None
    """Who said it."""
    time: float
    """When, in Unix seconds."""


class RecallExpand(TypedDict):
    """Result of `recall.expand`."""

    items: list[RecallItem]
    """What was found and what is around it, in its order."""
    next: str | None
    """Expanding this goes on where the items end; null at the end."""
    recalled: bool
    """Always true: a message with this result is not archived as new."""


class RecallHit(TypedDict):
    """Something that was found."""

    handle: str
    """Leads to it in `recall.expand`."""
    kind: RecallKind
    """What it is in."""
    session: str | None
    """The session; null when none is known."""
    agent: str | None
    """Which agent's session; null when that is not known."""
    source: str | None
    """The file of another program that the session was imported from."""
    role: str | None
    """Who said it."""
    time: float
    """When, in Unix seconds."""
    snippet: str
    """The text around the hit."""
    start: int
    """Where the hit begins in the snippet, in chars."""
    end: int
    """Where it ends in the snippet, in chars."""
    score: float
    """How well it fits; higher is better, and comparable within one result only."""
    node: NotRequired[str]
    """Of a message that left the list of a session whose engine is `lossless`: the node that stands
    for it.
    """
    host: NotRequired[str]
    """Of a message that was said on another host: that host."""


class RecallItem(TypedDict):
    """A message, a part of an output, or an entry of a store."""

    handle: str
    """Names it."""
    role: str | None
    """Who said it."""
    text: str
    """Its text."""
    message: Any
    """The whole message, byte for byte."""


class RecallSchema(TypedDict):
    """Result of `recall.schema`."""

    tools: list[Any]
    """The function schemas that let a model search, expand, describe and ask for the state; and ask
    a question, where a summarizer is configured that can answer it.
    """


class RecallSearch(TypedDict):
    """Result of `recall.search`."""

    hits: list[RecallHit]
    """The hits, best first."""
    more: bool
    """There are more than were asked for."""
    notice: str | None
    """What somebody should know of the search: that the embedder failed, and words decided alone,
    or that outputs which were kept just now are not found yet.
    """
    recalled: bool
    """Always true: a message with this result is not archived as new."""


class RecallState(TypedDict):
    """Result of `recall.state`."""

    entities: list[Entity]
    """What the session is about, what is needed most first."""
    more: bool
    """There are more than were asked for."""
    recalled: bool
    """Always true: a message with this result is not archived as new."""
