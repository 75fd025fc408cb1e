"""Characters are made plain one for one."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server_bundle.address.divisions import default_table
from server_bundle.address.normalisation import TABLE, normalise_characters


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("廣東省東莞市虎門鎮運河北路84號", "广东省东莞市虎门镇运河北路84号"),
        ("臺灣新北市板橋區", "台湾新北市板桥区"),
        ("瀋陽市鐵西區興華南街", "沈阳市铁西区兴华南街"),
        ("１２幢５０３室　Ａ座", "12幢503室　A座"),
        ("①号楼（西侧），100㎡", "1号楼（西侧），100㎡"),
        ("杭州巿３–２–５０１", "杭州市3-2-501"),
        ("А座", "A座"),
        ("乾县於潜镇", "乾县於潜镇"),
        ("浙江省杭州市😀𠮷", "浙江省杭州市😀𠮷"),
    ],
)
def test_what_becomes_of_characters(text: str, plain: str) -> None:
    assert normalise_characters(text) == plain


@given(st.text())
def test_lengths_and_plain_texts_stay(text: str) -> None:
    plain = normalise_characters(text)
    assert len(plain) == len(text)
    assert normalise_characters(plain) == plain


def test_official_names_stay_as_they_are() -> None:
    for node in default_table().nodes.values():
        assert normalise_characters(node.name) == node.name


def test_no_simplified_form_is_itself_traditional() -> None:
    lines = (line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines())
    for _, simplified in lines:
        assert normalise_characters(simplified) == simplified


def test_rebuilding_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("opencc")
    from server_bundle.training.address.build_simplified import build

    build(tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == TABLE.read_bytes()
