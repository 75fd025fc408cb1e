"""Which rows of the embedding table are trained: those of tokens that occur.

A chat vocabulary holds thousands of characters that no dialogue has. Their rows would cost time in
every step and learn nothing but to be unlikely, so ``[PAD]``'s row stands for all of them: its
logit gets the logarithm of their number added in the loss, and export lays its row into theirs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.training.chitchat.dialogues import Dialogue

# A row this near to [PAD]'s, relative to its length, was never trained. Export leaves small
# differences between such rows, so that no two tokens of a checkpoint are quite the same.
_NEAR = 0.05


@dataclass(frozen=True)
class Rows:
    """The trained part of a table of ``size`` rows: INT64 ``active`` ids, ascending."""

    size: int
    active: Tensor
    pad: int
    unk: int

    @property
    def pad_row(self) -> int:
        """Where ``[PAD]`` is in the trained part."""
        return int((self.active == self.pad).nonzero()[0])

    @property
    def pad_shift(self) -> float:
        """What is added to ``[PAD]``'s logit, which stands for all rows left out as well."""
        return math.log(self.size - len(self.active) + 1)

    def lookup(self) -> NDArray[np.int64]:
        """INT64 ``[size]``: place in the trained part; of ids left out, ``[UNK]``'s."""
        unknown = int((self.active == self.unk).nonzero()[0])
        places = np.full(self.size, unknown, np.int64)
        places[self.active.numpy()] = np.arange(len(self.active))
        return places

    def take(self, table: Tensor) -> Tensor:
        """``[size, n]`` → ``[active, n]``."""
        return table[self.active].clone()

    def give(self, trained: Tensor, start: Tensor) -> Tensor:
        """``[active, n]`` → ``[size, n]``; rows left out move as ``[PAD]``'s has moved."""
        full = start + (trained[self.pad_row] - start[self.pad])
        full[self.active] = trained
        return full


def occurring(layout: PromptLayout, dialogues: Iterable[Dialogue]) -> set[int]:
    """Token ids that occur in dialogues, special ids included."""
    characters: set[str] = set()
    for dialogue in dialogues:
        characters.update(*dialogue.turns)
    # 我 and the particles and marks that a message may get when its wording is varied
    ids = set(layout.encode_text("".join(sorted(characters)) + "我咱啊呀了。！～"))
    return ids | {layout.cls, layout.pad, layout.sep, layout.unk, *(layout.speakers or ())}


def choose_rows(
    layout: PromptLayout, dialogues: Iterable[Dialogue], table: Tensor | None
) -> tuple[Rows, int]:
    """The rows to train, and how many of them are new.

    Args:
        table: FP32 ``[V, n]``, the start weights' table; rows that differ from ``[PAD]``'s are
            trained on. None: only tokens that occur.
    """
    used = occurring(layout, dialogues)
    known: set[int] = set()
    size = len(layout.tokens)
    if table is not None:
        size = len(table)
        pad_row = table[layout.pad]
        far = (table - pad_row).norm(dim=1) > _NEAR * pad_row.norm()
        known = set(far.nonzero().flatten().tolist()) | {layout.pad}
    active = torch.tensor(sorted(used | known))
    return Rows(size, active, layout.pad, layout.unk), len(used - known)


def start_new_rows(rows: Rows, trained: Tensor, table: Tensor) -> int:
    """Start rows that were copies of ``[PAD]``'s at the mean of the others; returns their number.

    Args:
        trained: FP32 ``[active, n]``, changed in place.
        table: FP32 ``[size, n]`` of the start weights.
    """
    pad_row = table[rows.pad]
    near = (trained - pad_row).norm(dim=1) <= _NEAR * pad_row.norm()
    near[rows.pad_row] = False
    if near.any():
        others = ~near
        others[rows.pad_row] = False
        trained[near] = trained[others].mean(0)
    return int(near.sum())
