"""The parser around a network: validation, windows, buckets and offsets in the original text.

The network here is a stand-in with exact scores, so that every offset is known; the shipped weights
are tested in test_shipped_weights.py.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.features import SPECIAL_TOKENS, CharacterTokenizer
from server_bundle.address.parser import (
    MAX_CHARACTERS,
    WINDOW,
    AddressParser,
    Ids,
    InvalidAddress,
    Logits,
    cuts,
)

VOCABULARY = [*SPECIAL_TOKENS, *"0123456789号路浙江省杭州市的"]
ROADNO = ENTITY_TYPES.index("roadno")


class DigitNetwork:
    """Marks each run of ASCII digits with 号 behind it as a roadno; remembers the shapes it saw."""

    def __init__(self, tokenizer: CharacterTokenizer) -> None:
        self.digits = {tokenizer.ids[d] for d in "0123456789"}
        self.end = tokenizer.ids["号"]
        self.shapes: list[tuple[int, int]] = []

    def __call__(self, ids: Ids, segments: Ids, mask: Ids) -> tuple[Logits, Logits]:
        self.shapes.append(ids.shape)
        assert segments.shape == mask.shape == ids.shape
        ner = np.full((len(ids), 13, ids.shape[1], ids.shape[1]), -5.0, np.float32)
        for row, tokens in enumerate(ids.tolist()):
            first = None
            for i, token in enumerate(tokens):
                if token in self.digits:
                    first = i if first is None else first
                    continue
                if first is not None and token == self.end:
                    ner[row, ROADNO, first, i] = 4.0
                first = None
        return np.zeros((len(ids), 2), np.float32), ner


@pytest.fixture
def parser(tmp_path: Path) -> AddressParser:
    (tmp_path / "vocab.txt").write_text("".join(f"{t}\n" for t in VOCABULARY))
    (tmp_path / "label_cls.csv").write_text("label,code,name\n0,330106,x\n1,330110,y\n")
    return AddressParser(tmp_path, DigitNetwork(CharacterTokenizer(VOCABULARY)), 4)


def entities(result: object) -> list[tuple[str, int, int]]:
    assert isinstance(result, dict)
    for entity in result["entities"]:
        assert result["text"][entity["start"] : entity["end"]] == entity["text"]
        assert 0 < entity["score"] < 1
    return [(e["text"], e["start"], e["end"]) for e in result["entities"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("路12号", [("12号", 1, 4)]),
        ("😀🏠路12号", [("12号", 3, 6)]),
        ("𠮷路12号", [("12号", 2, 5)]),
        ("路　１２号", [("１２号", 2, 5)]),
        ("  路 12号 ", [("12号", 4, 7)]),
        ("路\x00\t7号\n", [("7号", 3, 5)]),
        ("é́路3号", [("3号", 3, 5)]),
        ("未知字符路3号", [("未知字符路", 0, 5), ("3号", 5, 7)]),
    ],
)
def test_offsets_are_code_points_of_the_original(
    parser: AddressParser, text: str, expected: list[tuple[str, int, int]]
) -> None:
    (result,) = parser.parse([text])
    assert entities(result) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \n\t　", "empty"),
        ("\x00\x01\x7f", "control characters"),
        ("路" * (MAX_CHARACTERS + 1), "2001 characters"),
        (b"\xff\xfe", "UTF-8"),
    ],
)
def test_bad_rows_say_why_and_spare_their_neighbours(
    parser: AddressParser, text: str | bytes, reason: str
) -> None:
    before, bad, after = parser.parse(["路1号", text, "路2号".encode()])
    assert isinstance(bad, InvalidAddress)
    assert reason in str(bad)
    assert str(bad).endswith(".")
    assert entities(before) == [("1号", 1, 3)]
    assert entities(after) == [("2号", 1, 3)]


def test_rows_of_one_bucket_share_a_batch(parser: AddressParser) -> None:
    network = parser.network
    assert isinstance(network, DigitNetwork)
    parser.parse(["路1号", "路12号", "的" * 30 + "3号", "路", "路1", "路2"])
    assert network.shapes == [(4, 8), (1, 8), (1, 40)]


def test_a_few_short_rows_are_padded_rather_than_run_alone(parser: AddressParser) -> None:
    network = parser.network
    assert isinstance(network, DigitNetwork)
    parser.max_batch = 64
    texts = ["路1号", *("的" * 10 + f"{i}号" for i in range(30)), "的" * 18 + "3号"]
    assert [entities(r)[0][0] for r in parser.parse(texts)] == [
        "1号", *(f"{i}号" for i in range(30)), "3号"
    ]  # fmt: skip
    assert network.shapes == [(31, 16), (1, 24)]


def test_equal_texts_are_parsed_once(parser: AddressParser) -> None:
    network = parser.network
    assert isinstance(network, DigitNetwork)
    results = parser.parse(["路1号", "路2号", "路1号".encode(), "路1号"])
    assert [entities(r)[0][0] for r in results] == ["1号", "2号", "1号", "1号"]
    assert sum(rows for rows, _ in network.shapes) == 3  # bytes and str are told apart


def test_results_keep_the_order_of_the_texts(parser: AddressParser) -> None:
    texts = [("的" * (i * 7 % 40)) + f"{i}号" for i in range(30)]
    results = parser.parse(texts)
    assert [entities(r)[0][0] for r in results] == [f"{i}号" for i in range(30)]


@pytest.mark.parametrize("length", [62, 63, 100, 125, 500, MAX_CHARACTERS])
def test_long_texts_are_split_not_cut(parser: AddressParser, length: int) -> None:
    text = ("的" * 7 + "123号") * (length // 11 + 1)
    text = text[: length - 2] + "5号"
    (result,) = parser.parse([text])
    found = entities(result)
    assert found == [(m.group(), m.start(), m.end()) for m in re.finditer(r"\d+号", text)]


def test_windows_cover_the_text() -> None:
    for text in ("的" * 300, "的的的的，" * 60, ("的" * 45 + " ") * 9):
        windows = cuts(text)
        assert windows[0][0] == 0
        assert windows[-1][1] == len(text)
        assert all(0 < end - start <= WINDOW for start, end in windows)
        assert all(b[0] <= a[1] for a, b in pairwise(windows))


def test_a_folder_that_lacks_something_says_what(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"vocab\.txt"):
        AddressParser(tmp_path, DigitNetwork(CharacterTokenizer(VOCABULARY)), 4)
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    (tmp_path / "label_cls.csv").write_text("label,code\n0,1\n")
    with pytest.raises(ValueError, match=r"\[CLS\]"):
        AddressParser(tmp_path, DigitNetwork(CharacterTokenizer(VOCABULARY)), 4)
