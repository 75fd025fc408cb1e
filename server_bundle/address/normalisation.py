"""Characters as the network and the division table know them, one for one, so that offsets stay."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from pathlib import Path

TABLE = Path(__file__).parent / "simplified.txt"

# Mistaken for the character behind it by people, by recognition of scans, or by fonts.
LOOK_ALIKES = {
    "巿": "市", "髙": "高", "戸": "户", "舗": "铺", "亊": "事",
    "‐": "-", "‑": "-", "‒": "-", "–": "-", "−": "-", "－": "-", "﹣": "-",
    "А": "A", "В": "B", "Е": "E", "К": "K", "М": "M", "Н": "H", "О": "O", "Р": "P", "С": "C",
    "Т": "T", "Х": "X", "Α": "A", "Β": "B", "Ε": "E", "Η": "H", "Κ": "K", "Μ": "M", "Ν": "N",
    "Ο": "O", "Ρ": "P", "Τ": "T", "Χ": "X", "Ζ": "Z",
}  # fmt: skip


@lru_cache(maxsize=1)
def _simplified() -> dict[str, str]:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t") for line in lines)


@lru_cache(maxsize=1 << 16)
def _plain(character: str) -> str:
    character = LOOK_ALIKES.get(character, character)
    if character > "\x7f":
        compatible = unicodedata.normalize("NFKC", character)
        # Letters and digits only: full-width punctuation is what Chinese text has.
        if len(compatible) == 1 and compatible.isalnum():
            character = compatible
    return _simplified().get(character, character)


def normalise_characters(text: str) -> str:
    """As long as ``text``: traditional characters simplified, full-width letters and digits and
    compatibility forms made plain, look-alikes replaced; everything else, spaces too, is kept."""
    return "".join(map(_plain, text))
