"""``herma-tokens FILE``: counts the tokens of texts with a tokenizer.json.

Each line of standard input is a JSON array of texts; each line of standard output the array of
their tokens. ``herma trajectory compress --tokenizer`` starts it, and contains a copy of this file. It needs the
package ``tokenizers``: ``pip install tokenizers``.
"""

import json
import sys
from typing import Optional

USAGE = "usage: herma-tokens TOKENIZER\n\nCounts the tokens of each text of each line of standard input."


def main(arguments: Optional[list[str]] = None) -> int:
    """Answers line by line, until there are no more."""
    words = [word for word in (sys.argv[1:] if arguments is None else arguments) if word != "--"]
    if words in (["--help"], ["-h"]):
        print(USAGE)
        return 0
    if len(words) != 1:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        from tokenizers import Tokenizer  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        why = "the package tokenizers is missing; pip install tokenizers"
        print(f"herma-tokens: {why}", file=sys.stderr)
        return 1
    try:
        tokenizer = Tokenizer.from_file(words[0])
    # The library raises nothing more exact.
    except Exception as error:
        print(f"herma-tokens: {words[0]}: no tokenizer: {error}", file=sys.stderr)
        return 1
    for line in sys.stdin:
        encoded = tokenizer.encode_batch_fast(json.loads(line), add_special_tokens=False)
        print(json.dumps([len(text.ids) for text in encoded]), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
