"""Files of dialogues to train on: text, JSON lines, and those packed."""

from __future__ import annotations

import gzip
import random
from collections.abc import Iterable

from server_bundle.training.chitchat.dialogues import EXCHANGES, DialogueError, read_all
from tests.fuzz.harness import allowed, folder, json_or_deep

_NAMES = ("d.txt", "d.jsonl", "d.jsonl.gz")
_LINES = (
    b'{"turns": ["a", "b", "c", "d"], "source": "smalltalk", "split": "valid"}\n'
    b'{"turns": ["\\u4f60", "\\u597d"]}\n'
)


def seeds() -> Iterable[bytes]:
    yield b"\x00" + "# 说明\nU: 你好\nB：你好呀\n\nU: 在吗\nB: 在\nu: 嗯\n".encode()
    yield b"\x01" + _LINES
    yield b"\x02" + gzip.compress(_LINES, mtime=0)


def mutate(data: bytes, chance: random.Random) -> bytes:
    kind = data[0] % 3 if data else 0
    if kind == 0:
        return data
    try:
        lines = (gzip.decompress(data[1:]) if kind == 2 else data[1:]).split(b"\n")
    except Exception:
        return data
    at = chance.randrange(len(lines))
    lines[at] = json_or_deep(lines[at], chance)
    content = b"\n".join(lines)
    return data[:1] + (gzip.compress(content, mtime=0) if kind == 2 else content)


def one(data: bytes) -> None:
    file = folder() / _NAMES[(data[0] if data else 0) % 3]
    file.write_bytes(data[1:])
    with allowed(DialogueError):
        for dialogue in read_all([file], EXCHANGES):
            assert dialogue.turns
            assert len(dialogue.turns) % 2 == 0
            assert all(isinstance(turn, str) and turn.strip() for turn in dialogue.turns)
            assert isinstance(dialogue.held_out, bool)
