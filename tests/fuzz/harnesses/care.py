"""The rule that answers messages about suicide: any text, and never slowly."""

from __future__ import annotations

import random
from collections.abc import Iterable

from server_bundle.chitchat import care
from tests.fuzz.harness import text

MAX_LEN = 8192


def seeds() -> Iterable[bytes]:
    for words in (
        "笑死我了", "跳楼价清仓", "不想活动", "活着真的没有意思", "站在天台上风很大想跳",
        "i want to  die", "想 死 了", "ｋｉｌｌ　ｍｙｓｅｌｆ",
        "遺書都寫好了", "这一局我自杀了复活", "自*杀",
    ):  # fmt: skip
        yield words.encode()


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A stretch many times over, which is what a pattern that backtracks suffers from."""
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.randrange(1, 12))
    return data[:start] + data[start:end] * chance.choice((2, 20, 400)) + data[end:]


def one(data: bytes) -> None:
    words = text(data)
    assert care.speaks_of_suicide(words) in (True, False)
    assert care.answer(words) in (care.ANSWER, care.ANSWER_ENGLISH)
