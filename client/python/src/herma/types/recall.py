"""The types of `recall`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

RecallKind = Literal["message", "output", "memory"]
"""The kind of object that contains a hit."""

RecallScope = Literal["here", "everywhere"]
"""The hosts to search."""


class Attribute(TypedDict):
    """An attribute of an entity."""

    name: str
    """Its name, as in the messages."""
    value: str
    """Its newest value."""
    was: str | None
    """The previous value; null if there was none."""
    handle: str
    """The handle, for `recall.expand`, of the message that contains the value."""


class Compression(TypedDict):
    """A compression."""

    generation: int
    """The session's generation after the compression."""
    time: float
    """The time of the compression, in Unix seconds."""
    handle: str
    """The handle of the messages for `recall.expand`."""
    messages: int
    """Number of messages whose text left the list."""
    chars: int
    """Chars of these messages."""
    summary: str
    """The summary that replaced them."""
    back_to: NotRequired[int]
    """For an undo: the generation whose list it restored. The messages are those that the undo
    removed.
    """
    undone: NotRequired[int]
    """The generation of the undo that undid this compression: its messages are in the list again.
    """


class Entity(TypedDict):
    """A thing that a session is about, such as an order, a file or a test."""

    kind: str
    """Its kind: `order`, `file` or `test`, or the form of its name."""
    id: str
    """Its exact name."""
    attributes: list[Attribute]
    """The known attributes."""
    given: int
    """Number of calls that had its name in their arguments."""
    said: int
    """Number of other mentions."""
    handle: str
    """The handle, for `recall.expand`, of the last message that mentions it."""


class MapNode(TypedDict):
    """A node of a session's map: a part of the conversation that left its list."""

    id: str
    """Its id, also the handle for `recall.expand`."""
    depth: int
    """0 for a leaf, which covers messages; otherwise one more than the depth of the nodes that it
    covers.
    """
    first: int
    """The number of its first message in the conversation, from 0."""
    next: int
    """The number of the message after its last one."""
    since: float
    """The time of its first message, in Unix seconds."""
    until: float
    """The time of its last message, in Unix seconds."""
    tokens: int
    """Tokens of its messages, by a rough estimate."""
    writer: str
    """The summarizer that wrote its text."""
    children: list[str]
    """The nodes that it covers, oldest first; empty for a leaf."""
    text: str
    """Its text."""
    references: str
    """Exact references in its messages."""
    state: str
    """The state of the work at the end of its messages."""
    warnings: list[str]
    """Warnings from the checks of its text."""


class RecallAsk(TypedDict):
    """Result of `recall.ask`."""

    answer: str | None
    """The answer; null if the passages don't contain it or no model was called."""
    evidence: list[RecallEvidence]
    """Quotations that support the answer; without an answer, the passages that fit the question
    best.
    """
    by: str
    """The summarizer that answered; `extractive` if there are only passages."""
    unverified: int
    """Number of quotations that the summarizer made up; they are left out."""
    notice: str | None
    """Why no model answered."""
    recalled: bool
    """Always true. It keeps a message with this result from being archived again."""


class RecallDescribe(TypedDict):
    """Result of `recall.describe`."""

    compressions: list[Compression]
    """The compressions, oldest first."""
    map: NotRequired[list[MapNode]]
    """The nodes that no other node covers, oldest first. Only for a session with the engine
    `lossless`.
    """
    open: NotRequired[list[str]]
    """The nodes opened with `context.open`, in the order of the conversation."""


class RecallEvidence(TypedDict):
    """A quotation from a message."""

    quote: str
    """The quoted words, with runs of white space as one space."""
    handle: str
    """The handle of the message for `recall.expand`."""
    role: str | None
    """The role of the message."""
    time: float
    """The time of the message, in Unix seconds."""


class RecallExpand(TypedDict):
    """Result of `recall.expand`."""

    items: list[RecallItem]
    """The found object and its surroundings, in order."""
    next: str | None
    """The handle to expand for the items after the last one; null at the end."""
    recalled: bool
    """Always true. It keeps a message with this result from being archived again."""


class RecallHit(TypedDict):
    """A search hit."""

    handle: str
    """The handle for `recall.expand`."""
    kind: RecallKind
    """The kind of object that contains it."""
    session: str | None
    """The session; null if unknown."""
    agent: str | None
    """The agent of the session; null if unknown."""
    source: str | None
    """The file of another program from which the session was imported."""
    cwd: NotRequired[str]
    """The folder that the session's agent worked in."""
    role: str | None
    """The role of the message."""
    time: float
    """The time of the text, in Unix seconds."""
    snippet: str
    """The text around the hit."""
    start: int
    """Start of the hit in the snippet, in chars."""
    end: int
    """End of the hit in the snippet, in chars."""
    score: float
    """The score; higher is better. Scores of different results are not comparable."""
    node: NotRequired[str]
    """The node that covers the message, if it left the list of a session with the engine
    `lossless`.
    """
    host: NotRequired[str]
    """The host of the message, if it is from another host."""
    before: NotRequired[list[RecallNeighbour]]
    """The messages right before it, oldest first."""
    after: NotRequired[list[RecallNeighbour]]
    """The messages right after it."""


class RecallItem(TypedDict):
    """A message, a part of an output or an entry of a store."""

    handle: str
    """Its handle."""
    role: str | None
    """The role of the message."""
    text: str
    """Its text."""
    part: NotRequired[RecallItemPart]
    """For a part of a message that is too long: where the part is."""
    message: Any
    """The whole message, byte for byte."""


class RecallItemPart(TypedDict):
    """The place of a part in the text of a message, in chars."""

    start: int
    """Where it begins."""
    end: int
    """Where it ends; exclusive."""
    chars: int
    """The length of the whole text."""


class RecallNeighbour(TypedDict):
    """A message next to a hit."""

    handle: str
    """The handle for `recall.expand`."""
    role: str | None
    """The role of the message."""
    snippet: str
    """The part of its text that fits the query best, or its beginning."""


class RecallSchema(TypedDict):
    """Result of `recall.schema`."""

    tools: list[Any]
    """The function schemas with which a model can search, expand, describe and query the state.
    They include a function for questions if a summarizer is configured that can answer them.
    """


class RecallSearch(TypedDict):
    """Result of `recall.search`."""

    hits: list[RecallHit]
    """The hits, best first."""
    more: bool
    """Whether there are more hits."""
    notice: str | None
    """A note about the search: the embedder failed and only words were compared, or outputs stored
    just now are not found yet.
    """
    recalled: bool
    """Always true. It keeps a message with this result from being archived again."""


class RecallState(TypedDict):
    """Result of `recall.state`."""

    entities: list[Entity]
    """The entities of the session, the most relevant first."""
    more: bool
    """Whether there are more entities."""
    recalled: bool
    """Always true. It keeps a message with this result from being archived again."""
