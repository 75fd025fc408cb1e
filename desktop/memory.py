"""Whether models fit into this machine's memory, asked before they are loaded.

An estimate from the files, not a promise: the weights as the engine keeps them, the copy that lies
beside them while they are read, the cache of replies, and what the programs themselves take. It is
there to warn; nothing is refused for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path

from desktop import paths
from desktop.launchers import supervised
from desktop.launchers.base import LaunchError
from desktop.models import chat
from desktop.settings import Settings
from desktop.triton.models import DEFAULT
from desktop.triton.types import NOT_UNDERSTOOD, ServerUnavailable
from server_bundle.memory import available

_MIB = 2**20
# Measured on Linux x86_64 with torch 2.13 on the CPU: the private memory of a stub that has loaded
# torch, without weights and cache; and of tritonserver with the stubs that have not.
_TORCH = 200 * _MIB
_SERVER = 150 * _MIB
# How much the engine sets aside for the replies it runs at once: see EngineSettings.
_CACHE = 512 * _MIB
_SLOTS = (4, 64)

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2, "int8": 1}
_ON_DISK = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I8": 1, "U8": 1}
# A header of more is none.
_LONGEST_HEADER = 100 * _MIB


class MemoryShort(ServerUnavailable):
    """Models will probably not fit: one sentence that says how much is missing."""


def weights(folder: Path) -> tuple[int, int]:
    """How many numbers a checkpoint's weights are, and how many bytes their files have. (0, 0)
    where there are none. Reads headers only, no weights."""
    count = size = 0
    safe = sorted(folder.glob("*.safetensors"))
    for file in safe:
        numbers, _ = _header(file)
        count += numbers
        size += file.stat().st_size
    if not safe:
        for name in ("pytorch_model.bin", "model.pt"):
            if (folder / name).exists():
                size = (folder / name).stat().st_size
                count = size // 4  # what older tools save; half as much is needed if it is fp16
    return count, size


def _header(file: Path) -> tuple[int, int]:
    """Numbers and bytes of a safetensors file: 8 bytes little-endian length, then a JSON object of
    name → {dtype, shape, data_offsets} (github.com/huggingface/safetensors, README, Format)."""
    count = size = 0
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(8), "little")
            if length > _LONGEST_HEADER:
                return 0, 0
            header = json.loads(opened.read(length))
        for name, tensor in header.items():
            if name != "__metadata__":
                numbers = math.prod(max(0, int(length)) for length in tensor["shape"])
                count += numbers
                size += numbers * _ON_DISK.get(tensor["dtype"], 4)
    except (OSError, *NOT_UNDERSTOOD):
        return 0, 0  # loading it says what is wrong
    return count, size


def chat_need(folder: Path, precision: str = "auto") -> int:
    """Bytes that serving a chat checkpoint takes at most, loading included.

    ``precision``: what the engine computes in; auto is counted as float32.
    """
    count, size = weights(folder)
    return _TORCH + count * _BYTES.get(precision, 4) + size + _cache(folder)


def _cache(folder: Path) -> int:
    """Keys and values of the engine's slots, FP32; 0 for models of other kinds, which bring
    their own cache."""
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        positions = int(config.get("n_positions", config.get("n_ctx", 512)))
        slot = max(0, 2 * int(config["n_layer"]) * positions * int(config["n_embd"]) * 4)
    except (OSError, *NOT_UNDERSTOOD):
        return 0
    least, most = _SLOTS
    return slot * min(most, max(least, _CACHE // max(1, slot)))


def address_need(folder: Path) -> int:
    """Bytes that serving the address network takes at most, loading included."""
    _, size = weights(folder)
    return _TORCH + 2 * size


def launch_need(chats: Sequence[Path] = (), precision: str = "auto") -> int:
    """Bytes of a server with the shipped models and ``chats`` beside them."""
    models = paths.resources_dir() / "models"
    engines = [models / "chitchat-tiny", *chats]
    return (
        _SERVER
        + sum(chat_need(folder, precision) for folder in engines)
        + address_need(models / "address-tiny")
    )


def check_launch(settings: Settings | None) -> None:
    """Before a server is started with these settings: raises :class:`MemoryShort` where its models
    will probably not fit. Nothing is asked of a server that runs already, on another machine, or
    with its models on a GPU."""
    wanted = settings or Settings()
    if wanted.launcher == "remote" or wanted.device == "gpu":
        return
    try:
        running = supervised.connect_running()
    except LaunchError:
        return  # starting says what is wrong
    if running is not None:
        running.close()
        return
    own = [chat.folder() / name for name in chat.served()]
    check(launch_need(own, getattr(wanted, "precision", "auto")))


def check_load(model: str) -> None:
    """Before a model of the running server is loaded, as :func:`check_launch`."""
    models = paths.resources_dir() / "models"
    if model == DEFAULT:
        check(chat_need(models / "chitchat-tiny"))
    elif model == "multitask_model":
        check(address_need(models / "address-tiny"))


def check(need: int, free: int | None = None) -> None:
    """Raises :class:`MemoryShort` where ``need`` bytes will probably not fit into ``free``, by
    default what is available."""
    free = available() if free is None else free
    if free is not None and need > free:
        raise MemoryShort(
            f"this needs about {size_words(need)} of memory, and {size_words(free)} are free; "
            f"close other programs, or try again to do it all the same"
        )


def size_words(size: int) -> str:
    """A number of bytes as people write it: ``640 MB``, ``3.2 GB``."""
    return f"{size / 2**30:.1f} GB" if size >= 2**30 else f"{max(1, round(size / _MIB))} MB"
