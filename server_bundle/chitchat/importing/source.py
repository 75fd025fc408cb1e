"""What is in a foreign folder: its configuration, its weight files, its texts. Trusts nothing."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from server_bundle import pickles
from server_bundle.chitchat.folder import MOST, CheckpointError, read_json, text_config

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}")
_SAFE, _PICKLED = "model.safetensors", "pytorch_model.bin"
#: Texts that go along: licence, model card.
_TEXTS = re.compile(
    r"(licen[cs]e|notice|copying|readme|model_?card|use_policy)[\w.-]*", re.IGNORECASE
)
_LARGEST_TEXT = 4 << 20
Say = Callable[[str], None]


def read_config(folder: Path) -> dict[str, Any]:
    """``config.json`` with sizes that can be. Raises :class:`CheckpointError`."""
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is no folder")
    config = read_json(folder / "config.json")
    for part in (config, text_config(config)):
        for name, most in MOST.items():
            value = part.get(name)
            if value is None:
                continue
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
                raise CheckpointError(
                    f"config.json: {name} is {json.dumps(value)[:40]}; from 1 to {most:,} is "
                    "possible"
                )
    return config


def weight_files(folder: Path) -> list[Path]:
    """The files that hold the weights, safetensors where there are any.

    Raises:
        CheckpointError: there are none, one is missing, or an index names a file elsewhere.
    """
    for name in (_SAFE, _PICKLED):
        index = folder / f"{name}.index.json"
        if index.exists():
            names = read_json(index).get("weight_map")
            if not isinstance(names, dict) or not names:
                raise CheckpointError(f"{index.name} holds no weight_map")
            files = sorted(set(map(str, names.values())))
            for each in files:
                if not _PLAIN.fullmatch(each):
                    raise CheckpointError(
                        f"{index.name} names {each[:80]!r}, which is no plain file name"
                    )
                if not (folder / each).is_file():
                    raise CheckpointError(f"{each} is missing from {folder}")
            return [folder / each for each in files]
        if (folder / name).is_file():
            return [folder / name]
    raise CheckpointError(f"{folder} has neither {_SAFE} nor {_PICKLED}")


def read_tensors(files: list[Path], say: Say) -> dict[str, Tensor]:
    """All tensors under their names. A pickle that wants more than tensors is refused, never run.

    Raises:
        CheckpointError: a file is cut off, damaged or holds something else.
    """
    tensors: dict[str, Tensor] = {}
    for path in files:
        say(f"reading {path.name}")
        try:
            found = load_file(path) if path.suffix == ".safetensors" else _unpickle(path)
        except SafetensorError as error:
            raise CheckpointError(f"the file {path.name} is damaged or cut off: {error}") from None
        except (OSError, MemoryError) as error:
            raise CheckpointError(f"the file {path.name} cannot be read: {error}") from None
        except CheckpointError:
            raise
        except Exception as error:
            words = " ".join(str(error).split())
            if "Weights only load failed" in words or "Unsupported global" in words:
                raise CheckpointError(
                    f"the file {path.name} wants to run code when it is read; only plain tensors "
                    "are accepted, so it was not read"
                ) from None
            raise CheckpointError(
                f"the file {path.name} is damaged or cut off: {words[:200]}"
            ) from None
        for name, tensor in found.items():
            if tensor.layout != torch.strided:
                raise CheckpointError(f"the file {path.name}: {name} is no plain tensor")
            # A tensor may be a view that repeats few bytes: petabytes out of a small file.
            if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
                raise CheckpointError(
                    f"the file {path.name}: {name} claims more numbers than the file holds"
                )
        tensors |= found
    return tensors


def _unpickle(path: Path) -> dict[str, Tensor]:
    try:
        compressed = pickles.is_compressed(path)
    except pickles.Damaged:
        raise CheckpointError(f"the file {path.name} is damaged or cut off") from None
    if compressed:
        raise CheckpointError(
            f"the file {path.name} is compressed, which no checkpoint of PyTorch is"
        )
    state: Any = torch.load(path, map_location="cpu", weights_only=True)
    for name in ("model", "state_dict", "module"):  # what training scripts wrap them in
        if isinstance(state, dict) and isinstance(state.get(name), dict):
            state = state[name]
    if not isinstance(state, dict) or not state:
        raise CheckpointError(f"the file {path.name} holds no table of tensors")
    found = {str(name): value for name, value in state.items() if isinstance(value, Tensor)}
    if not found:
        raise CheckpointError(f"the file {path.name} holds no tensors")
    return found


def bytes_of(files: list[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def count(tensors: dict[str, Tensor]) -> int:
    """Parameters, shared ones once."""
    seen = {tensor.data_ptr(): math.prod(tensor.shape) for tensor in tensors.values()}
    return sum(seen.values())


def texts(folder: Path) -> list[Path]:
    """Licence, notice, model card: small files that go along."""
    return [
        path
        for path in sorted(folder.iterdir())
        if _TEXTS.fullmatch(path.name)
        and path.is_file()
        and path.stat().st_size <= _LARGEST_TEXT
        and path.suffix.lower() in ("", ".md", ".txt", ".rst")
    ]


def licence(folder: Path) -> str:
    """The licence's name as the model card's head says; empty where it does not."""
    for path in texts(folder):
        if path.suffix.lower() != ".md":
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        head = re.match(r"---\s*\n(.*?)\n---", text, re.DOTALL)
        if head and (found := re.search(r"^license:\s*['\"]?([\w.+-]+)", head[1], re.MULTILINE)):
            return found[1]
    return ""
