"""Keeps messages that a model is judged by out of its training data."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from server_bundle.training.chitchat.dialogues import Dialogue

NEAR = 0.7


def core(text: str) -> str:
    """Letters, digits and characters only: no punctuation, symbols or spaces; lower case."""
    return "".join(c for c in text.lower() if unicodedata.category(c)[0] in "LN")


def bigrams(text: str) -> frozenset[str]:
    """The pairs of neighbouring characters of a :func:`core`; of a single one itself."""
    return frozenset(text[i : i + 2] for i in range(max(1, len(text) - 1)))


def read_messages(path: Path) -> list[str]:
    """A message a line; lines that begin with ``#`` are notes."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


class Exclusion:
    """Finds texts that equal one of some messages, or nearly so.

    Two texts are near when the Jaccard index of their character bigrams is at least 0.7, with
    punctuation, spaces and case left out of account.
    """

    def __init__(self, messages: Iterable[str]) -> None:
        cores = {core(message) for message in messages} - {""}
        self._grams = [bigrams(text) for text in sorted(cores)]
        self._cores = cores
        self._places: dict[str, list[int]] = defaultdict(list)
        for i, grams in enumerate(self._grams):
            for gram in grams:
                self._places[gram].append(i)
        self._longest = max((len(grams) for grams in self._grams), default=0) / NEAR

    def __len__(self) -> int:
        return len(self._grams)

    def matches(self, text: str) -> bool:
        """Whether ``text`` is one of the messages or near one."""
        if len(text) > 4 * self._longest + 16:  # too long whatever its punctuation
            return False
        stripped = core(text)
        if stripped in self._cores:
            return True
        grams = bigrams(stripped)
        if not stripped or len(grams) > self._longest:
            return False
        shared: dict[int, int] = defaultdict(int)
        for gram in grams:
            for i in self._places.get(gram, ()):
                shared[i] += 1
        return any(n >= NEAR * (len(grams) + len(self._grams[i]) - n) for i, n in shared.items())

    def keep(self, dialogues: Iterable[Dialogue]) -> tuple[list[Dialogue], int]:
        """The dialogues none of whose user turns matches, and how many others there were."""
        kept, dropped = [], 0
        for dialogue in dialogues:
            if any(self.matches(turn) for turn in dialogue.user_turns):
                dropped += 1
            else:
                kept.append(dialogue)
        return kept, dropped
