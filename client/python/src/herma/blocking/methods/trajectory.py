"""The methods of `trajectory`.

Made by `generate` out of protocol/schema.json.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .call import Caller

if TYPE_CHECKING:
    from builtins import list as List
    from collections.abc import Mapping

    from typing_extensions import Unpack

    from ... import types as t


class Trajectory:
    """The methods of `trajectory`."""

    def __init__(self, call: Caller) -> None:
        self._call = call

    def compress(
        self,
        *,
        conversations: List[List[Any]],
        config: Any | None = None,
        tokens: List[List[int]] | None = None,
        summaries: List[str] | None = None,
        summarizer: str | None = None,
        count: t.TextCount | None = None,
        dry_run: bool | None = None,
        **options: Unpack[t.Options],
    ) -> t.TrajectoryCompress:
        """Compresses recorded conversations to a number of tokens; stores nothing."""
        params: Mapping[str, Any] = {
            "conversations": conversations,
            "config": config,
            "tokens": tokens,
            "summaries": summaries,
            "summarizer": summarizer,
            "count": count,
            "dry_run": dry_run,
        }
        result: t.TrajectoryCompress = self._call("trajectory.compress", params, options)
        return result
