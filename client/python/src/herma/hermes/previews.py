"""What the host asks of a list that is not to be compressed now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from . import counting
from .guarded import never_raises
from .plain import plain
from .pruning import PREVIEW_CHARS, worth_pruning

if TYPE_CHECKING:
    from ..types import Messages
    from .conversation import Conversation

PHASES = ("preflight", "compress")

RECALL = "[recall_expand with the handle {handle} gives back all of it.]"
"""What stands behind the block of a result that was taken out: its path may lie outside of the
place where tools run."""


class Previews:
    """The part of the engine that looks at lists, and prunes them without a summary."""

    protect_first_n: int
    protect_last_n: int
    threshold_tokens: int
    _selects: bool
    _settings: dict[str, Any]
    _profile: str | None

    @never_raises(lambda self, messages, *args, **more: (messages, 0))
    def prune_tool_results_only(
        self, messages: Messages, current_tokens: int | None = None
    ) -> tuple[Messages, int]:
        """Takes old tool results out where that pays, each with a handle in its place.

        The full texts are kept first; the model reads them back by the handle. Where less
        would be saved than writing the prompt cache anew costs, and while the daemon can't
        be reached, the list comes back as it is, with 0.
        """
        worth = worth_pruning(messages, self.protect_last_n)
        if not worth:
            return messages, 0
        conversation = self._prepared(raises=True)
        settled = conversation.call(
            "output.settle_turn",
            results=[
                {
                    "id": str(messages[at].get("tool_call_id") or f"pruned_{at}"),
                    "content": plain(messages[at])["content"],
                }
                for at in worth
            ],
            config={"turn_budget": 0, "preview_size": PREVIEW_CHARS},
        )
        pruned = list(messages)
        for one in settled["replacements"]:
            at = worth[one["index"]]
            content = f"{one['content']}\n{RECALL.format(handle=one['handle'])}"
            pruned[at] = {**messages[at], "content": content}
        return (pruned, len(settled["replacements"])) if settled["replacements"] else (messages, 0)

    @never_raises(lambda self, *args, **more: None)
    def select_context(
        self,
        request_messages: Messages,
        *,
        conversation_messages: Sequence[Any] | None = None,
        incoming_message: Any = None,
        budget_tokens: int = 0,
    ) -> Messages | None:
        """For one request that is over its budget: the list as the next compression would prune it.

        ``None`` leaves the request alone; so it is unless ``select_context`` was switched on.
        """
        size = counting.estimate(request_messages)
        if not self._selects or size <= (budget_tokens or self.threshold_tokens):
            return None
        plan = self._plan(request_messages)
        pruned = plan["messages"]
        if not plan["pruned"] or len(pruned) != len(request_messages):
            return None
        # What stayed as it was stays the very same object, marks of the host's own included.
        sent = [plain(message) for message in request_messages]
        pairs = zip(request_messages, sent, pruned)
        return [old if same == new else new for old, same, new in pairs]

    @never_raises(lambda self, messages: len(messages or ()) > self.protect_first_n + 4)
    def has_content_to_compress(self, messages: Messages) -> bool:
        """Whether anything stands between head and tail."""
        plan = self._plan(messages)
        return bool(plan["start"] < plan["end"])

    @never_raises(lambda self, *args: None)
    def pending_compression_operation(self, messages: Messages) -> str | None:
        """``sanitize`` where the next compression would only prune, and write no summary."""
        if counting.estimate(messages) < self.threshold_tokens:
            return None
        plan = self._plan(messages)
        is_only_pruning = plan["start"] >= plan["end"] and plan["pruned"] > 0
        return "sanitize" if is_only_pruning else None

    @never_raises(lambda self, *args, default_message="", **more: default_message)
    def get_automatic_compaction_status_message(
        self, *, phase: str, default_message: str = "", **context: Any
    ) -> str:
        """What the user sees when a compression begins by itself."""
        tokens, threshold = context.get("approx_tokens"), context.get("threshold_tokens")
        if phase not in PHASES or not isinstance(tokens, int):
            return default_message
        over = f" of {threshold:,}" if isinstance(threshold, int) else ""
        return (
            f"🗜️ herma makes the conversation shorter (about {tokens:,}{over} tokens); "
            "what leaves it can be recalled"
        )

    def _plan(self, messages: Messages) -> Any:
        sent = [plain(message) for message in messages]
        return self._prepared(raises=True).call("context.plan", messages=sent)

    def _prepared(self, *, raises: bool = False) -> Conversation:
        raise NotImplementedError
