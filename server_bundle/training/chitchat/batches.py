"""Draws windows of several kinds of dialogue in given shares, and groups them into batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from server_bundle.training.chitchat.dialogues import Dialogue
from server_bundle.training.chitchat.windows import Window, WindowMaker


@dataclass(frozen=True)
class Batch:
    """Windows of like length, padded on the right; all arrays are ``[B, T]``.

    INT64 ``ids``, ``types`` (None for layouts without) and ``targets``; FP32 ``weights``.
    """

    ids: NDArray[np.int64]
    types: NDArray[np.int64] | None
    targets: NDArray[np.int64]
    weights: NDArray[np.float32]

    def tensors(self) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
        """The same as tensors that share its memory, in the order of :func:`window_loss`."""
        return (
            torch.from_numpy(self.ids),
            None if self.types is None else torch.from_numpy(self.types),
            torch.from_numpy(self.targets),
            torch.from_numpy(self.weights),
        )


def pad(windows: Sequence[Window], pad_id: int) -> Batch:
    """One batch of all windows."""
    shape = (len(windows), max(len(w.ids) for w in windows))
    ids = np.full(shape, pad_id, np.int64)
    targets = np.full(shape, pad_id, np.int64)
    weights = np.zeros(shape, np.float32)
    types = None if windows[0].types is None else np.zeros(shape, np.int64)
    for row, window in enumerate(windows):
        n = len(window.ids)
        ids[row, :n], targets[row, :n], weights[row, :n] = (
            window.ids,
            window.targets,
            window.weights,
        )
        if types is not None and window.types is not None:
            types[row, :n] = window.types
    return Batch(ids, types, targets, weights)


def group(windows: Sequence[Window], pad_id: int, tokens: int = 2048) -> list[Batch]:
    """Batches of windows of like length, so that little is padding."""
    batches: list[Batch] = []
    rows: list[Window] = []
    for window in sorted(windows, key=lambda w: len(w.ids)):
        if rows:
            length = len(window.ids)
            wasted = sum(length - len(row.ids) for row in rows)
            if length * (len(rows) + 1) > tokens or wasted > 0.2 * length * len(rows):
                batches.append(pad(rows, pad_id))
                rows = []
        rows.append(window)
    if rows:
        batches.append(pad(rows, pad_id))
    return batches


class Mixture:
    """An endless stream of windows, the same for the same seed and state.

    Every kind is gone through in a new order each time round. The next window is of the kind that
    is furthest behind its share of reply tokens.
    """

    def __init__(
        self,
        pools: Mapping[str, Sequence[Dialogue]],
        shares: Mapping[str, float],
        maker: WindowMaker,
        seed: int,
    ) -> None:
        self._pools = {kind: pool for kind, pool in pools.items() if pool and shares.get(kind)}
        if not self._pools:
            raise ValueError("there is no dialogue to train on")
        total = sum(shares[kind] for kind in self._pools)
        self._shares = {kind: shares[kind] / total for kind in self._pools}
        self._maker = maker
        self._seed = seed
        self._orders: dict[str, tuple[int, list[int]]] = {}
        self.drawn = dict.fromkeys(self._pools, 0)  # dialogues
        self.replies = dict.fromkeys(self._pools, 0)  # reply tokens

    def state(self) -> dict[str, Any]:
        return {"drawn": dict(self.drawn), "replies": dict(self.replies)}

    def restore(self, state: Mapping[str, Any]) -> None:
        for kind in self._pools:
            self.drawn[kind] = state["drawn"].get(kind, 0)
            self.replies[kind] = state["replies"].get(kind, 0)

    def epochs(self) -> dict[str, float]:
        """How often each kind has been gone through."""
        return {kind: self.drawn[kind] / len(pool) for kind, pool in self._pools.items()}

    def _next(self, kind: str) -> Window | None:
        pool = self._pools[kind]
        round_, place = divmod(self.drawn[kind], len(pool))
        held = self._orders.get(kind)
        if held is None or held[0] != round_:
            order = list(range(len(pool)))
            Random(f"{self._seed}/{kind}/order/{round_}").shuffle(order)
            held = self._orders[kind] = (round_, order)
        random = Random(f"{self._seed}/{kind}/{self.drawn[kind]}")
        self.drawn[kind] += 1
        return self._maker.make(pool[held[1][place]], random)

    def draw(self, tokens: int) -> list[Window]:
        """Windows of at least ``tokens`` tokens together."""
        windows: list[Window] = []
        misses = 0
        while tokens > 0:
            kind = min(self._pools, key=lambda k: (self.replies[k] + 1) / self._shares[k])
            window = self._next(kind)
            if window is None or not window.reply_tokens:
                misses += 1
                if misses > 100_000:
                    raise ValueError("no dialogue leaves a reply to train on")
                continue
            self.replies[kind] += window.reply_tokens
            tokens -= len(window.ids)
            windows.append(window)
        return windows
