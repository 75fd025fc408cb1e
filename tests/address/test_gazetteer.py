"""What the division table adds to the entities of the shipped network, and what it must not."""

from __future__ import annotations

from pathlib import Path

import pytest

from server_bundle.address.local import local_parser
from server_bundle.address.parser import AddressParser

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")

FOLDER = Path(__file__).parents[2] / "resources" / "models" / "address-tiny"


@pytest.fixture(scope="module")
def parser() -> AddressParser:
    return local_parser(FOLDER)


def marked(parser: AddressParser, text: str) -> str:
    (result,) = parser.parse([text])
    assert isinstance(result, dict)
    end = 0
    for entity in result["entities"]:
        assert entity["start"] >= end
        assert text[entity["start"] : entity["end"]] == entity["text"]
        assert 0 < entity["score"] < 1
        end = entity["end"]
    return " ".join(f"{e['type']}={e['text']}" for e in result["entities"])


@pytest.mark.parametrize(
    ("text", "beginning"),
    [
        ("浙江宁波鄞州姜山锦悦苑3幢", "prov=浙江 city=宁波 district=鄞州 town=姜山"),
        ("沪青浦徐泾徐盈路12号", "prov=沪 district=青浦 town=徐泾 road=徐盈路"),
        (
            "江苏省苏州市吴江区江苏省苏州市吴江区盛泽镇舜湖西路268号",
            "prov=江苏省 city=苏州市 district=吴江区 town=盛泽镇 road=舜湖西路",
        ),
    ],
)
def test_names_that_the_table_knows_are_found(
    parser: AddressParser, text: str, beginning: str
) -> None:
    assert marked(parser, text).startswith(beginning)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("昆山花桥路12号", "road=花桥路"),
        ("南京江宁东山花园3幢201", "poi=东山花园"),
        ("宁波海曙月湖花园12幢", "poi=月湖花园"),
        ("黄岩院桥路55号", "road=院桥路"),
        ("沪太路1111弄", "road=沪太路"),
        ("浙江中路400号", "road=浙江中路"),
    ],
)
def test_roads_and_estates_named_after_towns_stay_whole(
    parser: AddressParser, text: str, part: str
) -> None:
    words = marked(parser, text)
    assert part in words
    assert "town=" not in words
