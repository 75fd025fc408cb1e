"""What the engine tells a calling model: the new tokens of all its replies in one tensor.

A response from one model to another costs five wake-ups of threads in three processes, whatever it
holds, and on a CPU each of them stalls the engine's own. So the engine sends one response a step to
each caller, on any one of the caller's requests, and the caller sorts the tokens out.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:  # sampling needs torch, and callers do not
    from server_bundle.chitchat.sampling import Sampled

_FIXED = 7  # reply, place, token, confidence, probability, rank, alternatives
_NO_TOKEN = -1.0


@dataclass(frozen=True)
class Step:
    """One token as the engine sent it, or, in the last step, only the finish reason."""

    token: int | None
    confidence: float = 0.0
    probability: float = 0.0
    rank: int = 0
    top_ids: tuple[int, ...] = ()
    top_probabilities: tuple[float, ...] = ()
    finish_reason: str = ""


@dataclass(frozen=True)
class Addressed:
    """A step, or the end of a reply (``sampled`` None), and where it belongs.

    ``reply`` is the caller's number for the reply, ``place`` counts its steps from 0.
    """

    reply: int
    place: int
    sampled: Sampled | None


def pack(steps: Iterable[Addressed]) -> npt.NDArray[np.float64]:
    """FP64 ``[n]``: for each step its reply, place, token id (-1: none), confidence, probability,
    rank and number of alternatives, then their ids, then their probabilities."""
    values: list[float] = []
    for step in steps:
        s = step.sampled
        if s is None:
            values += (step.reply, step.place, _NO_TOKEN, 0.0, 0.0, 0.0, 0.0)
            continue
        values += (step.reply, step.place, s.token, s.confidence, s.probability, s.rank)
        values.append(len(s.top_ids))
        values += s.top_ids
        values += s.top_probabilities
    return np.array(values, np.float64)


def unpack(packed: Sequence[float], finish_reason: str = "") -> Iterator[tuple[int, int, Step]]:
    """The reply, the place and the step of each that :func:`pack` was given; the last of them has
    the ``finish_reason``."""
    at = 0
    while at < len(packed):
        reply, place, token, confidence, probability, rank, n = packed[at : at + _FIXED]
        ids = at + _FIXED
        shares = ids + int(n)
        at = shares + int(n)
        yield (
            int(reply),
            int(place),
            Step(
                None if token == _NO_TOKEN else int(token),
                confidence,
                probability,
                int(rank),
                tuple(map(int, packed[ids:shares])),
                tuple(packed[shares:at]),
                finish_reason if at >= len(packed) else "",
            ),
        )


class Inbox:
    """Hands one reply's steps on in their order, by whichever thread brings the next one.

    Args:
        take: gets each step; true when it wants no more. Never called by two threads at once.
        enough: called once, when ``take`` wants no more or raised, or the reply has ended.

    Attributes:
        error: what ``take`` raised.
    """

    def __init__(self, take: Callable[[Step], object], enough: Callable[[], None]) -> None:
        self._take = take
        self._enough = enough
        self._early: dict[int, Step] = {}
        self._next = 0
        self._busy = False
        self._over = False
        self._changed = threading.Condition()
        self.error: Exception | None = None

    def put(self, place: int, step: Step) -> None:
        """Take in the step of that place. Steps that came already, or after the end, are ignored;
        one that comes too early waits for those before it."""
        with self._changed:
            if self._over or place < self._next:
                return
            self._early[place] = step
            if self._busy:
                return  # the other thread will find it
            self._busy = True
        while (following := self._following()) is not None:
            try:
                over = bool(self._take(following) or following.finish_reason)
            except Exception as error:  # this reply's trouble, not that of the thread's own
                self.error = error
                over = True
            if over:
                with self._changed:
                    self._over = True
                self._enough()

    def wait(self, seconds: float) -> bool:
        """Whether the reply has ended, within so many seconds, and ``take`` is done with it."""
        with self._changed:
            return self._changed.wait_for(lambda: self._over and not self._busy, seconds)

    def _following(self) -> Step | None:
        with self._changed:
            step = None if self._over else self._early.pop(self._next, None)
            if step is None:
                self._busy = False
                self._changed.notify_all()
            else:
                self._next += 1
            return step
