"""Heights of rows on top of each other, some measured, some only estimated."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate


class RowStack:
    """All lengths in pixels. After changes :meth:`stack` brings the tops up to date."""

    def __init__(self) -> None:
        self._heights: list[int] = []
        self._measured: list[bool] = []
        self._tops: list[int] = [0]

    def __len__(self) -> int:
        return len(self._heights)

    def reset(self, estimates: Sequence[int]) -> None:
        self._heights = list(estimates)
        self._measured = [False] * len(estimates)
        self.stack()

    def insert(self, row: int, estimates: Sequence[int]) -> None:
        self._heights[row:row] = estimates
        self._measured[row:row] = [False] * len(estimates)

    def remove(self, first: int, last: int) -> None:
        del self._heights[first : last + 1]
        del self._measured[first : last + 1]

    def estimate(self, row: int, height: int) -> None:
        self._heights[row] = height
        self._measured[row] = False

    def measure(self, row: int, height: int) -> None:
        self._heights[row] = height
        self._measured[row] = True

    def is_measured(self, row: int) -> bool:
        return self._measured[row]

    def measured(self) -> int:
        """How many rows are measured."""
        return sum(self._measured)

    def stack(self) -> None:
        self._tops = list(accumulate(self._heights, initial=0))

    def top(self, row: int) -> int:
        return self._tops[row]

    def height(self, row: int) -> int:
        return self._heights[row]

    @property
    def total(self) -> int:
        return self._tops[-1]

    def at(self, y: int) -> int:
        """The row at ``y``, clamped to the rows there are; 0 where there is none."""
        return max(0, min(bisect_right(self._tops, y) - 1, len(self._heights) - 1))
