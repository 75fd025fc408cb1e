"""Watches the processes of the Python models for one that was killed behind Triton's back.

Triton 24.10 does not notice: it goes on reporting the model ready, open streams hang for ever, and
the dead process stays a zombie, since Triton waits for it only when it unloads the model.
"""

from __future__ import annotations

import re
from pathlib import Path

_STUB = "triton_python_backend_stub"
_INSTANCE_SUFFIX = re.compile(r"_\d+_\d+$")


def find_stubs(server_pid: int) -> dict[int, str]:
    """The living stub processes that ``server_pid`` started, with the name of each one's model."""
    found = {}
    for process in Path("/proc").iterdir():
        if not process.name.isdigit():
            continue
        pid = int(process.name)
        state = process_state(pid)
        if state is None or state[1] != server_pid:
            continue
        try:
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if len(words) > 3 and words[0].endswith(_STUB):
            # The last words: instance name, runtime model directory, and an empty one.
            found[pid] = _INSTANCE_SUFFIX.sub("", words[-3])
    return found


def process_state(pid: int) -> tuple[str, int] | None:
    """The state letter of a process and its parent, or None where it is gone."""
    fields = _stat(pid)
    return (fields[0], int(fields[1])) if fields else None


def process_start(pid: int) -> int | None:
    """When a process began, in clock ticks since the machine's start: with the number it names a
    process for good. None where it is gone or only a zombie of it is left."""
    fields = _stat(pid)
    return int(fields[19]) if fields and fields[0] not in "ZX" else None


def _stat(pid: int) -> list[str]:
    try:
        # The name in parentheses may hold anything, so the fields are counted behind it.
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


class StubWatch:
    """Knows the stubs of one tritonserver. A stub counts as killed when two looks in a row find it
    a zombie: an unloading model's is one for a moment only."""

    def __init__(self, server_pid: int) -> None:
        self._server_pid = server_pid
        self._stubs: dict[int, str] = {}
        self._suspects: set[int] = set()

    def look_for_new(self) -> None:
        self._stubs.update(find_stubs(self._server_pid))

    def killed(self) -> list[str]:
        """The models whose stub is dead; cheap enough to ask several times a second."""
        dead = []
        for pid, model in list(self._stubs.items()):
            state = process_state(pid)
            if state is None or state[1] != self._server_pid:
                del self._stubs[pid]
                self._suspects.discard(pid)
            elif state[0] in "ZX":
                if pid in self._suspects:
                    dead.append(model)
                self._suspects.add(pid)
        return dead
