"""Checkpoints of other people: what is understood, and what is refused in one sentence."""

from __future__ import annotations

import csv
import io
import json
import pickle
import struct
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from server_bundle.address import checkpoint
from server_bundle.address.checkpoint import CheckpointError
from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.export import export
from server_bundle.address.folder import AddressModel, read_areas
from server_bundle.address.word_piece import WordPieceTokenizer
from tests.support.address_checkpoints import AREAS, seed_network, write_checkpoint

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:Detected pickle protocol:UserWarning"),
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "checkpoint", seed_network(rope=True))


def refusal(folder: Path, **options: object) -> str:
    """The reason without the temporary folder's name; one sentence."""
    with pytest.raises(CheckpointError) as caught:
        checkpoint.read(folder, **options)  # type: ignore[arg-type]
    sentence = str(caught.value)
    assert sentence.endswith(".")
    assert "\n" not in sentence
    return sentence.replace(str(folder), "DIR")


@pytest.mark.parametrize(("rope", "pickled"), [(True, False), (False, True)])
def test_a_checkpoint_in_the_seeds_shape(tmp_path: Path, rope: bool, pickled: bool) -> None:
    """1,524 areas, 13 types, inner_dim 64; exported, and as the network it was."""
    network = seed_network(rope)
    source = write_checkpoint(tmp_path / "in", network, pickled=pickled)
    found, worst = export(source, tmp_path / "out")
    assert worst <= 1e-4
    assert (found.config.num_labels_cls, found.config.num_labels_ner) == (AREAS, 13)
    assert (found.config.inner_dim, found.config.rope, found.config.scale) == (64, rope, 1.0)
    assert found.types == ENTITY_TYPES
    module = torch.jit.load(str(tmp_path / "out" / "model.pt"))
    ids = torch.randint(500, (3, 40))
    inputs = ids, torch.zeros_like(ids), torch.ones_like(ids)
    with torch.no_grad():
        for mine, theirs in zip(network(*inputs), module(*inputs), strict=True):
            torch.testing.assert_close(theirs, mine, atol=1e-4, rtol=1e-4)
    model = AddressModel.load(tmp_path / "out")
    assert isinstance(model.tokenizer, WordPieceTokenizer)
    assert len(model.areas) == AREAS
    assert model.areas[0] == "110101"  # found by its name
    assert model.positions == 512


def test_half_precision_weights_are_widened(folder: Path) -> None:
    file = folder / "model.safetensors"
    save_file({k: v.half() for k, v in load_file(file).items()}, file)
    found = checkpoint.read(folder)
    assert {p.dtype for p in found.network.parameters()} == {torch.float32}


@pytest.mark.parametrize("areas", [1, 7, 5000])
def test_any_number_of_areas(tmp_path: Path, areas: int) -> None:
    folder = write_checkpoint(tmp_path, seed_network(rope=False, areas=areas))
    assert len(checkpoint.read(folder).areas) == areas


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("label_ner.txt", "a\nb\nc\n"),
        ("label_ner.csv", "label,type\n1,b\n0,a\n2,c\n"),
        ("label_ner.csv", "a\nb\nc\n"),
        ("label_ner.json", '["a", "b", "c"]'),
        ("label_ner.json", '{"a": 0, "c": 2, "b": 1}'),
        ("label_ner.json", '{"0": "a", "1": "b", "2": "c"}'),
    ],
)
def test_entity_types_come_from_a_label_file(tmp_path: Path, name: str, content: str) -> None:
    network = seed_network(rope=False, areas=3, num_labels_ner=3)
    folder = write_checkpoint(tmp_path / "in", network)
    (tmp_path / name).write_text(content)
    assert checkpoint.read(folder, types=tmp_path / name).types == ("a", "b", "c")
    (folder / name).write_text(content)
    assert checkpoint.read(folder).types == ("a", "b", "c")


