"""Sub-word tokens stream as text that is never half a character."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server_bundle.chitchat.detokenise import Detokeniser
from tests.support.chat_models import byte_level_tokenizer, sentencepiece_tokenizer

BYTE_LEVEL = byte_level_tokenizer()
PIECES = sentencepiece_tokenizer()


def stream(tokenizer: Any, ids: list[int], continued: bool = False) -> list[str]:
    pieces = Detokeniser(tokenizer.backend_tokenizer).pieces(continued)
    return [pieces.push(i) for i in ids]


@pytest.mark.parametrize("tokenizer", [BYTE_LEVEL, PIECES], ids=["byte-level", "sentencepiece"])
@given(text=st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
@settings(max_examples=60, deadline=None)
def test_pieces_join_to_the_text(tokenizer: Any, text: str) -> None:
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    whole = tokenizer.decode(ids, skip_special_tokens=True, clean_up_tokenization_spaces=False)
    assert "".join(stream(tokenizer, ids)) == whole


def test_a_character_comes_with_its_last_byte() -> None:
    ids = BYTE_LEVEL("🌧雨", add_special_tokens=False)["input_ids"]
    assert len(ids) == 7  # a token a byte
    assert stream(BYTE_LEVEL, ids) == ["", "", "", "🌧", "", "", "雨"]
    assert stream(BYTE_LEVEL, ids[:6]) == ["", "", "", "🌧", "", ""]


def test_bytes_that_become_no_character_are_dropped() -> None:
    broken = BYTE_LEVEL("🌧", add_special_tokens=False)["input_ids"][:2]
    good = BYTE_LEVEL("雨", add_special_tokens=False)["input_ids"]
    assert "".join(stream(BYTE_LEVEL, [*broken, *good])) == "雨"


def test_a_continued_reply_keeps_its_space() -> None:
    ids = PIECES("a", add_special_tokens=False)["input_ids"]
    assert stream(PIECES, ids) == ["a"]
    assert stream(PIECES, ids, continued=True) == [" a"]


def test_alternatives_name_bytes_and_control_tokens() -> None:
    tokens = Detokeniser(BYTE_LEVEL.backend_tokenizer)
    half = BYTE_LEVEL("雨", add_special_tokens=False)["input_ids"][0]
    assert tokens.shown(half) == "<0xE9>"
    assert tokens.shown(BYTE_LEVEL.convert_tokens_to_ids("<|im_end|>")) == "<|im_end|>"
    assert tokens.shown(447) == "<447>"
    assert stream(BYTE_LEVEL, [2, 447]) == ["", ""]
