"""Decoding of GlobalPointer span scores."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from server_bundle.address.entities import Span


def decode(
    scores: npt.NDArray[np.float32],
    offsets: Sequence[tuple[int, int]],
    types: Sequence[str],
    temperature: float = 1.0,
) -> list[Span]:
    """The spans of one text, in reading order.

    ``scores`` [types, L, L] with L ≥ len(offsets) (padding behind is ignored); ``offsets`` as given
    by the tokenizer, [CLS] first and [SEP] last. A span counts when its score is above 0; where
    spans overlap the higher score wins. The score handed out is the sigmoid of score / temperature.
    """
    last = len(offsets) - 1
    inner = scores[:, 1:last, 1:last]
    found = np.argwhere(inner > 0)
    values = inner[tuple(found.T)]
    taken = np.zeros(last, dtype=bool)
    spans = []
    for index in np.argsort(-values, kind="stable"):
        type_, first, final = found[index]
        if final < first or taken[first : final + 1].any():
            continue
        taken[first : final + 1] = True
        score = float(1.0 / (1.0 + np.exp(-float(values[index]) / temperature)))
        start, end = offsets[first + 1][0], offsets[final + 1][1]
        spans.append(Span(start, end, types[type_], score))
    return sorted(spans)
