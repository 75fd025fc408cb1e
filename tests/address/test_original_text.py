"""With the shipped network: spans are spans of the original text, whatever stands in it and however
long it is, and long texts lose nothing."""

# ruff: noqa: E501 - Chinese characters count twice
from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from server_bundle.address.local import local_parser
from server_bundle.address.parser import AddressParser
from server_bundle.training.address.score import MODEL, read_rows

TABLE = Path(__file__).parents[1] / "data" / "addresses.tsv"

PIECES = st.sampled_from([
    "浙江省", "杭州", "余杭区", "仓前街道", "文一西路", "９６９号", "3幢", "廣東省", "東莞市", "虎門鎮", "巿",
    "５楼", "①", "😀", "𠮷", "é́", "\u200b", "\t", "\n", "　", "，", "王五", "13800000000", "\x00", "㎡", "ﬁ",
    "电联", "A座", "İ", "\ufeff", "，放门口谢谢，", "6-2-1101",
])  # fmt: skip


@pytest.fixture(scope="module")
def parser() -> AddressParser:
    torch.set_num_threads(1)
    return local_parser(MODEL)


def check(text: str, result: Any) -> None:
    assert result["text"] == text
    found = sorted([*result["entities"], *result["contacts"]], key=lambda e: e["start"])
    for part in found:
        assert 0 <= part["start"] < part["end"] <= len(text)
        assert text[part["start"] : part["end"]] == part["text"]
    for left, right in pairwise(found):
        assert left["end"] <= right["start"]
    assert [e["start"] for e in result["entities"]] == sorted(
        e["start"] for e in result["entities"]
    )
    assert "\n" not in result["one_line"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(PIECES, st.text(max_size=4)), min_size=1, max_size=40).map("".join))
@example("杭州余杭" * 60)
@example("1" * 500)
@example("收货人" * 100)
def test_spans_are_of_the_original(parser: AddressParser, text: str) -> None:
    (result,) = parser.parse([text])
    if isinstance(result, dict):
        check(text, result)


@pytest.mark.parametrize("before", [0, 100])
@pytest.mark.parametrize("after", [0, 300])
def test_notes_around_an_address_hide_nothing(
    parser: AddressParser, before: int, after: int
) -> None:
    """The notes are longer than a window; of 25 addresses the entities behind and before them are
    the same as alone, but for a few at the seams."""
    note = "货到付款，运费发货方付，若有破损拒收，晚上不收货，下雨天注意防潮，请不要放在代收点，谢谢配合。"
    rows = [row.text for row in read_rows(TABLE) if 15 < len(row.text) < 45][::5][:25]
    head = (note * 9)[:before] + ("。" if before else "")
    texts = [head + text + "。" + (note * 9)[:after] for text in rows]
    same = total = divisions = 0
    for text, alone, result in zip(texts, parser.parse(rows), parser.parse(texts), strict=True):
        assert isinstance(alone, dict)
        assert isinstance(result, dict)
        check(text, result)
        found = {(e["start"] - len(head), e["type"], e["text"]) for e in result["entities"]}
        wanted = {(e["start"], e["type"], e["text"]) for e in alone["entities"]}
        same += len(found & wanted)
        total += len(wanted)
        divisions += alone["division"]["code"] == result["division"]["code"]
    assert same / total > 0.9
    assert divisions >= 23


def test_an_address_longer_than_a_window_is_whole(parser: AddressParser) -> None:
    text = (
        "浙江省杭州市余杭区仓前街道文一西路1818号云栖创谷科技产业园区二期东区人工智能小镇总部基地"
        "国际创新中心大厦5幢2单元3层306室，收货人李四，13800000000"
    )
    assert len(text) > 64
    (result,) = parser.parse([text])
    assert isinstance(result, dict)
    check(text, result)
    found = {e["type"]: e["text"] for e in result["entities"]}
    assert found["prov"] == "浙江省"
    assert found["roadno"] == "1818号"
    assert found["houseno"] == "5幢"
    assert found["roomno"] == "306室"
    assert [c["text"] for c in result["contacts"]] == ["李四", "13800000000"]


def test_the_one_line_form_means_the_same(parser: AddressParser) -> None:
    rows = [row.text for row in read_rows(TABLE)]
    results = parser.parse(rows)
    lines = [r["one_line"] for r in results if isinstance(r, dict)]
    assert len(lines) == len(rows)
    same = 0
    for result, again in zip(results, parser.parse([line or "无" for line in lines]), strict=True):
        assert isinstance(result, dict)
        assert isinstance(again, dict)
        same += result["division"]["code"] == again["division"]["code"]
    assert same >= 0.98 * len(rows)