def test_what_is_assumed_is_told(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, seed_network(rope=False, areas=4))
    config = json.loads((folder / "config.json").read_text())
    del config["RoPE"]
    (folder / "config.json").write_text(json.dumps(config))
    (folder / "label_cls.csv").write_text("0,浙江省杭州市余杭区\n1,火星\n2,月球\n3,上海市/青浦区\n")
    found = checkpoint.read(folder)
    assert found.areas == [
        ("330110", "浙江省杭州市余杭区"), ("", "火星"), ("", "月球"), ("310118", "上海市/青浦区")
    ]  # fmt: skip
    rope, types, areas = found.notes
    assert "RoPE; taken as without" in rope
    assert "usual 13" in types
    assert "2 of 4 areas" in areas
    assert checkpoint.read(folder, rope=True).config.rope


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("label,code,name\n1,330110000000,y\n0,330106,x\n", [("330106", "x"), ("330110", "y")]),
        ("\ufeff序号,行政代码\r\n0,330110014000\r\n", [("330110014", "")]),
        ("code\n330106\n330110\n", [("330106", ""), ("330110", "")]),
        ("甲\n乙\n", [("", "甲"), ("", "乙")]),
        ("0,甲\n1,乙\n", [("", "甲"), ("", "乙")]),
    ],
)
def test_columns_of_areas(tmp_path: Path, content: str, expected: list[tuple[str, str]]) -> None:
    file = tmp_path / "label_cls.csv"
    file.write_bytes(content.encode())
    assert read_areas(file) == expected


# -- refused -------------------------------------------------------------------------------------


class Evil:
    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return exec, ("import pathlib; pathlib.Path('/tmp/tritalk-was-here').touch()",)


def test_code_in_a_pickle_is_not_run(folder: Path) -> None:
    witness = Path("/tmp/tritalk-was-here")
    witness.unlink(missing_ok=True)
    (folder / "model.safetensors").unlink()
    for content in ({"model": Evil()}, Evil()):
        torch.save(content, folder / "pytorch_model.bin")
        assert "code in it was not run" in refusal(folder)
        (folder / "pytorch_model.bin").write_bytes(pickle.dumps(content))
        assert "pytorch_model.bin" in refusal(folder)
    assert not witness.exists()


@pytest.mark.parametrize("kept", [0, 4, 100, 5000, -1])
@pytest.mark.parametrize("name", ["model.safetensors", "pytorch_model.bin"])
def test_a_file_that_was_cut_off(tmp_path: Path, name: str, kept: int) -> None:
    folder = write_checkpoint(tmp_path, seed_network(rope=True), pickled=name.endswith("bin"))
    (folder / name).write_bytes((folder / name).read_bytes()[:kept])
    assert refusal(folder).startswith(f"DIR/{name} ")


def test_a_header_that_claims_everything(folder: Path) -> None:
    file = folder / "model.safetensors"
    file.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    assert "damaged or cut off" in refusal(folder)
    header = json.dumps(
        {"bert.x": {"dtype": "F32", "shape": [1 << 40, 4], "data_offsets": [0, 1 << 44]}}
    ).encode()
    file.write_bytes(struct.pack("<Q", len(header)) + header)
    assert "damaged or cut off" in refusal(folder)


def test_a_view_that_repeats_few_bytes(folder: Path) -> None:
    state = load_file(folder / "model.safetensors")
    state["dense_cls.weight"] = torch.zeros(1).expand(1 << 20, 1 << 20)
    (folder / "model.safetensors").unlink()
    torch.save(state, folder / "pytorch_model.bin")
    assert "claims more numbers than the file holds" in refusal(folder)


