"""The weights that ship: small, sound, and good enough on addresses they have never read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.export import BATCHES, LENGTHS, device_constants, example
from server_bundle.address.folder import AddressModel
from server_bundle.address.local import local_parser
from server_bundle.address.network import AddressConfig
from server_bundle.address.parser import AddressParser
from server_bundle.training.address.evaluate import read_labelled

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")

FOLDER = Path(__file__).parents[2] / "resources" / "models" / "address-tiny"
DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def parser() -> AddressParser:
    return local_parser(FOLDER)


def parse(parser: AddressParser, text: str) -> dict[str, Any]:
    (result,) = parser.parse([text])
    assert isinstance(result, dict)
    return result


def test_the_files_fit_each_other() -> None:
    model = AddressModel.load(FOLDER)
    config = AddressConfig.load(FOLDER / "config.json")
    assert len(model.tokenizer.ids) == config.vocab_size
    assert len(model.areas) == config.num_labels_cls
    assert model.types == ENTITY_TYPES
    assert (FOLDER / "model.pt").stat().st_size < 20e6


def test_the_torchscript_runs_at_every_shape() -> None:
    module = torch.jit.load(str(FOLDER / "model.pt"))
    config = AddressConfig.load(FOLDER / "config.json")
    assert device_constants(module) == []
    with torch.inference_mode():
        for batch in BATCHES:
            for length in LENGTHS:
                cls, ner = module(*example(config, batch, length))
                assert cls.shape == (batch, config.num_labels_cls)
                assert ner.shape == (batch, 13, length, length)
                assert cls.isfinite().all()
                assert ner.isfinite().all()


@pytest.mark.parametrize(("file", "least"), [("handwritten.txt", 0.90), ("blind.txt", 0.88)])
def test_entity_f1_on_hand_written_addresses(
    parser: AddressParser, file: str, least: float
) -> None:
    right = predicted = expected = 0
    for address in read_labelled(DATA / file):
        found = {(e["start"], e["end"], e["type"]) for e in parse(parser, address.text)["entities"]}
        gold = {(s.start, s.end, s.type) for s in address.spans}
        right += len(found & gold)
        predicted += len(found)
        expected += len(gold)
    assert 2 * right / (predicted + expected) >= least


@pytest.mark.parametrize(
    ("text", "division"),
    [
        ("浙江省杭州市余杭区仓前街道文一西路969号", "浙江省/杭州市/余杭区/仓前街道"),
        ("江苏省南京市鼓楼区中山北路105号金茂大厦9楼", "江苏省/南京市/鼓楼区/"),
        ("上海市徐汇区陕西南路666弄12号501室", "上海市/上海市/徐汇区/"),
        ("上海上海市青浦区华隆路E通世界华新园", "上海市/上海市/青浦区/"),
        ("广东省东莞市虎门镇运河北路84号", "广东省/东莞市//虎门镇"),
        ("义乌市稠江街道下沿塘村23栋2单元401", "浙江省/金华市/义乌市/稠江街道"),
        ("北京市朝阳区建国路88号院3号楼2单元1201室", "北京市/北京市/朝阳区/"),
        ("四川成都武侯区桂溪街道天府大道1700号", "四川省/成都市/武侯区/桂溪街道"),
        ("南京西路325号", "///"),
        ("中山北路105号", "///"),
    ],
)
def test_ordinary_addresses_get_their_division(
    parser: AddressParser, text: str, division: str
) -> None:
    found = parse(parser, text)["division"]
    assert "/".join(found[k] for k in ("province", "city", "district", "town")) == division


def test_the_order_of_the_batch_changes_nothing(parser: AddressParser) -> None:
    texts = [address.text for address in read_labelled(DATA / "handwritten.txt")]
    forward = parser.parse(texts)
    backward = parser.parse(texts[::-1])[::-1]
    for one, other in zip(forward, backward, strict=True):
        assert isinstance(one, dict)
        assert isinstance(other, dict)
        assert [e["text"] for e in one["entities"]] == [e["text"] for e in other["entities"]]
        assert one["division"]["code"] == other["division"]["code"]


def test_traditional_characters_are_understood_and_kept(parser: AddressParser) -> None:
    result = parse(parser, "廣東省東莞市長安鎮烏沙興發南路１２８號")
    assert result["text"] == "廣東省東莞市長安鎮烏沙興發南路１２８號"
    division = result["division"]
    assert (division["province"], division["city"], division["town"]) == (
        "广东省",
        "东莞市",
        "长安镇",
    )
    written = {e["type"]: e["text"] for e in result["entities"]}
    assert written["prov"] == "廣東省"
    assert written["town"] == "長安鎮"
    assert written["roadno"] == "１２８號"
