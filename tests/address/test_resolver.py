"""The division resolver on the cases that address parsers are known to get wrong."""

from __future__ import annotations

import time

import pytest

from server_bundle.address.divisions import Node
from server_bundle.address.entities import Span
from server_bundle.address.resolver import Resolver

RESOLVER = Resolver()


def typed(pieces: str) -> tuple[str, list[Span]]:
    """``江苏省=prov 鼓楼区=district 往东`` → the text and its entities."""
    text = ""
    spans = []
    for piece in pieces.split(" "):
        word, _, type_ = piece.partition("=")
        if type_:
            spans.append(Span(len(text), len(text) + len(word), type_, 0.99))
        text += word
    return text, spans


def names(pieces: str) -> str:
    division = RESOLVER.resolve(*typed(pieces)).division
    return "/".join((division.province, division.city, division.district, division.town))


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ("浙江省=prov 杭州市=city 余杭区=district", "浙江省/杭州市/余杭区/"),
        ("余杭区=district", "浙江省/杭州市/余杭区/"),
        ("余杭=district 仓前=town", "浙江省/杭州市/余杭区/仓前街道"),
        ("浙江=prov 温州=city 龙湾区=district", "浙江省/温州市/龙湾区/"),
        ("上海=prov 上海市=city 青浦区=district 华隆路=road", "上海市/上海市/青浦区/"),
        ("上海市=prov", "上海市/上海市//"),
        ("义乌市=district 福田街道=town", "浙江省/金华市/义乌市/福田街道"),
        ("义乌市=city 福田街道=town", "浙江省/金华市/义乌市/福田街道"),
        ("广东省=prov 东莞市=city 虎门镇=town", "广东省/东莞市//虎门镇"),
        ("湖北省=prov 仙桃市=district", "湖北省//仙桃市/"),
        ("武汉市=city 武昌区=district 中南路街办事处=town", "湖北省/武汉市/武昌区/中南路街道"),
        ("吉林=prov 吉林市=city 船营区=district", "吉林省/吉林市/船营区/"),
        ("吉林=prov", "吉林省///"),
        ("内蒙=prov 通辽=city", "内蒙古自治区/通辽市//"),
        ("苏州吴中=city", "江苏省/苏州市/吴中区/"),
        ("余杭区=district 临平镇=town", "浙江省/杭州市/余杭区/"),
        ("德清县=district 武康镇=town", "浙江省/湖州市/德清县/武康街道"),
        ("苍南县=district 龙港镇=town", "浙江省/温州市/苍南县/"),
        ("台北=city 大安区=district", "台湾省/台北市/大安区/"),
        ("香港=prov 油尖旺区=district", "香港特别行政区//油尖旺区/"),
        ("香港=prov 九龍=district 彌敦道=road", "香港特别行政区///"),
        ("和康县=district", "新疆维吾尔自治区/和田地区/和康县/"),
        ("长沙=city", "湖南省/长沙市//"),
        ("上海市=prov 闸北区=district", "上海市/上海市/静安区/"),
        ("北京市=prov 朝阳=district", "北京市/北京市/朝阳区/"),
        ("余杭　区=district", "浙江省/杭州市/余杭区/"),
        ("杭州市=city 下城区=district", "浙江省/杭州市/拱墅区/"),
        ("无锡=city 崇安区=district", "江苏省/无锡市/梁溪区/"),
        ("福建省=prov 三明市=city 梅列区=district", "福建省/三明市/三元区/"),
        ("襄樊市=city 襄城区=district", "湖北省/襄阳市/襄城区/"),
        ("湖北=prov 襄樊=city", "湖北省/襄阳市//"),
        ("青岛=city 即墨市=district", "山东省/青岛市/即墨区/"),
        ("云南=prov 中甸县=district", "云南省/迪庆藏族自治州/香格里拉市/"),
        ("莱芜市=city", "山东省/济南市/莱芜区/"),
        ("广州市=city 东山区=district", "广东省/广州市/越秀区/"),
        ("沪=prov 闵行=district 七宝=town", "上海市/上海市/闵行区/七宝镇"),
        ("浙=prov 嘉兴=city", "浙江省/嘉兴市//"),
        ("贵州=prov 黔东南州=city 雷山县=district", "贵州省/黔东南苗族侗族自治州/雷山县/"),
        ("景宁县=district", "浙江省/丽水市/景宁畲族自治县/"),
    ],
)
def test_what_the_text_determines(pieces: str, expected: str) -> None:
    assert names(pieces) == expected


@pytest.mark.parametrize(
    ("pieces", "expected", "stated"),
    [
        ("余杭区=district 临平街道=town", "临平区/临平街道", "余杭区"),
        ("萧山区=district 义蓬街道=town", "钱塘区/义蓬街道", "萧山区"),
        ("杭州市=city 江干区=district 下沙街道=town", "钱塘区/下沙街道", "上城区"),
    ],
)
def test_a_town_that_changed_its_district_wins_and_says_so(
    pieces: str, expected: str, stated: str
) -> None:
    resolution = RESOLVER.resolve(*typed(pieces))
    division = resolution.division
    assert f"{division.district}/{division.town}" == expected
    assert [(c.district, c.town) for c in resolution.candidates] == [
        (division.district, division.town),
        (stated, ""),
    ]
    assert division.confidence < 0.8


