"""``python -m server_bundle.chitchat.importing SOURCE TARGET``: one JSON line a message on stdout.

``{"message": …}`` while it goes on, then ``{"result": {…}}`` or ``{"error": "one sentence"}``.
TARGET must be an empty folder; on an error what is in it is of no use.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1


def run(folder: Path, target: Path, say: Any) -> dict[str, Any]:
    """Import; raises :class:`CheckpointError` or OSError."""
    from server_bundle.chitchat.importing import chitchat, source

    config = source.read_config(folder)
    size = source.bytes_of(source.weight_files(folder))
    free = shutil.disk_usage(target).free
    if size > free:
        raise OSError(errno.ENOSPC, "no space")
    if chitchat.is_chitchat(folder, config):
        found = chitchat.convert(folder, target, config, say)
    else:
        from server_bundle.chitchat.importing import causal

        found = causal.convert(folder, target, config, say)
    for path in source.texts(folder):
        shutil.copyfile(path, target / path.name)
    return {**found, "licence": source.licence(target)}


def die_with_parent() -> None:
    """Have the kernel kill this process when the one that started it dies (Linux)."""
    if sys.platform == "linux":
        parent = os.getppid()
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            sys.exit(1)


def main() -> int:
    die_with_parent()
    from server_bundle.chitchat.folder import CheckpointError

    # What libraries print must not get between our lines.
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def tell(**message: Any) -> None:
        lines.write(json.dumps(message, ensure_ascii=False) + "\n")

    folder, target = Path(sys.argv[1]), Path(sys.argv[2])
    try:
        tell(message="looking at the files")
        result = run(folder, target, lambda words: tell(message=words))
    except CheckpointError as error:
        tell(error=str(error))
        return 1
    except MemoryError:
        tell(error="the model does not fit into this machine's memory")
        return 1
    except Exception as error:
        code = getattr(error, "errno", None)
        # safetensors has the system's words, but no error number
        if code in (errno.ENOSPC, errno.EDQUOT) or "os error 28" in str(error):
            tell(error=f"the disk of {target.parent} is full; make room and try again")
        elif isinstance(error, OSError):
            tell(error=f"a file cannot be read or written: {error}")
        else:
            raise
        return 1
    tell(result=result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