def test_a_bomb(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    with zipfile.ZipFile(folder / "pytorch_model.bin", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data/0", bytes(1 << 26))
    assert "compressed" in refusal(folder)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"num_attention_heads": 5}, "5 heads do not divide the width 32"),
        ({"num_attention_heads": 10**12}, "num_attention_heads must be a number"),
        ({"num_attention_heads": "four"}, "num_attention_heads must be a number"),
        ({"hidden_size": 10**9}, "says hidden_size 1000000000, the weights 32"),
        ({"layer_norm_eps": -1}, "layer_norm_eps must be a number above 0"),
        ({"hidden_act": "relu"}, "hidden_act must be gelu, not 'relu'"),
        ({"inner_dim": 7}, "do not fit 13 entity types of inner_dim 7"),
        ({"num_labels_cls": 3}, "says num_labels_cls 3, the weights 1524"),
    ],
)
def test_a_config_that_does_not_fit(folder: Path, change: dict[str, object], reason: str) -> None:
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, **change}))
    assert reason in refusal(folder)


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("config.json", b"{", "config.json is not valid JSON."),
        ("config.json", b"[" * 100_000, "config.json is not valid JSON."),
        ("config.json", b"[]", "does not hold a JSON object"),
        ("config.json", b"\xff\xfe\x00", "is not UTF-8 text."),
        ("vocab.txt", b"a\nb\n", "lacks [PAD], [UNK], [CLS], [SEP]"),
        ("label_cls.csv", b"", "is empty."),
        ("label_cls.csv", b"label,name\n0,a\n0,b\n", "needs each label from 0 to 1 once."),
        ("label_cls.csv", b"label,name\nzero,a\n", "needs the columns label"),
        ("label_cls.csv", b"label,name\n0,a\n", "has 1 areas, the network 1524"),
        ("label_cls.csv", b'label,name\n0,"' + b"x" * 200_000, "field limit"),
        ("entity_types.txt", b"a\na\n", "must name each entity type once"),
        ("entity_types.txt", b"\n", "must name each entity type once"),
        ("entity_types.txt", b"a b\n", "is no name of an entity type"),
        ("entity_types.txt", b"a\nb\nc\n", "do not fit 3 entity types"),
        ("label_ner.json", b'{"a": "b"}', "must give each entity type its number"),
        ("label_ner.json", b"3", "must hold a list"),
    ],
)
def test_files_that_make_no_sense(folder: Path, name: str, content: bytes, reason: str) -> None:
    csv.field_size_limit(131_072)  # as in a process of its own; reading tables raises it for all
    (folder / name).write_bytes(content)
    assert reason in refusal(folder)


@pytest.mark.parametrize("name", ["config.json", "vocab.txt", "label_cls.csv"])
def test_what_is_missing_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    assert refusal(folder) == f"The checkpoint lacks DIR/{name}."


def test_no_weights_and_no_folder(folder: Path, tmp_path: Path) -> None:
    (folder / "model.safetensors").unlink()
    assert "lacks its weights: model.safetensors or pytorch_model.bin" in refusal(folder)
    assert "is not a folder" in refusal(tmp_path / "nothing")


def test_weights_of_another_network(folder: Path) -> None:
    file = folder / "model.safetensors"
    good = load_file(file)
    for name in ("bert.embeddings.word_embeddings.weight", "dense_ner.weight"):
        save_file({k: v for k, v in good.items() if k != name}, file)
        assert f"The weights lack {name}" in refusal(folder)
    save_file({k: v for k, v in good.items() if k != "bert.pooler.dense.bias"}, file)
    assert "The weights lack bert.pooler.dense.bias (1 missing in all)." in refusal(folder)
    save_file({**good, "lstm.weight": torch.zeros(3)}, file)
    assert "hold lstm.weight, which the network has no place for" in refusal(folder)
    save_file({**good, "dense_ner.bias": torch.zeros(3)}, file)
    assert "dense_ner.bias has the shape [3], not [1664]." in refusal(folder)
    save_file({**good, "dense_cls.bias": torch.full((AREAS,), torch.nan)}, file)
    assert "dense_cls.bias holds numbers that are not finite" in refusal(folder)
    save_file({**good, "dense_cls.bias": torch.zeros(AREAS, dtype=torch.int64)}, file)
    assert "dense_cls.bias holds torch.int64" in refusal(folder)
    save_file({**good, "cls.predictions.bias": torch.zeros(3)}, file)  # of pre-training
    checkpoint.read(folder)


def test_a_table_without_tensors(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    for content in ([1, 2], {"a": 1}, {"model": 3}):
        stream = io.BytesIO()
        torch.save(content, stream)
        (folder / "pytorch_model.bin").write_bytes(stream.getvalue())
        assert "holds no table of weights" in refusal(folder)


def test_the_command_says_one_sentence(folder: Path, tmp_path: Path) -> None:
    (folder / "vocab.txt").unlink()
    command = [sys.executable, "-m", "server_bundle.address.export", str(folder), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"The checkpoint lacks {folder / 'vocab.txt'}.\n"
