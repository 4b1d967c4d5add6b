"""Lists as the libraries of providers write them, compressed and brought back: what comes back is what they take."""

from __future__ import annotations

from typing import Any

import pytest

anthropic = pytest.importorskip("anthropic", reason="needs pypi")
openai = pytest.importorskip("openai", reason="needs pypi")
genai = pytest.importorskip("google.genai", reason="needs pypi")

from anthropic.types import Message, MessageParam  # noqa: E402
from google.genai.types import Content, FunctionCall, FunctionResponse, Part  # noqa: E402
from openai.types.responses import ResponseFunctionToolCall, ResponseInputItemParam, ResponseOutputMessage  # noqa: E402
from pydantic import TypeAdapter  # noqa: E402

import herma  # noqa: E402

TURNS = 40


def question(at: int) -> str:
    return f"question {at} about topic-{at} – " + "word " * 40


def result(at: int) -> str:
    return f"result {at} " + "line of it\n" * 60


def of_anthropic(**dump: Any) -> list[Any]:
    """Answers are dumped as they come from the library, with the fields that are null."""
    items: list[Any] = []
    for at in range(TURNS):
        usage = {"input_tokens": 1, "output_tokens": 1}
        blocks = [
            {"type": "text", "text": f"I look – {at}", "citations": None},
            {"type": "tool_use", "id": f"toolu_{at}", "name": "read", "input": {"path": f"/srv/ü{at}", "lines": 10}},
        ]
        fields = {"id": "m", "type": "message", "role": "assistant", "model": "c", "usage": usage}
        answer = Message.model_validate({**fields, "content": blocks, "stop_reason": "tool_use", "stop_sequence": None})
        content = [block.model_dump(**dump) for block in answer.content]
        items += [
            {"role": "user", "content": question(at)},
            {"role": "assistant", "content": content},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"toolu_{at}", "content": result(at)}]},
            {"role": "assistant", "content": f"answer {at}"},
        ]
    return items


def of_openai(**dump: Any) -> list[Any]:
    items: list[Any] = []
    for at in range(TURNS):
        call = ResponseFunctionToolCall(
            type="function_call", id=f"fc_{at}", call_id=f"call_{at}", name="read", arguments='{"path": "/srv"}'
        )
        said = ResponseOutputMessage.model_validate(
            {
                "id": f"msg_{at}",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": f"answer {at}", "annotations": []}],
            }
        )
        items += [
            {"role": "user", "content": [{"type": "input_text", "text": question(at)}]},
            call.model_dump(**dump),
            {"type": "function_call_output", "call_id": f"call_{at}", "output": result(at)},
            said.model_dump(**dump),
        ]
    return items


def of_gemini(**dump: Any) -> list[Any]:
    items = []
    for at in range(TURNS):
        call = Part(function_call=FunctionCall(name="read", args={"path": f"/srv/ü{at}"}))
        answer = Part(function_response=FunctionResponse(name="read", response={"output": result(at)}))
        items += [
            Content(role="user", parts=[Part(text=question(at))]),
            Content(role="model", parts=[Part(text=f"I look {at}"), call]),
            Content(role="user", parts=[answer]),
            Content(role="model", parts=[Part(text=f"answer {at}")]),
        ]
    return [item.model_dump(mode="json", **dump) for item in items]


def calls_and_results(items: list[Any]) -> tuple[int, int]:
    """How many calls and results a list has, in whatever form and spelling."""
    calls = results = 0
    for item in items:
        parts = item.get("parts") or (item["content"] if isinstance(item.get("content"), list) else [])
        for part in [item, *parts]:
            kind = part.get("type")
            calls += kind in ("tool_use", "function_call") or bool(part.get("functionCall") or part.get("function_call"))
            results += kind in ("tool_result", "function_call_output") or bool(
                part.get("functionResponse") or part.get("function_response")
            )
    return calls, results


@pytest.mark.parametrize("engine", ["compressor", "lossless"])
@pytest.mark.parametrize(
    ("make", "takes", "dump"),
    [
        (of_anthropic, TypeAdapter(MessageParam), {}),
        (of_anthropic, TypeAdapter(MessageParam), {"exclude_none": True}),
        # With the fields that are null its own type refuses what OpenAI's library dumps.
        (of_openai, TypeAdapter(ResponseInputItemParam), {"exclude_none": True}),
        (of_gemini, TypeAdapter(Content), {}),
        (of_gemini, TypeAdapter(Content), {"exclude_none": True}),
        (of_gemini, TypeAdapter(Content), {"exclude_none": True, "by_alias": True}),
    ],
)
def test_what_comes_back_is_what_the_library_takes(
    client: herma.Client, engine: str, make: Any, takes: TypeAdapter[Any], dump: dict[str, Any]
) -> None:
    items = make(**dump)
    session = f"{make.__name__}-{engine}-{len(dump)}"
    client.context.configure(session=session, context_length=8_000, engine=engine)
    before = items
    for _round in range(3):
        done = client.context.compress(session=session, messages=before)
        assert done["report"]["compressed"], done["report"]
        after = done["messages"]
        for item in after:
            takes.validate_python(item)
        calls, results = calls_and_results(after)
        assert calls == results > 0
        assert after[-1] == before[-1]
        # What did not change is the same, and an undo gives all of it back.
        assert sum(item in before for item in after) >= len(after) // 3
        assert client.context.undo(session=session, messages=after, dry_run=True)["messages"] == before
        before = after + make(**dump)
