"""Making a list shorter, and what the host reads of how that went."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import BadAnswer, HermaError
from . import counting, edits, host
from .conversation import Conversation
from .link import Link, Offline
from .plain import plain
from .summary import failure, host_model

if TYPE_CHECKING:
    from ..types import ContextStatus, Messages, NeedsSummary
    from .summary import Summarizer

MEMORY_CONTEXT = 100_000
"""Chars of a memory provider's text that the daemon is given; it takes what goes into a prompt."""

ERROR = 220
"""Chars of an error's words that the host shows."""

FEWER = 2
"""The least number of messages by which a list must get shorter. Hermes 0.16 starts a new session for a compressed list and
saves the list there only if it is shorter, after it may have appended a message with the open tasks."""

USUAL_THRESHOLD = 0.50
"""Share of the window from which on the daemon compresses when it is told no other."""

COUNTED = "this conversation was compressed"
"""How the report's warning begins that hosts give by themselves."""

TAKEN = (
    "context_length",
    "threshold",
    "threshold_tokens",
    "protect_first_n",
    "protect_last_n",
    "compression_count",
    "ineffective_count",
    "cooldown_s",
    "last_prompt_tokens",
    "last_completion_tokens",
    "last_total_tokens",
    "last_real_prompt_tokens",
)
"""Numbers of the daemon's status that the host reads, and reckons with."""

logger = logging.getLogger("herma.hermes")


