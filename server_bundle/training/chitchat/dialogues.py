"""Reads dialogues to train on: JSON lines, or text files of ``U:`` and ``B:`` lines.

A text file holds dialogues parted by blank lines, a turn a line, the user's (``U:``) and the bot's
(``B:``) in turn; lines that begin with ``#`` are notes. A JSON line is an object with ``turns``
(user first) and, if it has them, ``source`` and ``split`` (``train`` or ``valid``).
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

EXCHANGES = "exchanges"  # short, trained as they are
SMALL_TALK = "smalltalk"  # short and multiplied out: wants few copies
LONG = "long"  # long turns, shortened for each use
KINDS = (EXCHANGES, SMALL_TALK, LONG)


class DialogueError(ValueError):
    """A file of dialogues cannot be used; the message is one sentence that names the line."""


@dataclass(frozen=True)
class Dialogue:
    """User and bot turns in turn, the user's first; an even number of them."""

    turns: tuple[str, ...]
    kind: str
    source: str
    held_out: bool = False

    @property
    def user_turns(self) -> tuple[str, ...]:
        return self.turns[::2]


def read_text(path: Path) -> Iterator[Dialogue]:
    """Dialogues of a ``U:``/``B:`` file. Raises :class:`DialogueError`."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DialogueError(f"{path} cannot be read as UTF-8 text: {error}") from None
    turns: list[str] = []
    for number, raw in enumerate([*lines, ""], 1):
        line = raw.strip()
        if line.startswith("#"):
            continue
        if not line:
            if turns:
                if len(turns) % 2:
                    turns.pop()  # a message nobody answered teaches no reply
                if turns:
                    yield Dialogue(tuple(turns), EXCHANGES, path.stem)
                turns = []
            continue
        speaker, _, text = line.replace("：", ":", 1).partition(":")
        expected = "B" if len(turns) % 2 else "U"
        if speaker.strip().upper() != expected or not text.strip():
            raise DialogueError(
                f'{path}, line {number}: expected a turn that begins with "{expected}:"'
            )
        turns.append(text.strip())


def read_json_lines(path: Path, kind: str) -> Iterator[Dialogue]:
    """Dialogues of a ``.jsonl`` or ``.jsonl.gz`` file. Raises :class:`DialogueError`.

    Args:
        kind: what rows count as, except that rows of source ``smalltalk`` are small talk.
    """
    number = 0
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as stream:
            for number, line in enumerate(stream, 1):  # noqa: B007 (named in errors)
                if not line.strip():
                    continue
                row = json.loads(line)
                turns = row["turns"]
                if not isinstance(turns, list):
                    raise ValueError("turns must be a list")
                turns = turns[: len(turns) // 2 * 2]
                if not turns or not all(isinstance(t, str) and t.strip() for t in turns):
                    raise ValueError("turns must be texts, a user's and a bot's at least")
                source = str(row.get("source", path.stem))
                yield Dialogue(
                    tuple(turns),
                    SMALL_TALK if source == "smalltalk" else kind,
                    source,
                    row.get("split") == "valid",
                )
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DialogueError(f"{path} cannot be read: {error}") from None
    except KeyError:
        raise DialogueError(f'{path}, line {number}: there is no "turns"') from None
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise DialogueError(f"{path}, line {number}: no dialogue: {error}") from None


def read_all(paths: Iterable[Path], kind: str) -> list[Dialogue]:
    """Dialogues of files and of all ``.txt``, ``.jsonl`` and ``.jsonl.gz`` files of folders."""
    found: list[Dialogue] = []
    for path in paths:
        if path.is_dir():
            files = sorted(
                p for p in path.iterdir() if p.name.endswith((".txt", ".jsonl", ".jsonl.gz"))
            )
            if not files:
                raise DialogueError(f"{path} holds no .txt, .jsonl or .jsonl.gz file")
            found += read_all(files, kind)
        elif path.name.endswith((".jsonl", ".jsonl.gz")):
            found += read_json_lines(path, kind)
        else:
            found += read_text(path)
    return found


def hold_out(dialogues: Iterable[Dialogue], share: float) -> list[Dialogue]:
    """Marks about ``share`` of the dialogues as held out, by a hash of their first turn.

    A dialogue keeps its side when others are added, and dialogues that open alike share one.
    """
    bound = int(share * 2**32)
    marked = []
    for dialogue in dialogues:
        digest = hashlib.sha256(dialogue.turns[0].encode()).digest()
        out = int.from_bytes(digest[:4], "big") < bound
        marked.append(Dialogue(dialogue.turns, dialogue.kind, dialogue.source, out))
    return marked
