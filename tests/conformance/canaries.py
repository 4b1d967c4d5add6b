"""What has to survive, by the random corpus of compaction-conformance-kit (PyPI): 20 facts of five kinds in each session,
eight seeds, twenty compressions in a row. Between its turns files are read, as agents do: the corpus alone is
too short to be compressed.

  python3 tests/conformance/canaries.py [ENGINE]    with HERMAD, the herma package and the kit on the path
"""

import argparse
import collections
import inspect
import itertools
import sys

from compaction_kit.corpus import build_random_session
from own_home import own_home

from semantic import ENGINE, ROUNDS, SEEDS, compressed

# Of 100, of each kind; and of 100 chars, what the list may still have.
LEAST = 100
MOST = 14

# In tokens.
WINDOW = 8_192

# Chars of a file that is read in between.
PART = 2_000


def with_files(turns):
    """The turns as messages, with a part of a file read behind each answer."""
    source = inspect.getsource(argparse)
    parts = itertools.cycle(source[at : at + PART] for at in range(0, len(source) - PART, PART))
    messages = []
    for number, turn in enumerate(turns):
        messages.append({"role": turn.role, "content": turn.text})
        if turn.role == "assistant":
            arguments = f'{{"path": "argparse.py", "offset": {number}}}'
            call = {"id": f"c{number}", "type": "function", "function": {"name": "read_file", "arguments": arguments}}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": next(parts)})
    return messages


def main():
    there, kinds = collections.Counter(), collections.Counter()
    before = after = 0
    with own_home() as client:
        for seed in SEEDS:
            session, canaries = build_random_session(seed)
            messages = with_files(session.transcript())
            before += sum(len(message["content"] or "") for message in messages)
            messages = compressed(client, f"canaries-{seed}", messages, WINDOW)
            text = "\n".join(str(message.get("content")) for message in messages).lower()
            after += len(text)
            for canary in canaries:
                kinds[canary.type.value] += 1
                there[canary.type.value] += all(token.lower() in text for token in canary.required_tokens)
    shares = {kind: 100 * there[kind] / count for kind, count in kinds.items()}
    told = ", ".join(f"{kind} {share:.0f} %" for kind, share in sorted(shares.items()))
    print(f"{ENGINE}: after {ROUNDS} rounds at {100 * after / before:.1f} % of the size: {told}")
    sys.exit(100 * after > MOST * before or any(share < LEAST for share in shares.values()))


if __name__ == "__main__":
    main()
