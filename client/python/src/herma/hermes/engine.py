"""The context engine."""

from __future__ import annotations

import copy
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import HermaError
from ..place import Place
from ..start import find_daemon
from . import counting, host, model_tools, recall
from .compressing import USUAL_THRESHOLD, Compressing
from .contract import ContextEngine, base_of_host
from .conversation import Conversation
from .conversations import Conversations
from .deciding import Deciding
from .guarded import never_raises
from .link import LIMIT, Link, Offline, shared_link
from .plain import plain
from .previews import Previews
from .usage import as_chat_completion

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ..blocking.client import Client
    from ..types import EngineSettings, Messages
    from .summary import Summarizer

    Base = ContextEngine
else:
    Base = base_of_host()

COMPRESSION = "compression"
"""The reason that a host gives when a session goes on under another id."""

MODEL_SETTINGS = ("base_url", "provider", "api_mode")
"""What the daemon is told of a model; a key is not among it."""

logger = logging.getLogger("herma.hermes")


class HermaContextEngine(Previews, Deciding, Compressing, Base):
    """Compression by the daemon, for a host that has context engines.

    No method raises. While the daemon can't be reached the engine counts by itself,
    :meth:`compress` gives back what it was given (``_last_compress_aborted`` and
    ``_last_summary_error`` say so), and the daemon is looked for in the background. What a
    turn waits for is given up after ``timeout`` seconds.

    ``summarizer`` asks the host's own model for a summary; without one the daemon's
    configuration says who writes. When it fails the daemon's own record stands in.
    ``settings`` are those of ``context.configure``; the window (``context_length``, tokens)
    has to be there, or come by :meth:`update_model` or :meth:`on_session_start`.
    ``place``, or that of a ``client``, says which daemon is meant; else the host's home does.
    ``thresholds`` gives the share of the window from which on a model is compressed, for
    models that have one of their own. ``last_report`` tells what came of the last compression.
    """

    emit_automatic_compaction_status = True
    """Hosts that ask tell the user when a compression begins by itself."""

    def __init__(
        self,
        summarizer: Summarizer | None = None,
        *,
        client: Client | None = None,
        place: Place | None = None,
        profile: str | None = None,
        timeout: float = LIMIT,
        select_context: bool = False,
        model_tools: bool = False,
        thresholds: Any = None,
        **settings: Unpack[EngineSettings],
    ) -> None:
        Compressing.__init__(self)
        self._summarizer = summarizer
        self._place = client.place if client is not None else place
        self._profile = profile
        self._timeout = timeout
        self._selects = select_context
        self._has_model_tools = model_tools
        self._thresholds = thresholds
        self._settings: dict[str, Any] = dict(settings)
        self._usual_threshold = settings.get("threshold")
        self._home: Path | None = None
        self._conversations = Conversations(profile)
        self.api_key: Any = ""
        """Of the model; the host reads it back, and the daemon is never told."""
        self._told_episode = 0
        self._has_ended = False
        self._context_probed = False
        self._context_probe_persistable = False
        self._session_id = ""
        self._begin_counts()
        self._guess()

    @property
    def name(self) -> str:
        """``herma``."""
        return "herma"

    @property
    def model(self) -> str:
        """The model that the engine was told of last; hosts read it back."""
        return str(self._settings.get("model") or "")

    @property
    def base_url(self) -> str:
        """Its endpoint."""
        return str(self._settings.get("base_url") or "")

    @property
    def provider(self) -> str:
        """Its provider."""
        return str(self._settings.get("provider") or "")

    @property
    def api_mode(self) -> str:
        """The protocol that it is spoken to in."""
        return str(self._settings.get("api_mode") or "")

    @property
    def session_id(self) -> str | None:
        """The daemon's session; it stays when a host goes on under another id."""
        current = self._conversations.current
        return current.id if current is not None else None

    def is_available(self) -> bool:
        """Whether a daemon is there, or could be started; nothing is started for that."""
        try:
            place = self._link.place
            return place.socket.exists() or Path(find_daemon()).is_absolute()
        except (HermaError, OSError):
            return False

    # Sessions.

    @never_raises(lambda self, *args, **more: None)
    def update_model(
        self,
        model: str,
        context_length: int,
        base_url: str = "",
        api_key: Any = "",
        provider: str = "",
        api_mode: str = "",
        **more: Any,
    ) -> None:
        """Takes over another model, or another window in tokens."""
        own = self._own_object()
        if own is not self:
            own.update_model(model, context_length, base_url, api_key, provider, api_mode)
            return
        self.api_key = api_key
        self._settings.update(model=plain(str(model)), context_length=int(context_length))
        # What is not given is not known of this model, whatever the one before had.
        for name, given in zip(MODEL_SETTINGS, (base_url, provider, api_mode)):
            self._settings[name] = plain(str(given or ""))
        share = self._thresholds(model) if self._thresholds is not None else None
        usual = self._usual_threshold
        if share is not None or usual is not None or "threshold" in self._settings:
            # A daemon that was told one keeps it until it is told another.
            self._settings["threshold"] = share or usual or USUAL_THRESHOLD
        self._guess()
        if self._conversations.current is not None:
            self._prepared()

    @never_raises(lambda self, *args, **more: None)
    def on_session_start(self, session_id: str, **about: Any) -> None:
        """Opens the session, or goes on with the one that was just compressed."""
        own = self._own_object()
        if own is not self:
            own.on_session_start(session_id, **about)
            return
        self._has_ended = False
        self._session_id = session_id
        old = about.get("old_session_id")
        if about.get("boundary_reason") == COMPRESSION:
            conversation = self._conversations.named(str(old)) or self._conversations.current
            if conversation is not None:
                conversation.was_just_compressed = False
                self._conversations.rename(conversation, session_id)
                return
        if about.get("model"):
            self._settings["model"] = plain(str(about["model"]))
        if counting.number(about, "context_length"):
            self._settings["context_length"] = counting.number(about, "context_length")
        if about.get("hermes_home") and self._place is None:
            self._home = Path(about["hermes_home"])
        self._guess()
        self._conversations.start(self._link, session_id, self._host_home)
        self._begin_counts()
        self._prepared()

    @never_raises(lambda self, *args, **more: None)
    def bind_session_state(self, session_db: Any = None, session_id: str = "") -> None:
        """Takes the host's id for the session that it calls about from now on."""
        if session_id and session_id != self._session_id:
            self.on_session_start(session_id)

    @never_raises(lambda self, *args, **more: None)
    def on_session_end(self, session_id: str, messages: Messages | None = None) -> None:
        """Closes the session; what the daemon keeps of it stays."""
        current = self._conversations.current
        conversation = self._conversations.named(session_id)
        if conversation is None and current is not None and not (session_id and current.has_name):
            conversation = current
        if conversation is None:
            return
        if conversation.was_just_compressed:
            # The host ends its own session, to go on with the shorter list under another id.
            conversation.was_just_compressed = False
            return
        is_named = session_id in conversation.names
        if messages and (is_named or conversation.is_about(messages) is not False):
            conversation.keeper.take(messages)
        self._conversations.end(conversation, "closed")
        self._has_ended = True

    @never_raises(lambda self: None)
    def on_session_reset(self) -> None:
        """Begins anew: what comes now is another conversation, with another session."""
        Base.on_session_reset(self)
        self._begin_counts()
        conversations = self._conversations
        old = conversations.current
        if old is not None and not self._has_ended:
            conversations.leave(old)
        self._has_ended = False
        self._session_id = ""
        name = host.session_of(conversations.agent)
        if name is None or (old is not None and name in old.names):
            conversations.start_anew(self._link)
        else:
            conversations.start(self._link, name, self._host_home)

    @never_raises(lambda self, *args: None)
    def carry_over_new_session_context(self, old_session_id: str, new_session_id: str) -> None:
        """Takes the user's rules over into another session."""
        old = self._conversations.named(old_session_id)
        new = self._conversations.named(new_session_id) or self._conversation()
        if old is None or new is old:
            return
        new.ready(self._settings)
        for rule in old.call("constraint.list")["constraints"]:
            new.call("constraint.add", text=rule["text"], scope=rule["scope"])

    # Turns.

    @never_raises(lambda self, *args: None)
    def update_from_response(self, usage: Mapping[str, Any]) -> None:
        """Counts what a call used: ``prompt_tokens``, ``completion_tokens``, ..."""
        usage = usage if isinstance(usage, Mapping) else {}
        self._count(usage)
        if usage:
            self._report(usage)

    @never_raises(lambda self, *args, **more: None)
    def on_turn_complete(
        self, messages: Messages, usage: Mapping[str, Any] | None = None, **about: Any
    ) -> None:
        """Has the daemon keep a finished turn, so that a compression need not send it."""
        conversation = self._conversation(messages)
        conversation.remember_head(messages)
        conversation.archive(messages)

    def conversation_of(self, session_id: str | None) -> Conversation | None:
        """The conversation that the host calls so, for a memory provider of the same agent."""
        if not session_id:
            return self._conversations.current
        return self._conversations.named(session_id)

    # Tools of the model.

    @never_raises(lambda self: [])
    def get_tool_schemas(self) -> list[dict[str, Any]]:
        """The functions that get back what is not in the list any more.

        With ``model_tools`` those as well by which a model says what it is done with.
        """
        return recall.schemas() + (model_tools.schemas() if self._has_model_tools else [])

    @never_raises(lambda self, *args, **more: '{"error": "the tool failed"}')
    def handle_tool_call(self, name: str, args: dict[str, Any], **about: Any) -> str:
        """Does one of them; gives JSON text."""

        def call(method: str, **params: Any) -> Any:
            return self._link.call(method, profile=self._profile, **params)

        # The model waits for an answer of this; it is worth a try.
        self._link.try_back()
        if self._has_model_tools and name in model_tools.METHODS:
            messages = about.get("messages")
            current = self._conversation(messages) if messages else self._conversations.current
            return model_tools.answer(name, args, current, messages)
        return recall.answer(call, name, args, session=self.session_id)

    # Copies.

    def __deepcopy__(self, memo: dict[int, Any]) -> HermaContextEngine:
        """An engine with the same settings, for another agent; it has no session yet."""
        made = type(self)(
            self._summarizer_of_copy(),
            place=self._place,
            profile=self._profile,
            timeout=self._timeout,
            select_context=self._selects,
            model_tools=self._has_model_tools,
            thresholds=self._thresholds,
            **copy.copy(self._settings),
        )
        made._home, made.api_key = self._home, self.api_key
        made._usual_threshold = self._usual_threshold
        made._asks_host = self._asks_host
        memo[id(self)] = made
        return made

    def __copy__(self) -> HermaContextEngine:
        """As a deep copy."""
        return self.__deepcopy__({})

    def _own_object(self) -> HermaContextEngine:
        """The engine itself, or a new one that the calling agent has from now on.

        Some hosts give one object to an agent and its subagents; each needs its own.
        """
        agent = host.calling_agent()
        if self._conversations.belongs_to(agent):
            return self
        if agent is None or getattr(agent, "context_compressor", None) is not self:
            return self
        own: HermaContextEngine = copy.deepcopy(self)
        own._conversations.attach(agent)
        agent.context_compressor = own
        return own

    # The daemon.

    def _agent(self) -> Any | None:
        return self._conversations.agent

    @property
    def _link(self) -> Link:
        return shared_link(self._place or host.place(self._home), self._timeout)

    @property
    def _host_home(self) -> Path | None:
        return self._home or host.home()

    def _conversation(self, messages: Sequence[Any] | None = None) -> Conversation:
        """The conversation that a call is about; a new one where there is none."""
        conversations = self._conversations
        if conversations.agent is None:
            conversations.attach(host.calling_agent())
        current = conversations.current
        meant = conversations.meant_by(messages) if messages else current
        if meant is not None and meant is not current:
            return meant
        name = host.session_of(conversations.agent)
        # A host's agent that reviews a session calls itself so in the end; it has its own here.
        is_other = name is not None and (current is None or name not in current.names)
        if name is not None and is_other and not host.is_review(conversations.agent):
            return conversations.start(self._link, name, self._host_home)
        return current if current is not None else conversations.start_anew(self._link)

    def _prepared(self, *, raises: bool = False) -> Conversation:
        """The current conversation, once the daemon knows its settings."""
        conversation = self._conversation()
        try:
            if self._host_threshold is not None and self.context_length > 0:
                self._settings["threshold"] = self._host_threshold / self.context_length
            status = conversation.ready(self._settings)
            if status is not None:
                self._take(status)
        except HermaError as error:
            self._note_failure("context.configure", error)
            if raises:
                raise
        return conversation

    @never_raises(lambda self, *args: None)
    def _report(self, usage: Mapping[str, Any]) -> None:
        conversation = self._prepared()
        conversation.was_just_compressed = False
        # What the daemon can't hear now it is told when it is back.
        params: dict[str, Any] = {"usage": dict(usage)}
        if "prompt_tokens" in usage:
            params = {"usage": as_chat_completion(usage), "api_mode": "chat_completions"}
        answer = conversation.link.call_or_keep(
            "context.record_usage", session=conversation.id, profile=self._profile, **plain(params)
        )
        if answer is None:
            self._note_failure("context.record_usage", Offline(conversation.link.reason or ""))

    def _note_failure(self, what: str, error: Exception) -> None:
        """Tells the user once that the daemon is away; everything else is for the log."""
        if not isinstance(error, Offline):
            words = error.message if isinstance(error, HermaError) else type(error).__name__
            logger.info("%s: %s", what, words)
            return
        link = self._link
        if link.episode > self._told_episode and link.reason is not None:
            self._told_episode = link.episode
            words = f"the daemon does not answer ({link.reason}); the agent goes on without it"
            host.warn(self._conversations.agent, words)
