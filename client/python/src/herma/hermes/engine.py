"""The context engine."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..errors import Busy
from . import edits, recall
from .contract import ContextEngine, base_of_host
from .shared import shared_client
from .summary import failure
from .usage import as_chat_completion

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..blocking.client import Client
    from ..types import (
        Compressed,
        ContextStatus,
        EngineSettings,
        Messages,
        NeedsSummary,
        Options,
        Report,
    )
    from .summary import Summarizer

    Base = ContextEngine
else:
    Base = base_of_host()

AGENT = "hermes"

COMPRESSION = "compression"
"""The reason that a host gives when a session goes on under another id."""

SMALL_WINDOW = 64_000
SMALL_SHARE = 0.85
"""A small window is used up to this share before it is compressed."""

MODEL_SETTINGS = ("base_url", "provider", "api_mode")
"""What the daemon is told of a model; a key is not among it."""

logger = logging.getLogger("herma.hermes")


class HermaContextEngine(Base):
    """Compression by the daemon, for a host that has context engines.

    ``summarizer`` asks the host's own model for a summary; without one the
    daemon's configuration says who writes it. When it fails the daemon's own
    record stands in. ``settings`` are those of ``context.configure``; the window
    (``context_length``, tokens) has to be there, or come by :meth:`update_model`
    or :meth:`on_session_start`, before anything is asked.

    A daemon that can't be reached raises :class:`herma.DaemonUnavailable`.
    ``last_report`` tells what came of the last compression.
    """

    def __init__(
        self,
        summarizer: Summarizer | None = None,
        *,
        client: Client | None = None,
        profile: str | None = None,
        **settings: Unpack[EngineSettings],
    ) -> None:
        self.last_report: Report | None = None
        self._summarizer = summarizer
        self._client = client
        self._options: Options = {"profile": profile}
        self._settings: dict[str, Any] = dict(settings)
        self._session: str | None = None
        self._configured = False
        self._guess()

    @property
    def name(self) -> str:
        """``herma``."""
        return "herma"

    @property
    def session_id(self) -> str | None:
        """The daemon's session; it stays when a host goes on under another id."""
        return self._session

    def update_model(self, model: str, context_length: int, *about: Any, **more: Any) -> None:
        """Takes over another model, or another window in tokens."""
        self._settings.update(model=model, context_length=context_length)
        given = {**dict(zip(("base_url", "api_key", "provider"), about)), **more}
        for name in MODEL_SETTINGS:
            if given.get(name):
                self._settings[name] = given[name]
        self._configured = False
        if self._session is None:
            self._guess()
        else:
            self._ready()

    def on_session_start(self, session_id: str, **about: Any) -> None:
        """Opens the session, or goes on with the one that was just compressed."""
        if about.get("boundary_reason") == COMPRESSION and self._session is not None:
            return
        for name in ("model", "context_length"):
            if about.get(name):
                self._settings[name] = about[name]
        self._session = session_id
        self._configured = False
        self._daemon.session.open(session=session_id, agent=AGENT, **self._options)
        if self._settings.get("context_length"):
            self._ready()

    def on_session_end(self, session_id: str, messages: Messages) -> None:
        """Closes the session; what the daemon keeps of it stays."""
        if self._session is not None:
            self._daemon.session.close(session=self._session, **self._options)

    def on_session_reset(self) -> None:
        """Forgets what the engine remembers of the session."""
        if self._configured and self._session is not None:
            self._take(self._daemon.context.reset(session=self._session, **self._options))
        super().on_session_reset()

    def update_from_response(self, usage: Mapping[str, Any]) -> None:
        """Tells the daemon what a call used: ``prompt_tokens``, ``completion_tokens``, ..."""
        session = self._ready()
        if "prompt_tokens" in usage:
            self._daemon.context.record_usage(
                session=session,
                usage=as_chat_completion(usage),
                api_mode="chat_completions",
                **self._options,
            )
        else:
            self._daemon.context.record_usage(session=session, usage=dict(usage), **self._options)
        self._look()

    def should_compress(self, prompt_tokens: int | None = None) -> bool:
        """Whether to compress now, at so many tokens or at those of the last call."""
        tokens = prompt_tokens if prompt_tokens is not None and prompt_tokens > 0 else None
        check = self._daemon.context.check(session=self._ready(), tokens=tokens, **self._options)
        return check["compress"]

    def should_compress_preflight(self, messages: Messages) -> bool:
        """Whether to compress before this list is sent."""
        check = self._daemon.context.check(
            session=self._ready(), messages=messages, **self._options
        )
        return check["compress"]

    def has_content_to_compress(self, messages: Messages) -> bool:
        """Whether anything stands between head and tail."""
        plan = self._daemon.context.plan(session=self._ready(), messages=messages, **self._options)
        return plan["start"] < plan["end"]

    def compress(
        self,
        messages: Messages,
        current_tokens: int | None = None,
        focus_topic: str | None = None,
        force: bool = False,
    ) -> Messages:
        """A shorter list; the given one stays as it is.

        What did not get shorter comes back as the very list that was given, and
        so does one whose session is being compressed already.
        """
        try:
            answer = self._daemon.context.compress(
                session=self._ready(),
                messages=messages,
                current_tokens=current_tokens,
                focus=focus_topic or None,
                force=force or None,
                summarizer="client" if self._summarizer is not None else None,
                reply="edits",
                mode="in_place",
                **self._options,
            )
            while "needs_summary" in answer:
                answer = self._summarise(answer["needs_summary"])
        except Busy:
            logger.warning("the session is being compressed already")
            return messages
        self.last_report = answer["report"]
        self._look()
        shorter = answer["report"]["compressed"]
        return edits.apply(messages, answer["edits"]) if shorter else messages

    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The functions that get back what is not in the list any more."""
        return self._daemon.recall.schema(**self._options)["tools"]

    def handle_tool_call(self, name: str, args: dict[str, Any], **about: Any) -> str:
        """Does one of them; gives JSON text."""
        profile = self._options.get("profile")
        session = self._session or ""
        return recall.answer(self._daemon, name, args, session=session, profile=profile)

    @property
    def _daemon(self) -> Client:
        return self._client if self._client is not None else shared_client()

    def _ready(self) -> str:
        """The session's id, once the daemon knows the settings."""
        if self._session is None:
            self._session = f"{AGENT}-{uuid.uuid4().hex}"
        if not self._configured:
            status = self._daemon.context.configure(
                session=self._session, **self._settings, **self._options
            )
            self._configured = True
            self._take(status)
        return self._session

    def _summarise(self, needs: NeedsSummary) -> Compressed:
        """Asks the host's model, and goes on with its words or its failure."""
        assert self._summarizer is not None
        resume = self._daemon.context.resume
        try:
            summary = self._summarizer(needs["request"])
        except Exception as error:
            logger.warning("the summarizer failed: %s", type(error).__name__)
            return resume(ticket=needs["ticket"], error=failure(error), **self._options)
        if not isinstance(summary, str):
            return resume(ticket=needs["ticket"], error={"text": "no text came"}, **self._options)
        return resume(ticket=needs["ticket"], summary=summary, **self._options)

    def _look(self) -> None:
        self._take(self._daemon.context.status(session=self._ready(), **self._options))

    def _take(self, status: ContextStatus) -> None:
        """Shows the host what the daemon knows."""
        self.last_prompt_tokens = status["last_prompt_tokens"]
        self.last_completion_tokens = status["last_completion_tokens"]
        self.last_total_tokens = status["last_total_tokens"]
        self.threshold_tokens = status["threshold_tokens"]
        self.context_length = status["context_length"]
        self.compression_count = status["compression_count"]
        self.threshold_percent = status["threshold"]
        self.protect_first_n = status["protect_first_n"]
        self.protect_last_n = status["protect_last_n"]

    def _guess(self) -> None:
        """Shows the host what the daemon will say of these settings, before it is asked."""
        window = int(self._settings.get("context_length", 0))
        self.threshold_percent = self._settings.get("threshold", 0.50)
        self.protect_first_n = self._settings.get("protect_first_n", 3)
        self.protect_last_n = self._settings.get("protect_last_n", 20)
        self.context_length = window
        least = min(SMALL_WINDOW, int(window * SMALL_SHARE))
        self.threshold_tokens = max(int(window * self.threshold_percent), least)
