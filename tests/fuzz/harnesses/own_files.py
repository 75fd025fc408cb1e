"""Small files of our own that a person, a sync service or a full disk may have changed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable

from desktop import memory
from desktop.addresses.journal import Journal
from desktop.models import chat, registry
from desktop.triton.types import InvalidInput
from tests.fuzz.harness import allowed, folder, json_or_deep, kinds

mutate = kinds(json_or_deep)
_ABOUT = {"version": 1, "source": "abc", "column": 0}


def seeds() -> Iterable[bytes]:
    yield b"\x00" + json.dumps(["mine", "other"]).encode()
    about = {"source": "Qwen/x", "parameters": 494_000_000, "architecture": "Qwen2", "licence": ""}
    yield b"\x01" + json.dumps(about).encode()
    facts = {"version": 2, "imported": "2026-11-30", "facts": {"areas": 3}}
    yield b"\x02" + json.dumps(facts).encode()
    yield b"\x03mine\n"
    yield b"\x04" + b"".join(
        json.dumps(line).encode() + b"\n" for line in (_ABOUT, {"error": "x"}, {"entities": []})
    )
    yield b"\x05" + json.dumps({"n_layer": 2, "n_embd": 8, "n_positions": 16}).encode()


def one(data: bytes) -> None:
    kind, content = (data[0] if data else 0) % 6, data[1:]
    chats, addresses = chat.folder(), registry.kind_dir("address")
    for where in (chats / "mine", addresses / "mine"):
        where.mkdir(parents=True, exist_ok=True)
    (chats / "mine" / "config.json").write_text("{}")
    (addresses / "mine" / "manifest.json").write_text('{"version": 2, "imported": "", "facts": {}}')
    for old in (chats / "served.json", chats / "mine" / "import.json", addresses / "in-use"):
        old.unlink(missing_ok=True)
    target = (
        chats / "served.json",
        chats / "mine" / "import.json",
        addresses / "mine" / "manifest.json",
        addresses / "in-use",
        folder() / ".out.csv.journal",
        chats / "mine" / "config.json",
    )[kind]
    target.write_bytes(content)
    if kind == 4:
        with (
            allowed(InvalidInput),
            Journal(folder() / "out.csv", {"source": "abc", "column": 0}) as j,
        ):
            assert j.done >= j.errors >= 0
            assert all(isinstance(result, dict) for result in j.results())
            assert len(list(j.results())) == j.done
            j.add({"error": "x"})
            assert len(list(j.results())) == j.done
        return
    assert {model.name for model in chat.installed()} >= {"mine"}
    assert all(isinstance(model.about, str) for model in chat.installed())
    assert set(chat.served()) <= {"mine"}
    assert registry.next_version("address") >= 2
    assert registry.in_use("address") in ("mine", registry.BUILT_IN)
    assert memory.chat_need(chats / "mine") >= 0
    shutil.rmtree(addresses / "mine")
