"""Finds stop strings in a reply that arrives piece by piece."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


class StopScanner(Generic[T]):
    """Holds back what may be the beginning of a stop string, and cuts where one is complete.

    Args:
        stops: the reply ends before the first occurrence of any of them; none: all passes at once.

    Attributes:
        matched: a stop string was found; nothing is released after that.
    """

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = tuple(stops)
        self._held: list[tuple[T, str]] = []
        self.matched = False

    def push(self, item: T, text: str) -> list[tuple[T, str]]:
        """Take a piece in; the pieces that no stop string can touch any more, in order.

        The last one before a stop string may come with less text than it had.
        """
        if self.matched:
            return []
        if not self._stops:
            return [(item, text)]
        self._held.append((item, text))
        held = "".join(piece for _, piece in self._held)
        found = [place for stop in self._stops if (place := held.find(stop)) >= 0]
        if found:
            self.matched = True
            return self._release(min(found), cut=True)
        return self._release(len(held) - self._tail(held), cut=False)

    def flush(self) -> list[tuple[T, str]]:
        """The reply has ended otherwise: what was held back is part of it."""
        rest, self._held = self._held, []
        return [] if self.matched else rest

    def _tail(self, text: str) -> int:
        """How many characters at the end may begin a stop string."""
        longest = min(len(text), max(map(len, self._stops)) - 1)
        for length in range(longest, 0, -1):
            if any(stop.startswith(text[-length:]) for stop in self._stops):
                return length
        return 0

    def _release(self, upto: int, *, cut: bool) -> list[tuple[T, str]]:
        released: list[tuple[T, str]] = []
        while self._held:
            item, text = self._held[0]
            if len(text) > upto:
                if cut and upto:
                    released.append((item, text[:upto]))
                break
            released.append((item, text))
            upto -= len(text)
            del self._held[0]
            if cut and upto == 0:
                break
        if cut:
            self._held = []
        return released
