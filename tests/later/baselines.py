"""What else could be done with a list that is too long, at the same number of tokens."""

import json

# What is put in the place of a deleted output.
DELETED = "[deleted]"


def text_of(message):
    """All that a model reads of a message."""
    content = message.get("content")
    text = content if isinstance(content, str) else json.dumps(content) if content else ""
    for call in message.get("tool_calls") or []:
        text += "\n" + call["function"]["name"] + " " + call["function"]["arguments"]
    return text


def tokens(messages):
    """A token for four chars, and four for each message."""
    return sum(len(text_of(message)) // 4 + 4 for message in messages)


def newest(messages, size):
    """The newest messages that fit."""
    return after(messages, 0, size)


def head_and_newest(messages, size):
    """The system message and the first exchange, and the newest messages that fit beside them."""
    return after(messages, min(3, len(messages)), size)


def after(messages, head, size):
    kept, left = [], size - tokens(messages[:head])
    for message in reversed(messages[head:]):
        left -= tokens([message])
        if left < 0:
            break
        kept.append(message)
    kept.reverse()
    # Results without their call are nothing that a provider takes.
    while kept and kept[0]["role"] == "tool":
        kept.pop(0)
    return messages[:head] + kept


def without_old_outputs(messages, size):
    """The list with its oldest outputs deleted, and then its oldest messages."""
    kept, excess = list(messages), tokens(messages) - size
    for at, message in enumerate(messages):
        if excess <= 0:
            break
        if message["role"] == "tool":
            kept[at] = {**message, "content": DELETED}
            excess -= tokens([message]) - tokens([kept[at]])
    return kept if excess <= 0 else newest(kept, size)


def clients_summary(messages, size):
    """What an agent client's own compaction leaves, its summary played by a script: one message, as long as it may be, with
    what the summary prompts of Claude Code and Codex ask for. The user's messages stand there word for word (half of
    it at most, the newest first), then what was done (each call in a line), what the model said, and the
    newest outputs."""
    system = messages[:1] if messages[:1] and messages[0]["role"] == "system" else []
    room = 4 * (size - tokens(system) - 8)
    parts = {
        "All user messages": (room // 2, [text_of(m) for m in messages if m["role"] == "user"]),
        "What was done": (room // 4, [line for m in messages for line in calls_of(m)]),
        "What was said": (room, [m["content"] for m in messages if m["role"] == "assistant" and m.get("content")]),
        "Current work": (room, [text_of(m) for m in messages if m["role"] == "tool"]),
    }
    summary = ""
    for title, (most, texts) in parts.items():
        most, kept = min(most, room - len(summary)) - len(title) - 4, []
        for text in reversed(texts):
            text = text if isinstance(text, str) else json.dumps(text)
            if len(text) + 1 > most:
                kept += [text[: max(most, 0)]] if most > 200 else []
                break
            most -= len(text) + 1
            kept.append(text)
        summary += f"# {title}\n" + "\n".join(reversed(kept)) + "\n"
    return [*system, {"role": "user", "content": summary}]


def calls_of(message):
    """A line for each call of a message."""
    for call in message.get("tool_calls") or []:
        yield f"{call['function']['name']} {call['function']['arguments']}"


BASELINES = {
    "newest": newest,
    "head and newest": head_and_newest,
    "old outputs deleted": without_old_outputs,
    "client's summary": clients_summary,
}
