"""A small agent whose memory, outputs and long conversation herma keeps.

    pip install ./client/python && python3 examples/programs/agent.py

A real agent asks a model where `answer` stands and runs tools where `tool` stands.
"""

from typing import Any

import herma

SESSION = "example-python"
TURNS = 60


def tool(turn: int) -> str:
    """A tool with a long result."""
    return "".join(f"2026-11-22 12:{turn:02}:{line % 60:02} INFO request {line} took {line % 97} ms\n" for line in range(400))


def answer(turn: int) -> str:
    """What a model would say."""
    return f"Turn {turn}: the slowest request took 96 ms, nothing else stands out. Shall I go on?"


def main() -> None:
    with herma.Client() as client:
        opened = client.session.open(session=SESSION, agent="example", context_length=30_000)
        # The snapshot is the same at every call of the session, so that prompt caches hold.
        blocks = [block for block in (opened["snapshot"]["memory"], opened["snapshot"]["user"]) if block]
        messages: list[dict[str, Any]] = [{"role": "system", "content": "\n\n".join(["You watch a server.", *blocks])}]
        compressions = spilled = 0
        for turn in range(TURNS):
            messages.append({"role": "user", "content": f"Look at minute {turn}. Never restart anything by yourself."})
            call = {"id": f"call_{turn}", "type": "function", "function": {"name": "read_log", "arguments": "{}"}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            kept = client.output.admit(
                session=SESSION, tool="read_log", id=call["id"], content=tool(turn), threshold=5_000
            )
            spilled += kept["spilled"]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": kept["content"]})
            messages.append({"role": "assistant", "content": answer(turn)})
            if client.context.check(session=SESSION, messages=messages)["compress"]:
                done = client.context.compress(session=SESSION, messages=messages)
                messages = done["messages"]
                compressions += done["report"]["compressed"]
        client.memory.add(target="memory", content="The slowest request takes about 96 ms.")
        found = client.recall.search(query="slowest request", session=SESSION, limit=3)
        print(f"{TURNS} turns, {spilled} outputs spilled, {compressions} compressions, {len(messages)} messages left")
        print(f"{len(found['hits'])} hits for what was compressed away, the best: {found['hits'][0]['handle']}")
        assert any("Never restart anything" in str(message["content"]) for message in messages)


if __name__ == "__main__":
    main()
