"""Files of weights: safetensors and pickles, of which none may run anything."""

from __future__ import annotations

import io
import os
import pickle
import random
import zipfile
from collections.abc import Iterable
from pathlib import Path

import torch
from safetensors.torch import save

from desktop import memory
from server_bundle.address import checkpoint
from server_bundle.chitchat.folder import CheckpointError
from server_bundle.chitchat.importing import source
from tests.fuzz.harness import allowed, folder, mutate_safetensors, unzipped, zipped

MAX_LEN = 8192
#: Set by a pickle that gets to run something.
RAN = "TRITALK_FUZZ_RAN"


class _Harmful:
    def __reduce__(self) -> tuple[object, ...]:
        return (os.putenv, (RAN, "1"))


def _saved(value: object, zipped_: bool = True) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream, _use_new_zipfile_serialization=zipped_)
    return stream.getvalue()


def seeds() -> Iterable[bytes]:
    tensors = {"a.weight": torch.zeros(2, 3), "b": torch.ones(4, dtype=torch.float16)}
    yield b"\x00" + save(tensors)
    yield b"\x00" + save({"x": torch.zeros(1, dtype=torch.int64)}, {"format": "pt"})
    for value in (tensors, {"model": tensors, "epoch": 3}, {"state_dict": {}}, [1, "x"], None):
        yield b"\x01" + _saved(value)
        yield b"\x01" + _saved(value, zipped_=False)
    yield b"\x01" + _saved({"a": torch.zeros(3).to_sparse()})
    yield b"\x01" + _saved({"a": torch.zeros(1).expand(10**6)})
    yield b"\x01" + pickle.dumps({"a": _Harmful()})
    yield b"\x01" + zipped({"archive/data.pkl": pickle.dumps(_Harmful()), "archive/version": b"3"})


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A header with its right length, or a pickle within its archive."""
    if not data or data[0] % 2 == 0:
        return data[:1] + mutate_safetensors(data[1:], chance)
    try:
        members = unzipped(data[1:])
    except Exception:
        return data
    names = [name for name in members if name.endswith(".pkl")] or sorted(filter(None, members))
    if not names:
        return data
    name = chance.choice(names)
    content = bytearray(members[name])
    if content and chance.random() < 0.7:
        content[chance.randrange(len(content))] = chance.randrange(256)
    elif content:
        at = chance.randrange(len(content))
        del content[at : at + chance.randrange(1, 9)]
    members[name] = bytes(content)
    return data[:1] + zipped(members, chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))


def one(data: bytes) -> None:
    kind = (data[0] if data else 0) % 2
    name = ("model.safetensors", "pytorch_model.bin")[kind]
    where = folder() / "weights"
    where.mkdir(exist_ok=True)
    for old in where.iterdir():
        old.unlink()
    file: Path = where / name
    file.write_bytes(data[1:])
    count, size = memory.weights(where)
    assert count >= 0
    assert size >= 0
    with allowed(CheckpointError):
        tensors = source.read_tensors([file], lambda _: None)
        assert all(isinstance(tensor, torch.Tensor) for tensor in tensors.values())
        assert source.count(tensors) >= 0
    with allowed(checkpoint.CheckpointError):
        for key, tensor in checkpoint._read_weights(where).items():
            assert isinstance(key, str)
            assert tensor.numel() * tensor.element_size() <= tensor.untyped_storage().nbytes()
    assert os.getenv(RAN) is None
