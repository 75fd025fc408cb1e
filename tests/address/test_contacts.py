"""Names and phone numbers by rule, and the one-line form. Every person and number is made up."""

# ruff: noqa: E501 - Chinese characters count twice
from __future__ import annotations

import pytest

from server_bundle.address.contacts import find, without
from server_bundle.address.entities import Span
from server_bundle.address.one_line import one_line
from server_bundle.address.resolver import Division


def spans_of(text: str, *labels: str) -> list[Span]:
    """``type=part``, found from left to right."""
    found, position = [], 0
    for label in labels:
        type_, _, part = label.partition("=")
        start = text.index(part, position)
        position = start + len(part)
        found.append(Span(start, position, type_, 0.9))
    return found


def contacts(text: str, *labels: str) -> list[str]:
    return [f"{s.type}={text[s.start : s.end]}" for s in find(text, spans_of(text, *labels))]


@pytest.mark.parametrize(
    ("text", "labels", "expected"),
    [
        ("收货人：李四 1xx00000000 滨江区", ["district=滨江区"], ["name=李四", "phone=1xx00000000"]),
        ("王五,1xx00000000,海宁市许村镇", ["district=海宁市", "town=许村镇"],
         ["name=王五", "phone=1xx00000000"]),
        ("31号楼403吴女士1xx00000000", ["houseno=31号楼", "roomno=403"],
         ["name=吴女士", "phone=1xx00000000"]),
        ("3楼，陈师傅收", ["floorno=3楼"], ["name=陈师傅"]),
        ("1102室 收件人：赵大力 电话：10000000000", ["roomno=1102室"], ["name=赵大力"]),
        ("302室 收:钱七", ["roomno=302室"], ["name=钱七"]),
        ("3幢 欧阳小明 13800000000", ["houseno=3幢"], ["name=欧阳小明", "phone=13800000000"]),
        ("司机联系黄生1xx00000000", [], ["name=黄生", "phone=1xx00000000"]),
        ("找不到打1xx00000000林先生，谢谢", [], ["phone=1xx00000000", "name=林先生"]),
        ("138 0000 0000 孙女士", [], ["phone=138 0000 0000", "name=孙女士"]),
        ("+86-138-0000-0000", [], ["phone=+86-138-0000-0000"]),
        ("138****0000", [], ["phone=138****0000"]),
        ("13800000000-1234", [], ["phone=13800000000-1234"]),
        ("13800000000转1234 3幢", [], ["phone=13800000000转1234"]),
        ("0571-88880000 张三", [], ["phone=0571-88880000", "name=张三"]),
        ("(010)88880000", [], ["phone=(010)88880000"]),
        ("400-000-0000", [], ["phone=400-000-0000"]),
        # a place that is only a name, beside a number
        ("王小二 13800000000", ["poi=王小二"], ["name=王小二", "phone=13800000000"]),
        # no names and no numbers
        ("高桥 13800000000", ["town=高桥"], ["phone=13800000000"]),
        ("王家村 13800000000", [], ["phone=13800000000"]),
        ("3楼 谢谢 13800000000", ["floorno=3楼"], ["phone=13800000000"]),
        ("周末不派送，辛苦了", [], []),
        ("文一西路969号3幢1单元1101室", [], []),
        ("西北旺东路10号院东区323102", [], []),
        ("6-2-1101", [], []),
        ("邮编310000", [], []),
        ("订单4001234567890123", [], []),
        ("林语别墅12幢", ["poi=林语别墅", "houseno=12幢"], []),
        ("收货地址：方庄路", [], []),
    ],
)  # fmt: skip
def test_what_is_a_name_or_a_number(text: str, labels: list[str], expected: list[str]) -> None:
    assert contacts(text, *labels) == expected


def test_entities_keep_apart_from_them() -> None:
    text = "望江街道3幢13800000000王小二"
    spans = spans_of(text, "town=望江街道", "houseno=3幢", "roomno=13800000000", "poi=王小二")
    found = find(text, spans)
    assert [s.type for s in found] == ["phone", "name"]
    assert [s.type for s in without(spans, found)] == ["town", "houseno"]


YUHANG = Division("浙江省", "杭州市", "余杭区", "", "330110", 0.9)


@pytest.mark.parametrize(
    ("text", "labels", "division", "expected"),
    [
        ("杭州 余杭 文一西路 969号", ["city=杭州", "district=余杭", "road=文一西路", "roadno=969号"],
         YUHANG, "浙江省杭州市余杭区文一西路969号"),
        ("上海上海市青浦区华隆路", ["prov=上海", "city=上海市", "district=青浦区", "road=华隆路"],
         Division("上海市", "上海市", "青浦区", "", "310118", 0.9), "上海市青浦区华隆路"),
        ("余杭区甲镇竹海水韵6-2-1101",
         ["district=余杭区", "town=甲镇", "poi=竹海水韵", "houseno=6", "cellno=2", "roomno=1101"],
         YUHANG, "浙江省杭州市余杭区甲镇竹海水韵6-2-1101"),
        ("朝阳区建国路88号", ["district=朝阳区", "road=建国路", "roadno=88号"], Division(),
         "朝阳区建国路88号"),
        ("五常大道与荆长大道交叉口西溪永乐城对面",
         ["road=五常大道", "road=荆长大道", "poi=西溪永乐城"], Division(), "五常大道与荆长大道西溪永乐城"),
        ("学林街168号，杭州", ["road=学林街", "roadno=168号", "city=杭州"],
         Division("浙江省", "杭州市", "", "", "330100", 0.9), "浙江省杭州市学林街168号"),
        ("谢谢", [], Division(), ""),
    ],
)  # fmt: skip
def test_one_line(text: str, labels: list[str], division: Division, expected: str) -> None:
    assert one_line(text, spans_of(text, *labels), division) == expected
