"""cawb-train: a pretrained language model learns to write kernels; lm/words.py has its words."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from lm import words  # noqa: E402

if __name__ == "__main__":
    given = sys.argv[1:]
    if given[:1] != ["lm"]:
        sys.exit(words.usage(given))
    try:
        sys.exit(words.main(given[1:]))
    except FileNotFoundError as error:
        raise SystemExit("cawb-train: %s%s" % (error, "; ./bootstrap builds it" if str(error).endswith("bin/cawb'") else "")) from None
