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
        # roads that the network did not see
        ("海淀区中关村大街27号", ["district=海淀区", "community=中关村", "roadno=27号"],
         ["district=海淀区", "road=中关村大街", "roadno=27号"]),
        ("海淀中关村南大街5号1101室", ["district=海淀", "community=中关村", "roomno=1101室"],
         ["district=海淀", "road=中关村南大街", "roadno=5号", "roomno=1101室"]),
        ("朝阳区建国门外大街1号", ["district=朝阳区", "roadno=1号"],
         ["district=朝阳区", "road=建国门外大街", "roadno=1号"]),
        ("建国门外大街1号", ["roadno=1号"], ["road=建国门外大街", "roadno=1号"]),
        ("朝阳区 建国路 1号", ["district=朝阳区"],
         ["district=朝阳区", "road=建国路", "roadno=1号"]),
        ("浦口区江浦街道浦口区象山路1号", ["district=浦口区", "town=江浦街道", "roadno=1号"],
         ["district=浦口区", "town=江浦街道", "road=象山路", "roadno=1号"]),
        ("良渚文化村社区中路8号", ["community=良渚文化村社区", "roadno=8号"],
         ["community=良渚文化村社区", "road=中路", "roadno=8号"]),
        ("工业区中路8号", ["poi=工业区", "roadno=8号"], ["poi=工业区", "road=中路", "roadno=8号"]),
        ("柳市镇后街村中路9号", ["town=柳市镇", "community=后街村", "roadno=9号"],
         ["town=柳市镇", "community=后街村", "road=中路", "roadno=9号"]),
        ("中关村街道中关村大街27号", ["town=中关村街道", "community=中关村", "roadno=27号"],
         ["town=中关村街道", "road=中关村大街", "roadno=27号"]),
        # as they are
        ("李沧区九水路街道12号", ["district=李沧区", "roadno=12号"],
         ["district=李沧区", "roadno=12号"]),
        ("请放到门口走道2号", ["roadno=2号"], ["roadno=2号"]),
        ("国贸地铁站东北口通道2号", ["poi=国贸地铁站", "roadno=2号"],
         ["poi=国贸地铁站", "roadno=2号"]),
        ("德胜门外大街甲10号", ["town=德胜", "roadno=10号"], ["town=德胜", "roadno=10号"]),
        ("海淀区中关村大街", ["district=海淀区", "community=中关村"],
         ["district=海淀区", "community=中关村"]),
        ("人民路街心花园3号", ["road=人民路"], ["road=人民路"]),
        ("道里大街5号", [], ["road=道里大街", "roadno=5号"]),
        ("万达广场 中路8号楼", ["poi=万达广场"], ["poi=万达广场"]),
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
