"""Rows of token ids: what is read of them and what is refused, with random shapes and values."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server_bundle.chitchat.prefix import InvalidRow, read_row, read_rows
from server_bundle.chitchat.prompt import PromptLayout
from tests.support.chat import MODEL

V, CONTEXT = 50, 12
LAYOUT = PromptLayout.from_folder(MODEL)


@given(
    length=st.integers(1, CONTEXT - 1),
    padding=st.integers(0, 5),
    seed=st.integers(0, 1000),
)
def test_the_row_is_read_up_to_the_sum_of_its_mask(length: int, padding: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    ids, types = random.integers(0, V, (2, length + padding))
    ids[length:] = 10**9  # what stands in the padding does not matter
    mask = np.array([1] * length + [0] * padding)
    assert read_row(ids, mask, types, V, CONTEXT) == (
        ids[:length].tolist(),
        types[:length].tolist(),
    )


@given(st.lists(st.integers(-5, 70), max_size=20), st.lists(st.integers(-2, 3), max_size=20))
def test_anything_else_is_refused_in_words(ids: list[int], mask: list[int]) -> None:
    a, b = np.array(ids, np.int64), np.array(mask, np.int64)
    n = sum(mask)
    good = (
        len(ids) == len(mask)
        and 0 < n < CONTEXT
        and mask == [1] * n + [0] * (len(mask) - n)
        and all(0 <= i < V for i in ids[:n])
    )
    if good:
        assert read_row(a, b, a, V, CONTEXT)[0] == ids[:n]
    else:
        with pytest.raises(InvalidRow):
            read_row(a, b, a, V, CONTEXT)


def test_a_missing_input() -> None:
    with pytest.raises(InvalidRow, match="all required"):
        read_row(None, np.ones(1), np.ones(1), V, CONTEXT)


def test_an_error_names_its_row() -> None:
    ids = np.array([[1, 2], [3, 99]])
    with pytest.raises(InvalidRow, match="row 1: INPUT__0"):
        read_rows(ids, np.ones_like(ids), np.ones_like(ids), V, CONTEXT)
    with pytest.raises(InvalidRow, match="rectangles"):
        read_rows(ids[0], np.ones(2), np.ones(2), V, CONTEXT)


def test_the_reply_has_its_speakers_type() -> None:
    assert LAYOUT.reply_type([0, 13086, 8, 13087]) == 13087
    assert LAYOUT.reply_type([0, 13087, 8, 13086]) == 13086  # speakers swapped by trimming
    assert LAYOUT.reply_type([0, 13086, 8]) == 13087  # the user spoke last


def test_what_the_prompt_holds_of_the_reply() -> None:
    asked = LAYOUT.encode(["你好", "嗨"], "累", 64)
    assert LAYOUT.reply_prefix(asked.ids) == []
    begun = LAYOUT.encode(["你好", "嗨"], "累", 64, "听起来")
    assert LAYOUT.reply_prefix(begun.ids) == LAYOUT.encode_text("听起来")
    assert LAYOUT.reply_prefix(LAYOUT.encode_text("你好")) == []
    assert LAYOUT.reply_prefix([0, 13086, 8, 9]) == []  # the user's own words
    turns = dataclasses.replace(LAYOUT, speakers=None)
    assert turns.reply_prefix(turns.encode(["你好", "嗨"], "累", 64).ids) == []
    assert turns.reply_prefix(turns.encode([], "累", 64, "听").ids) == LAYOUT.encode_text("听")
