"""Checks the token ids a request brings: Triton itself checks neither lengths nor ids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Row = npt.NDArray[np.int64]


class InvalidRow(ValueError):
    """The three inputs do not make a prompt; the message is one sentence for a person."""


def _check_shapes(ids: Row | None, mask: Row | None, types: Row | None) -> tuple[Row, Row, Row]:
    if ids is None or mask is None or types is None:
        raise InvalidRow("INPUT__0, INPUT__1 and INPUT__2 are all required")
    if not ids.shape == mask.shape == types.shape:
        raise InvalidRow(
            "INPUT__0, INPUT__1 and INPUT__2 must have the same shape, not "
            f"{list(ids.shape)}, {list(mask.shape)} and {list(types.shape)}"
        )
    return ids, mask, types


def read_row(
    ids: Row | None, mask: Row | None, types: Row | None, vocab_size: int, context: int
) -> tuple[list[int], list[int]]:
    """One prompt from ``input_ids``, ``attention_mask`` and ``token_type_ids``, INT64 ``[L]`` each.

    Returns:
        ids and types up to the prompt's length, the sum of the mask.

    Raises:
        InvalidRow: lengths differ, the mask is not ones followed by zeros, the row is empty, too
            long for the context, or holds an id outside of the vocabulary.
    """
    ids, mask, types = (values.reshape(-1) for values in _check_shapes(ids, mask, types))
    length = int(mask.sum())
    if not np.array_equal(mask, np.arange(len(mask)) < length):
        raise InvalidRow("INPUT__1 must be ones followed by zeros (rows are padded on the right)")
    if length == 0:
        raise InvalidRow("the prompt is empty: INPUT__1 holds no one")
    if length >= context:
        raise InvalidRow(
            f"the prompt has {length} tokens; this model reads at most {context - 1} and answers "
            f"within {context} in all"
        )
    ids, types = ids[:length], types[:length]
    for name, values in (("INPUT__0", ids), ("INPUT__2", types)):
        if values.min() < 0 or values.max() >= vocab_size:
            raise InvalidRow(f"{name} holds an id outside of 0 to {vocab_size - 1}")
    return ids.tolist(), types.tolist()


def read_rows(
    ids: Row | None, mask: Row | None, types: Row | None, vocab_size: int, context: int
) -> list[tuple[list[int], list[int]]]:
    """The prompts of a rectangle ``[B, L]``; see :func:`read_row`."""
    ids, mask, types = _check_shapes(ids, mask, types)
    if ids.ndim != 2 or ids.shape[0] == 0:
        raise InvalidRow(f"inputs must be rectangles [rows, tokens], not {list(ids.shape)}")
    rows = []
    for i in range(len(ids)):
        try:
            rows.append(read_row(ids[i], mask[i], types[i], vocab_size, context))
        except InvalidRow as error:
            raise InvalidRow(f"row {i}: {error}" if len(ids) > 1 else str(error)) from None
    return rows
