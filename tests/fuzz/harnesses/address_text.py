"""Addresses of any text with entities of any kind: the network is replaced by chance, so that
normalisation, windows, numbers, contacts, divisions and the one line meet what it never says."""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from desktop import paths
from server_bundle.address.normalisation import normalise_characters
from server_bundle.address.parser import AddressParser, Ids, InvalidAddress, Logits
from server_bundle.address.word_piece import WordPieceTokenizer
from tests.fuzz.harness import text

_PIECES = WordPieceTokenizer(
    ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "##a", "##b", "1", "##1", "路", "é", "##é"], True
)


class Chance:
    """Spans where chance has them; ``share``: how many of all possible ones."""

    def __init__(self, areas: int, types: int) -> None:
        self.areas, self.types = areas, types
        self.seed, self.share = 0, 0.01

    def __call__(self, ids: Ids, segments: Ids, mask: Ids) -> tuple[Logits, Logits]:
        batch, length = ids.shape
        chance = np.random.default_rng(self.seed)
        scores = np.where(
            chance.random((batch, self.types, length, length)) < self.share,
            chance.random((batch, self.types, length, length)) * 20 + 0.1,
            -chance.random((batch, self.types, length, length)) * 20 - 0.1,
        )
        return (
            chance.normal(0, 4, (batch, self.areas)).astype(np.float32),
            scores.astype(np.float32),
        )


@lru_cache(maxsize=1)
def parser() -> tuple[AddressParser, Chance]:
    network = Chance(0, 0)
    made = AddressParser(paths.resources_dir() / "models" / "address-tiny", network, 8)
    network.areas, network.types = len(made.model.areas), len(made.model.types)
    return made, network


def seeds() -> Iterable[bytes]:
    for number, line in enumerate((
        "浙江省杭州市余杭区五常街道文一西路969号3幢5单元501室", "沪闵行区莘庄镇", "西安高新区",
        "收货人：张三 13812345678 北京市朝阳区", "苏州吴中，电话 0512-12345678转12 王先生收",
        "臺北市中正區１２３號\u3000二樓", "\t \n\u3000", "巿髙6-2-1101", "河南省郑卅市" + "x" * 200,
    )):  # fmt: skip
        yield bytes([number]) + line.encode()


def one(data: bytes) -> None:
    """The first byte: how many spans the network finds."""
    made, network = parser()
    network.seed = zlib.crc32(data)
    network.share = (0.0, 0.0005, 0.003, 0.02, 0.2)[(data[0] if data else 0) % 5]
    (found,) = made.parse([data[1:]])
    if isinstance(found, InvalidAddress):
        assert str(found)
    else:
        words = data[1:].decode()
        assert len(normalise_characters(words)) == len(words)
        assert found["text"] == words
        end = 0
        for span in found["entities"]:
            assert end <= span["start"] < span["end"] <= len(words), "spans overlap"
            assert words[span["start"] : span["end"]] == span["text"]
            assert 0 < span["score"] < 1
            end = span["end"]
        taken = [(s["start"], s["end"]) for s in found["entities"]]
        for person in found["contacts"]:
            assert words[person["start"] : person["end"]] == person["text"]
            assert all(b <= person["start"] or person["end"] <= a for a, b in taken)
        assert 0 <= found["division"]["confidence"] <= 1
        assert all(0 <= each["confidence"] <= 1 for each in found["candidates"])
        assert "\n" not in found["one_line"]
    free = text(data)
    encoding = _PIECES.encode(free)
    assert len(encoding.ids) == len(encoding.offsets)
    assert all(0 <= a <= b <= len(free) for a, b in encoding.offsets)
