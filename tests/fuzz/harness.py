"""What the harnesses share: which outcomes are allowed, a folder of their own, and mutations.

A harness is a module of :mod:`tests.fuzz.harnesses` with

- ``seeds()``: small inputs to begin with;
- ``one(data)``: reads one input; what it raises is a finding;
- perhaps ``mutate(data, chance)``: another input like ``data``, where bytes changed by chance would
  seldom get past the first check; and ``MAX_LEN``, the longest input in bytes.
"""

from __future__ import annotations

import atexit
import contextlib
import importlib
import io
import json
import os
import pkgutil
import random
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.fuzz import harnesses

MAX_LEN = 4096
#: Names the folder of a child, which libFuzzer ends before it could clear up.
FOLDER = "TRITALK_FUZZ_FOLDER"
Mutate = Callable[[bytes, random.Random], bytes]


@dataclass(frozen=True)
class Harness:
    name: str
    seeds: Callable[[], Iterable[bytes]]
    one: Callable[[bytes], None]
    mutate: Mutate | None
    max_len: int


def names() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(harnesses.__path__))


def load(name: str) -> Harness:
    module = importlib.import_module(f"{harnesses.__name__}.{name}")
    return Harness(
        name,
        module.seeds,
        module.one,
        getattr(module, "mutate", None),
        getattr(module, "MAX_LEN", MAX_LEN),
    )


@contextlib.contextmanager
def allowed(*documented: type[Exception]) -> Iterator[None]:
    """Of exceptions only the documented ones, with words for a person and not a trace."""
    words = "-"
    try:
        yield
    except documented as error:
        words = str(error)
    assert words.strip(), "an error without a word"
    assert "Traceback" not in words
    assert len(words) < 4000, f"{len(words)} characters to tell what is wrong"


def memory() -> Path | None:
    shared = Path("/dev/shm")
    return shared if shared.is_dir() else None


@lru_cache(maxsize=1)
def folder() -> Path:
    """A folder of this process's own, on a file system in memory where there is one."""
    if given := os.environ.get(FOLDER):
        return Path(given)
    made = Path(tempfile.mkdtemp(prefix="tritalk-fuzz-", dir=memory()))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def laid_out(name: str, files: Mapping[str, bytes]) -> Path:
    """A folder of that name with these files and nothing else."""
    where = folder() / name
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir()
    for file, content in files.items():
        (where / file).write_bytes(content)
    return where


def text(data: bytes) -> str:
    """Any text, lone surrogates included, as they come out of JSON or of file names."""
    return data.decode("utf-8", "surrogateescape")


def parts(data: bytes, count: int) -> list[bytes]:
    """``count`` inputs out of one: they are parted by a byte that UTF-8 does not have."""
    found = data.split(b"\xff", count - 1)
    return found + [b""] * (count - len(found))


# -- mutations -----------------------------------------------------------------------------------

_DEEP: Any = []
for _ in range(200):
    _DEEP = [_DEEP]
STRANGE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 7, 2**31, 2**53 + 1, 2**63, -(2**63), 10**20, 10**400,
    0.0, -0.0, 0.5, 1e-320, 1e308, float("inf"), float("-inf"), float("nan"),
    "", " ", "0", "7", "²", "٣", "1e5", "nan", "x" * 300, "\x00", "\ud800", "地址", "\u202e",
    "../x", "/etc/passwd", [], {}, [[]], [1, 2], {"": {}}, _DEEP,
)  # fmt: skip


def mutate_json(data: bytes, chance: random.Random) -> bytes:
    """Another JSON text: a value or a name replaced, taken out, or put in twice."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        return data
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            entries: Iterable[tuple[Any, Any]] = node.items()
        elif isinstance(node, list):
            entries = enumerate(node)
        else:
            return
        for key, inner in entries:
            places.append((node, key))
            walk(inner)

    try:
        walk(value)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            if not places:
                value = chance.choice(STRANGE)
                break
            node, key = chance.choice(places)
            what = chance.randrange(8)
            if what == 0 and isinstance(node, dict):
                node.pop(key, None)
            elif what == 1 and isinstance(node, dict):
                node[chance.choice(("", "x", "²", "\ud800", "__class__"))] = node.get(key)
            elif what == 2 and isinstance(node, list):
                node.extend(node[:8])
            elif what == 3:
                other, place = chance.choice(places)
                node[key] = json.loads(json.dumps(other[place])) if other is not node else 0
            elif not isinstance(node, list) or key < len(node):
                node[key] = chance.choice(STRANGE)
        return json.dumps(value, ensure_ascii=chance.random() < 0.5).encode("utf-8", "replace")
    except (ValueError, RecursionError, LookupError, MemoryError):
        return data


def deep(data: bytes, chance: random.Random) -> bytes:
    """Brackets as deep as a parser may have trouble with."""
    depth = chance.choice((50, 300, 900, 2000, 20_000))
    opening, closing = chance.choice(((b"[", b"]"), (b'{"a":', b"}"), (b"(", b")")))
    return opening * depth + data[:64] + closing * depth


def kinds(mutate: Mutate, *, first: int = 1) -> Mutate:
    """``mutate`` on all but the first bytes, which say what the rest is."""

    def behind(data: bytes, chance: random.Random) -> bytes:
        return data[:first] + mutate(data[first:], chance)

    return behind


def json_or_deep(data: bytes, chance: random.Random) -> bytes:
    return deep(data, chance) if chance.random() < 0.03 else mutate_json(data, chance)


# -- files ---------------------------------------------------------------------------------------


def zipped(members: dict[str, bytes], packed: int = zipfile.ZIP_STORED) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", packed) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def unzipped(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def mutate_safetensors(data: bytes, chance: random.Random) -> bytes:
    """Another header with its right length before it."""
    if len(data) < 8:
        return data
    (length,) = struct.unpack("<Q", data[:8])
    header = mutate_json(data[8 : 8 + min(length, len(data))], chance)
    return struct.pack("<Q", len(header)) + header + data[8 + min(length, len(data)) :]
