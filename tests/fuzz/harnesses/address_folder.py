"""Folders of address models: config.json, vocabulary, areas, entity types, calibration."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from functools import lru_cache

import torch
from safetensors.torch import save

from server_bundle.address import checkpoint, served
from server_bundle.address.checkpoint import CheckpointError
from server_bundle.address.folder import AddressModel
from server_bundle.address.network import AddressConfig, BertFourLevelArea
from tests.fuzz.harness import allowed, json_or_deep, laid_out

NAMES = (
    "config.json", "vocab.txt", "label_cls.csv", "entity_types.txt", "label_ner.csv",
    "label_ner.json", "calibration.json", "tokenizer_config.json",
)  # fmt: skip
_TYPES = ("prov", "city", "district", "town", "road")
_SIZES = {
    "hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8,
    "max_position_embeddings": 16, "inner_dim": 4,
}  # fmt: skip
_WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "杭", "州", "##1", "a")


@lru_cache(maxsize=1)
def good() -> dict[str, bytes]:
    torch.manual_seed(1)
    config = AddressConfig(len(_WORDS), 3, rope=False, scale=1.0, num_labels_ner=5, **_SIZES)  # type: ignore[arg-type]
    bert = {**_SIZES, "vocab_size": len(_WORDS), "RoPE": False, "hidden_act": "gelu"}
    return {
        "model.safetensors": save(BertFourLevelArea(config).state_dict()),
        "config.json": json.dumps(bert).encode(),
        "vocab.txt": "\n".join(_WORDS).encode(),
        "label_cls.csv": "label,name\n0,浙江省杭州市\n1,上海市\n2,x\n".encode(),
    }


def seeds() -> Iterable[bytes]:
    files = good()
    yield b"\x00" + files["config.json"]
    yield b"\x01" + files["vocab.txt"]
    yield b"\x02" + files["label_cls.csv"]
    yield b"\x02" + "序号,行政代码\n0,330100000000\n2,310000\n1,110000\n".encode()
    yield b"\x03" + "\n".join(_TYPES).encode()
    yield b"\x04label,type\n" + "\n".join(f"{i},{t}" for i, t in enumerate(_TYPES)).encode()
    yield b"\x05" + json.dumps({t: i for i, t in enumerate(_TYPES)}).encode()
    yield b"\x05" + json.dumps({str(i): t for i, t in enumerate(_TYPES)}).encode()
    yield b"\x05" + json.dumps(_TYPES).encode()
    yield b'\x06{"temperature": 1.5}'
    yield b'\x07{"do_lower_case": true}'


def mutate(data: bytes, chance: random.Random) -> bytes:
    kind = (data[0] if data else 0) % len(NAMES)
    if NAMES[kind].endswith(".json"):
        return data[:1] + json_or_deep(data[1:], chance)
    cells = data[1:].split(b",")
    cells[chance.randrange(len(cells))] = chance.choice(
        ("²".encode(), b"", b'"', b"-1", b"9" * 5000, b"\x00", b"1" * 140_000, "٣".encode())
    )
    return data[:1] + b",".join(cells)


MAX_LEN = 160_000


def one(data: bytes) -> None:
    """The first byte: which file of a sound folder the rest replaces."""
    where = laid_out("model", good())
    name = NAMES[(data[0] if data else 0) % len(NAMES)]
    if not name.startswith(("label_ner", "entity_types")):
        (where / "entity_types.txt").write_text("\n".join(_TYPES))
    (where / name).write_bytes(data[1:])
    with allowed(CheckpointError):
        found = checkpoint.read(where)
        assert len(found.areas) == 3
        assert len(set(found.types)) == len(found.types) == 5
    with allowed(ValueError, FileNotFoundError):
        model = AddressModel.load(where)
        assert 0.01 <= model.temperature <= 100
        assert model.positions > 2
        served.sized('name: "cls_logits" dims: [ 1 ] name: "ner_logits" dims: [ 1 ]', where)
        encoding = model.tokenizer.encode("杭州a1\u3000")
        assert len(encoding.ids) == len(encoding.offsets)
