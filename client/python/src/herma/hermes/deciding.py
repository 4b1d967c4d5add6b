"""Whether to compress now, and why not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import HermaError
from . import counting, host
from .guarded import never_raises

if TYPE_CHECKING:
    from ..types import Messages
    from .conversation import Conversation

OFFLINE = "offline"
"""The reason when the daemon can't be asked; that it is away was told when it was lost."""

HELD = {
    "breaker_open": "the last two compressions hardly made the list shorter; one more is tried"
    " when it has grown by a tenth of the window, or in {wait:.0f} s",
    "rate_limited": "it was compressed too often, or too little is new since the last time"
    " ({wait:.0f} s to wait)",
    "cooldown": "nobody can write a summary for {wait:.0f} s more",
    "nothing_to_compress": "nothing stands between the protected head and tail of the list",
    "disabled": "herma/config.toml has turned it off (context.enabled)",
}
"""Why the daemon does not want a compression although the list is over the threshold."""


class Due(NamedTuple):
    """Whether to compress, and where not, why."""

    now: bool
    reason: str | None = None
    """The daemon's name for it."""
    words: str | None = None
    """The same for the user."""


class Deciding:
    """The part of the engine that says when to compress."""

    last_prompt_tokens: int
    threshold_tokens: int
    last_real_prompt_tokens: int
    last_compression_rough_tokens: int
    last_rough_tokens_when_real_prompt_fit: int
    _told_reason: str | None
    _tried_offline: bool
    _cooldown_until: float
    _last_summary_error: str | None

    @never_raises(lambda self, *args: (False, None))
    def should_compress_info(self, prompt_tokens: int | None = None) -> tuple[bool, str | None]:
        """Whether to compress now, and why not although the list is over the threshold."""
        due = self._due(prompt_tokens)
        return due.now, due.words

    @never_raises(lambda self, *args: False)
    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Whether to compress now, at so many tokens or at those of the last call."""
        due = self._due(prompt_tokens)
        if due.now:
            self._told_reason = None
        elif due.words is not None and due.reason not in (self._told_reason, OFFLINE):
            # Hosts that don't ask for the reason can't tell it.
            self._told_reason = due.reason
            host.warn(self._agent(), f"no compression for now: {due.words}")
        return due.now

    def _due(self, prompt_tokens: Any) -> Due:
        tokens = prompt_tokens if prompt_tokens is not None else self.last_prompt_tokens
        if not isinstance(tokens, (int, float)) or not 0 < self.threshold_tokens <= tokens:
            return Due(False)
        try:
            check = self._prepared(raises=True).call("context.check", tokens=int(tokens))
        except HermaError as error:
            # Once: compress() then says to the user what is wrong.
            is_first, self._tried_offline = not self._tried_offline, True
            self._note_failure("context.check", error)
            return Due(is_first, OFFLINE, f"the daemon can't be asked: {error.message}")
        self._tried_offline = False
        reason: str = check["reason"]
        if not check["compress"] and reason in HELD:
            return Due(False, reason, HELD[reason].format(wait=check["wait_s"]))
        # A host may have lowered the threshold below the daemon's own.
        return Due(check["compress"] or reason == "below_threshold")

    @never_raises(lambda self, *args: False)
    def should_compress_preflight(self, messages: Messages) -> bool:
        """Whether to compress before this list is sent."""
        return self.should_compress(counting.estimate(messages))

    @never_raises(lambda self, *args: False)
    def should_defer_preflight_to_real_usage(self, rough_tokens: int) -> bool:
        """Whether the provider's last count is trusted more than an estimate."""
        baseline = self.last_rough_tokens_when_real_prompt_fit or self.last_compression_rough_tokens
        threshold, real = self.threshold_tokens, self.last_real_prompt_tokens
        defers = counting.defers(rough_tokens, threshold, real, baseline)
        if defers:
            self.last_rough_tokens_when_real_prompt_fit = max(baseline, rough_tokens)
        return defers

    def get_active_compression_failure_cooldown(self, **more: Any) -> dict[str, Any] | None:
        """How long no summary can be written after a failure; ``None`` when one can."""
        left = self._cooldown_until - time.monotonic()
        if left <= 0:
            return None
        until, error = time.time() + left, self._last_summary_error
        return {"remaining_seconds": left, "cooldown_until": until, "error": error}

    def _agent(self) -> Any | None:
        raise NotImplementedError

    def _prepared(self, *, raises: bool = False) -> Conversation:
        raise NotImplementedError

    def _note_failure(self, what: str, error: Exception) -> None:
        raise NotImplementedError
