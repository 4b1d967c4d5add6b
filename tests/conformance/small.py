"""Small windows, and small lists that have to be compressed, by the random corpus of compaction-conformance-kit (PyPI):
sessions of 8,000 chars.

  python3 tests/conformance/small.py [ENGINE]    with HERMAD, the herma package and the kit on the path
"""

import sys

from compaction_kit.corpus import build_random_session
from own_home import own_home

from semantic import ENGINE, SEEDS

# In tokens: from the smallest one that the fixed parts of a list leave room in.
WINDOWS = (720, 1_000, 1_500, 2_500)
# A window in which the sessions are far below the threshold.
LARGE = 8_192
# Of 100 facts, at least so many in a window.
LEAST = {720: 15, 1_000: 40, 1_500: 85, 2_500: 95}


def main():
    amiss, sizes, kept = [], {}, {}
    with own_home() as client:
        for seed in SEEDS:
            session, canaries = build_random_session(seed)
            messages = [{"role": turn.role, "content": turn.text} for turn in session.transcript()]
            for window in (*WINDOWS, LARGE):
                name = f"{seed}-{window}"
                budgets = client.context.configure(session=name, context_length=window, engine=ENGINE)
                done = client.context.compress(session=name, messages=messages, force=True)
                report = done["report"]
                text = "\n".join(str(message["content"]) for message in done["messages"]).lower()
                there = sum(all(token.lower() in text for token in canary.required_tokens) for canary in canaries)
                before, after = report["tokens_before"], report["tokens_after"]
                sizes[window] = max(sizes.get(window, 0), after)
                kept[window] = kept.get(window, 0) + there
                if window < LARGE and (report["over"] or after >= budgets["threshold_tokens"]):
                    amiss.append(f"{name}: {after} of {budgets['threshold_tokens']} tokens")
                if window == LARGE and (after > before or there < len(canaries)):
                    amiss.append(f"{name}: {before} tokens became {after}, {there} facts of {len(canaries)} stand there")
    facts = 20 * len(SEEDS)
    for window, least in LEAST.items():
        if 100 * kept[window] < least * facts:
            amiss.append(f"{window}: {kept[window]} facts of {facts}, of 100 at least {least}")
    print(f"{ENGINE}: " + ", ".join(f"{window}: at most {sizes[window]} tokens, {100 * kept[window] / facts:.0f} % of the facts" for window in sizes))
    print("\n".join(amiss) or "nothing amiss")
    sys.exit(bool(amiss))


if __name__ == "__main__":
    main()