class Compressing:
    """The part of the engine that compresses, and that holds what the host reads."""

    last_prompt_tokens: int
    last_completion_tokens: int
    last_total_tokens: int
    threshold_tokens: int
    threshold_percent: float
    context_length: int
    compression_count: int
    protect_first_n: int
    protect_last_n: int
    last_real_prompt_tokens: int
    last_compression_rough_tokens: int
    last_rough_tokens_when_real_prompt_fit: int
    awaiting_real_usage_after_compression: bool
    _profile: str | None
    _settings: dict[str, Any]
    _summarizer: Summarizer | None
    api_key: Any
    _tried_offline: bool
    _told_reason: str | None
    _last_summary_error: str | None

    def __init__(self) -> None:
        self.last_report: Any = None
        self._asks_host = False
        self._shown_threshold = 0
        self._lowered: int | None = None
        self._begin_run()
        self._cooldown_until = 0.0
        self._ineffective_compression_count = 0

    def compress(
        self,
        messages: Messages,
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
        memory_context: str = "",
    ) -> Messages:
        """A shorter list; the given one stays as it is.

        A list that is not shorter by messages comes back as the very list that was given, and
        the fields of an aborted compression say why; so it does when the session is being
        compressed already, or the daemon can't do it.
        """
        self._begin_run()
        try:
            conversation = self._conversation(messages)
            conversation.link.try_back()
            status = conversation.ready(self._settings)
            if status is not None:
                self._take(status)
            conversation.remember_head(messages)
            params = {
                "current_tokens": _tokens(current_tokens),
                "focus": plain(str(focus_topic)) if focus_topic else None,
                "force": True if force else None,
                "overflow": True if self._was_refused(current_tokens, force) else None,
                "memory_context": plain(str(memory_context or "")[:MEMORY_CONTEXT]).strip() or None,
            }
            with conversation.keeper.alone():
                return self._run(conversation, messages, params)
        except Exception as error:  # Hosts lose turns when an engine raises.
            self._abort(error)
        return messages

    def _was_refused(self, current_tokens: Any, force: bool) -> bool:
        """Whether the provider refused the prompt: else nobody compresses below the threshold."""
        tokens = _tokens(current_tokens)
        return not force and tokens is not None and tokens < self.threshold_tokens

    def _run(
        self, conversation: Conversation, messages: Messages, params: dict[str, Any]
    ) -> Messages:
        was_held = conversation.transcript.is_followed
        if was_held:
            conversation.transcript.add(messages)
            was_held = conversation.transcript.holds(messages)
        params.update(
            session=conversation.id,
            profile=self._profile,
            messages=None if was_held else [plain(message) for message in messages],
            summarizer="client" if self._writer() is not None else None,
            reply="edits",
            mode="in_place",
            host={"fewer_messages": FEWER},
        )
        answer = conversation.link.call_patiently("context.compress", **params)
        while "needs_summary" in answer:
            answer = self._summarise(conversation.link, answer["needs_summary"])
        report = answer["report"]
        shorter = edits.apply(messages, answer["edits"]) if report["compressed"] else messages
        if not shorter:
            raise BadAnswer("the daemon gave an empty list")
        self._take_report(report)
        if shorter is messages:
            # Hermes 0.16 continues in a new, empty session unless the run counts as aborted.
            self._last_compress_aborted = True
            self._last_summary_error = self._last_summary_error or report["reason"]
            return messages
        conversation.keeper.drop()
        conversation.remember_head(shorter)
        conversation.transcript.compressed(shorter, report["generation"], was_held=was_held)
        conversation.was_just_compressed = True
        return shorter

    def _summarise(self, link: Link, needs: NeedsSummary) -> Any:
        """Asks the host's model, and goes on with its words or its failure."""
        writer = self._writer()
        reply: dict[str, Any]
        try:
            assert writer is not None
            summary = writer(needs["request"])
            reply = {"summary": summary} if isinstance(summary, str) else {}
        except Exception as error:
            logger.warning("the summarizer failed: %s", type(error).__name__)
            reply = {"error": failure(error)}
        reply = reply or {"error": {"text": "no text came"}}
        return link.call_patiently(
            "context.resume", ticket=needs["ticket"], profile=self._profile, **plain(reply)
        )

    def _writer(self) -> Summarizer | None:
        if self._summarizer is None and self._asks_host:
            self._summarizer = host_model(self._runtime)
            self._asks_host = self._summarizer is not None
        return self._summarizer

    def ask_host(self) -> None:
        """Has the host's own model write summaries, where there is one."""
        self._summarizer, self._asks_host = None, True

    def _summarizer_of_copy(self) -> Summarizer | None:
        # A copy asks for its own model, not for the one of this engine.
        return None if self._asks_host else self._summarizer

    def _runtime(self) -> Mapping[str, Any]:
        names = ("model", "provider", "base_url", "api_mode")
        return {**{name: self._settings.get(name) or "" for name in names}, "api_key": self.api_key}

    # What the host reads.

    def _begin_run(self) -> None:
        """Clears what belongs to one compression."""
        self._last_compress_aborted = False
        self._last_summary_error = None
        self._last_summary_fallback_used = False
        self._last_summary_dropped_count = 0
        self._last_compression_made_progress = False
        self._last_compression_savings_pct = 0.0
        self._last_aux_model_failure_model: str | None = None
        self._last_aux_model_failure_error: str | None = None

    def _abort(self, error: Exception) -> None:
        words = error.message if isinstance(error, HermaError) else type(error).__name__
        if isinstance(error, Offline):
            words = f"herma's daemon can't be reached: {words}"
        else:
            logger.debug("compress", exc_info=True)
        self._last_compress_aborted = True
        self._last_summary_error = words[:ERROR]
        logger.warning("compression aborted: %s", words)

    def _take_report(self, report: Any) -> None:
        self.last_report = report
        self._last_compress_aborted = bool(report["aborted"])
        self._last_summary_error = report["error"]
        self._last_summary_fallback_used = bool(report["fallback"])
        self._last_summary_dropped_count = report["dropped"] if report["fallback"] else 0
        self._last_compression_savings_pct = report["savings_pct"]
        self._ineffective_compression_count = report["ineffective_count"]
        failed = report["aux_failure"]
        if failed:
            self._last_aux_model_failure_model = failed["model"]
            self._last_aux_model_failure_error = failed["error"]
        self._cooldown_until = time.monotonic() + report["cooldown_s"]
        self.compression_count = report["compression_count"]
        if report["compressed"]:
            self._last_compression_made_progress = report["savings_pct"] > 0
            self.last_prompt_tokens = -1
            self.last_completion_tokens = 0
            self.last_compression_rough_tokens = report["tokens_after"]
            self.awaiting_real_usage_after_compression = True
        for words in report["warnings"]:
            if not words.startswith(COUNTED):
                host.warn(self._agent(), words)

    def _begin_counts(self) -> None:
        """Another conversation begins with nothing."""
        self.last_prompt_tokens = self.last_completion_tokens = self.last_total_tokens = 0
        self.last_real_prompt_tokens = self.last_compression_rough_tokens = 0
        self.last_rough_tokens_when_real_prompt_fit = 0
        self.awaiting_real_usage_after_compression = False
        self.compression_count = 0
        self._ineffective_compression_count = 0
        self._cooldown_until = 0.0
        self._told_reason = None
        self._tried_offline = False
        self._begin_run()

    def _count(self, usage: Mapping[str, Any]) -> None:
        """Counts a call, as the daemon does."""
        prompt = counting.number(usage, "prompt_tokens")
        completion = counting.number(usage, "completion_tokens")
        if "prompt_tokens" not in usage:
            cached = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
            prompt = sum(counting.number(usage, name) for name in cached)
            completion = counting.number(usage, "output_tokens")
        total = counting.number(usage, "total_tokens") or prompt + completion
        waited, self.awaiting_real_usage_after_compression = (
            self.awaiting_real_usage_after_compression,
            False,
        )
        self.last_completion_tokens, self.last_total_tokens = completion, total
        if usage:
            self.last_prompt_tokens = prompt
        if prompt <= 0:
            return
        self.last_real_prompt_tokens = prompt
        if prompt >= self.threshold_tokens:
            self.last_rough_tokens_when_real_prompt_fit = 0
        elif waited and self.last_compression_rough_tokens > 0:
            self.last_rough_tokens_when_real_prompt_fit = self.last_compression_rough_tokens

    def _take(self, status: ContextStatus) -> None:
        """Shows the host what the daemon knows of a session that it had before."""
        told: Mapping[str, Any] = status
        if not all(counting.is_number(told[name]) for name in TAKEN):
            raise BadAnswer("the daemon's status can't be understood")
        self.context_length = status["context_length"]
        self.threshold_percent = status["threshold"]
        self.protect_first_n = status["protect_first_n"]
        self.protect_last_n = status["protect_last_n"]
        self._show_threshold(status["threshold_tokens"])
        self.compression_count = status["compression_count"]
        self._ineffective_compression_count = status["ineffective_count"]
        self._cooldown_until = time.monotonic() + status["cooldown_s"]
        if self.last_real_prompt_tokens == 0:
            self.last_prompt_tokens = status["last_prompt_tokens"]
            self.last_completion_tokens = status["last_completion_tokens"]
            self.last_total_tokens = status["last_total_tokens"]
            self.last_real_prompt_tokens = status["last_real_prompt_tokens"]

    def _guess(self) -> None:
        """Shows the host what the daemon will say of these settings, before it is asked."""
        window = int(self._settings.get("context_length") or 0)
        self.threshold_percent = self._settings.get("threshold") or USUAL_THRESHOLD
        first, last = self._settings.get("protect_first_n"), self._settings.get("protect_last_n")
        self.protect_first_n = 3 if first is None else first
        self.protect_last_n = 20 if last is None else last
        self.context_length = window
        self._lowered = None
        self._shown_threshold = 0
        self._show_threshold(counting.threshold(window, self.threshold_percent))

    def _show_threshold(self, tokens: int) -> None:
        shown = self._host_threshold
        self._lowered = shown if shown is not None else self._lowered
        self.threshold_tokens = tokens if self._lowered is None else min(tokens, self._lowered)
        self._shown_threshold = self.threshold_tokens

    @property
    def _host_threshold(self) -> int | None:
        """Tokens to which the host lowered the threshold; ``None`` where it did not."""
        shown: int = getattr(self, "threshold_tokens", 0)
        return shown if 0 < shown < self._shown_threshold else self._lowered

    def _agent(self) -> Any | None:
        raise NotImplementedError

    def _conversation(self, messages: Any = None) -> Conversation:
        raise NotImplementedError


def _tokens(given: Any) -> int | None:
    return int(given) if counting.is_number(given) and 0 < given < 2**53 else None
