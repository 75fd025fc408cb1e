"""Text → token ids, one token a character, and back to code-point offsets."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

PAD, UNK, CLS, SEP, SPACE = "[PAD]", "[UNK]", "[CLS]", "[SEP]", "[SPACE]"
SPECIAL_TOKENS = (PAD, UNK, CLS, SEP, SPACE)


@dataclass(frozen=True)
class Encoding:
    """``ids`` with [CLS] and [SEP]; ``offsets[i]`` is the half-open span of token i in the text."""

    ids: list[int]
    offsets: list[tuple[int, int]]


class Tokenizer(Protocol):
    """Text → token ids with their offsets."""

    @property
    def pad_id(self) -> int: ...

    def encode(self, text: str) -> Encoding: ...


def check_vocabulary(tokens: list[str]) -> None:
    """Raises ValueError where a token is missing that every network needs."""
    missing = [t for t in SPECIAL_TOKENS[:4] if t not in tokens]
    if missing:
        raise ValueError(f"The vocabulary lacks {', '.join(missing)}.")


def read_vocabulary(vocab: Path) -> list[str]:
    """A token a line; the last line may end without a newline, and Windows' ends are taken off."""
    text = vocab.read_bytes().decode("utf-8-sig")
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


class CharacterTokenizer:
    """One token a code point; case is kept. A character outside of the vocabulary is looked up in
    its compatibility form (full-width １ → 1) and is [UNK] otherwise; white space is one token."""

    def __init__(self, tokens: list[str]) -> None:
        check_vocabulary(tokens)
        self.ids = {token: i for i, token in enumerate(tokens)}
        self.pad_id, self.unk_id = self.ids[PAD], self.ids[UNK]
        self.cls_id, self.sep_id = self.ids[CLS], self.ids[SEP]
        self.space_id = self.ids.get(SPACE, self.unk_id)
        self._cache: dict[str, int] = {}

    @classmethod
    def load(cls, vocab: Path) -> CharacterTokenizer:
        return cls(read_vocabulary(vocab))

    def _lookup(self, character: str) -> int:
        found = self.ids.get(character)
        if found is None:
            found = self.unk_id
            if character.isspace():
                found = self.space_id
            else:
                plain = unicodedata.normalize("NFKC", character)
                if len(plain) == 1:
                    found = self.ids.get(plain, self.unk_id)
        self._cache[character] = found
        return found

    def encode(self, text: str) -> Encoding:
        cache = self._cache
        if len(cache) > 50_000:
            cache.clear()
        body = [cache[c] if c in cache else self._lookup(c) for c in text]
        n = len(text)
        offsets = [(0, 0), *((i, i + 1) for i in range(n)), (n, n)]
        return Encoding([self.cls_id, *body, self.sep_id], offsets)
