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


BASELINES = {
    "newest": newest,
    "head and newest": head_and_newest,
    "old outputs deleted": without_old_outputs,
}
