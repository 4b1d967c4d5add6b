"""The real daemon, compressing as agents let it."""

import itertools
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import daemon  # noqa: E402

# Hits of a search that are read.
HITS = 5

# What the hooks of Claude Code send with a compression.
OF_HOOKS = {"target": True, "host": {"merged_handoff": False, "short_calls": False}, "force": True, "summarizer": "extractive"}


class CompressingDaemon(daemon.Daemon):
    """A daemon with a home of its own."""

    homes = itertools.count()

    def __init__(self, program, folder, engine=None, as_hooks=False):
        home = folder / f"h{next(self.homes)}"
        home.mkdir()
        super().__init__(program, home)
        self.known = {}
        self.engine = {"engine": engine} if engine else {}
        self.engine |= {"protect_first_n": 0} if as_hooks else {}
        self.asked = OF_HOOKS if as_hooks else {}

    def configure(self, session, window):
        if self.known.get(session) != window:
            self.call("context.configure", {"session": session, "context_length": window, **self.engine})
            self.known[session] = window

    def is_due(self, session, messages, window):
        """Whether the session should be compressed now."""
        self.configure(session, window)
        return self.call("context.check", {"session": session, "messages": messages})["compress"]

    def compress(self, session, messages, window):
        """The shorter list; none if nothing became shorter."""
        self.configure(session, window)
        result = self.call("context.compress", {"session": session, "messages": messages, **self.asked})
        return result["messages"] if result["report"]["compressed"] else None

    def recall(self, session, query):
        """What one search gives a model to read: the passages of its hits."""
        hits = self.call("recall.search", {"query": query, "session": session, "limit": HITS})["hits"]
        items = (self.call("recall.expand", {"handle": hit["handle"], "before": 0, "after": 0}) for hit in hits)
        return "\n".join(item["text"] for expanded in items for item in expanded["items"])
