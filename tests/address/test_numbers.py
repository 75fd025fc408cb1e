"""Numbers made whole, and given to the road that they stand behind."""

from __future__ import annotations

import pytest

from server_bundle.address.entities import Span
from server_bundle.address.numbers import amend


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("龙金大道1258-1266号", ["road=龙金大道", "roadno=1258-12"],
         ["road=龙金大道", "roadno=1258-1266号"]),
        ("营运中心9号楼1101单元", ["poi=营运中心", "houseno=9号楼", "cellno=1单元"],
         ["poi=营运中心", "houseno=9号楼", "cellno=1101单元"]),
        ("金融城T3", ["poi=金融城", "houseno=3"], ["poi=金融城", "houseno=T3"]),
        ("红星美凯龙A8032", ["poi=红星美凯龙", "roomno=A"], ["poi=红星美凯龙", "roomno=A8032"]),
        ("吴兴大道2599号童装城", ["road=吴兴大道", "poi=童装城"],
         ["road=吴兴大道", "roadno=2599号", "poi=童装城"]),
        ("金谷中路(西)68号", ["road=金谷中路"], ["road=金谷中路", "roadno=68号"]),
        ("东坊南路3巷5号", ["road=东坊南路", "road=3巷", "houseno=5号"],
         ["road=东坊南路", "road=3巷", "roadno=5号"]),
        # as they are
        ("川沙路955弄12号501室", ["road=川沙路", "roadno=955弄", "houseno=12号", "roomno=501室"],
         ["road=川沙路", "roadno=955弄", "houseno=12号", "roomno=501室"]),
        ("人民路3号楼", ["road=人民路"], ["road=人民路"]),
        ("人民路3号门", ["road=人民路"], ["road=人民路"]),
        ("中山路2幢", ["road=中山路", "houseno=2幢"], ["road=中山路", "houseno=2幢"]),
        ("竹海水韵6-2-1101", ["poi=竹海水韵", "houseno=6", "cellno=2", "roomno=1101"],
         ["poi=竹海水韵", "houseno=6", "cellno=2", "roomno=1101"]),
        ("3B1201", ["houseno=3B", "roomno=1201"], ["houseno=3B", "roomno=1201"]),
        ("", [], []),
    ],
)  # fmt: skip
def test_numbers(text: str, found: list[str], expected: list[str]) -> None:
    spans, position = [], 0
    for label in found:
        type_, _, part = label.partition("=")
        start = text.index(part, position) if part != "1单元" else text.index("1单元")
        position = start + len(part)
        spans.append(Span(start, position, type_, 0.9))
    amended = amend(text, spans)
    assert [f"{s.type}={text[s.start : s.end]}" for s in amended] == expected