def test_a_town_of_another_city_does_not_move_the_district() -> None:
    assert names("余杭区=district 虎门镇=town") == "浙江省/杭州市/余杭区/"


@pytest.mark.parametrize(
    "pieces",
    [
        "南京西路=road 325号=roadno",
        "中山北路=road",
        "北京东路=road 与 上海路=road",
        "假县=district",
        "E通世界华新园=poi",
    ],
)
def test_what_is_no_division(pieces: str) -> None:
    resolution = RESOLVER.resolve(*typed(pieces))
    assert names(pieces) == "///"
    assert resolution.candidates == ()
    assert resolution.division.confidence == 0.0


def test_nonsense_below_a_division_leaves_the_division() -> None:
    assert names("重庆市=prov 假县=district") == "重庆市/重庆市//"


def test_an_ambiguous_district_answers_candidates() -> None:
    resolution = RESOLVER.resolve(*typed("朝阳区=district"))
    assert resolution.division.province == resolution.division.district == ""
    assert {(c.province, c.district) for c in resolution.candidates} == {
        ("北京市", "朝阳区"),
        ("吉林省", "朝阳区"),
    }


def test_a_street_named_after_a_city_does_not_decide() -> None:
    resolution = RESOLVER.resolve(*typed("鼓楼区=district 中山北路=road"))
    assert resolution.division.province == ""
    cities = {c.city for c in resolution.candidates}
    assert cities == {"南京市", "徐州市", "福州市", "开封市"}


def test_the_province_narrows_and_is_kept() -> None:
    resolution = RESOLVER.resolve(*typed("江苏省=prov 鼓楼区=district 复兴北路=road"))
    assert (resolution.division.province, resolution.division.city) == ("江苏省", "")
    assert {c.city for c in resolution.candidates} == {"南京市", "徐州市"}


def test_the_vote_ranks_but_never_fills_in() -> None:
    def vote(node: Node) -> float:
        return 0.9 if node.within(RESOLVER.table.names["南京市"][0]) else 0.02

    resolution = RESOLVER.resolve(*typed("鼓楼区=district"), vote)
    assert resolution.candidates[0].city == "南京市"
    confidences = [c.confidence for c in resolution.candidates]
    assert confidences == sorted(confidences, reverse=True)
    assert confidences[0] > 3 * confidences[1]
    assert resolution.division.city == ""


def test_a_town_name_that_is_everywhere_answers_all_of_them() -> None:
    resolution = RESOLVER.resolve(*typed("城关镇=town"))
    assert resolution.division.province == ""
    assert len(resolution.candidates) == 82


def test_codes_are_official_and_never_invented() -> None:
    assert RESOLVER.resolve(*typed("余杭区=district")).division.code == "330110"
    assert RESOLVER.resolve(*typed("虎门镇=town 东莞=city")).division.code.startswith("441900")
    assert RESOLVER.resolve(*typed("台北市=city 大安区=district")).division.code == "710000"


def test_a_name_the_network_missed_is_still_found() -> None:
    assert names("杭州市余杭区 文一西路=road") == "浙江省/杭州市/余杭区/"


def test_a_city_alone_before_an_entity_is_found_and_the_start_of_a_name_is_not() -> None:
    assert names("杭州 经济技术开发区=poi 12号大街=road") == "浙江省/杭州市//"
    assert names("南京西路 325号=roadno") == "///"
    assert names("路过杭州 325号=roadno") == "///"


def test_long_texts_stay_quick() -> None:
    text, spans = typed("浙江省=prov 杭州市=city 余杭区=district " + "很长的备注" * 380)
    began = time.process_time()
    for _ in range(5):
        RESOLVER.resolve(text, spans)
    # A scan over 40,000 names would take seconds.
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ("浙汇省=prov 杭洲市=city 余抗区=district", "浙江省/杭州市/余杭区/"),
        ("北京市=prov 海定区=district", "北京市/北京市/海淀区/"),
        ("深训市=city 南山区=district", "广东省/深圳市/南山区/"),
        # alone, or against everything else in the text, it is a name that does not exist
        ("余抗区=district", "///"),
        ("甲乙县=district", "///"),
        ("甲乙省=prov 丙丁市=city", "///"),
        ("广东省=prov 余抗区=district", "广东省///"),
    ],
)
def test_a_wrong_character_in_a_name(pieces: str, expected: str) -> None:
    assert names(pieces) == expected


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ("西安高新区=poi 科技路=road", "陕西省/西安市//"),
        ("昆山开发区=poi 前进东路=road", "江苏省/苏州市/昆山市/"),
        ("合肥=city 昆山开发区=poi", "安徽省/合肥市//"),  # what the text names counts more
        ("昆山花园=poi", "///"),
        ("开发区=poi", "///"),
        ("临江工业园=poi", "///"),
    ],
)
def test_a_zone_lies_where_its_name_says(pieces: str, expected: str) -> None:
    division = RESOLVER.resolve(*typed(pieces)).division
    found = "/".join((division.province, division.city, division.district, division.town))
    assert found == expected
