"""What replaces what, on the corpora of compaction-conformance-kit (PyPI): statements that a later one in other
words replaces, and pairs that only look alike. Both corpora, eight seeds each, twenty compressions in a row.

  python3 tests/conformance/semantic.py    with HERMAD, the herma package and the kit on the path
"""

import sys

from compaction_kit.semantic_corpus import build_semantic_heldout_session, build_semantic_session
from own_home import own_home

SEEDS = range(1, 9)
ROUNDS = 20

# The smallest window, so that the rounds have something to replace.
WINDOW = 8_192

# Of 100: the newest statement, the one before gone, pairs kept apart.
LEAST = (100, 100, 100)


# Of herma: the compressor, or the one that is named.
ENGINE = sys.argv[1] if len(sys.argv) > 1 else "compressor"


def compressed(client, name, messages, window=WINDOW):
    """The list after all rounds, with a word said in each."""
    client.context.configure(session=name, context_length=window, engine=ENGINE)
    for round in range(ROUNDS):
        messages = client.context.compress(session=name, messages=messages, force=True)["messages"]
        messages += [{"role": "user", "content": f"Reviewed module {round}."}, {"role": "assistant", "content": "Good."}]
    return messages


def main():
    newest = gone = conflicts = kept = pairs = 0
    with own_home() as client:
        for build in (build_semantic_session, build_semantic_heldout_session):
            for seed in SEEDS:
                session, canaries, meta = build(seed)
                messages = [{"role": turn.role, "content": turn.text} for turn in session.transcript()]
                messages = compressed(client, f"{build.__name__}-{seed}", messages)
                text = "\n".join(str(message.get("content")) for message in messages).lower()
                known = {canary.id: canary for canary in canaries}
                stands = lambda canary: all(token.lower() in text for token in canary.required_tokens)
                for conflict in meta["conflicts"]:
                    conflicts += 1
                    newest += stands(known[conflict])
                    gone += not any(token.lower() in text for token in known[conflict].superseded_tokens)
                for pair in meta["distinct_pairs"]:
                    pairs += 1
                    kept += all(stands(known[one]) for one in pair)
    shares = (100 * newest / conflicts, 100 * gone / conflicts, 100 * kept / pairs)
    print(f"{ENGINE}: newest statement kept {shares[0]:.0f} %, the one before gone {shares[1]:.0f} %, pairs apart {shares[2]:.0f} %")
    sys.exit(any(share < least for share, least in zip(shares, LEAST)))


if __name__ == "__main__":
    main()
