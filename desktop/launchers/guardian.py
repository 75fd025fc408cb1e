"""Clears up after a supervisor that was killed: its processes, shared memory and folders.

Run as a program (``python -I -S guardian.py FD LAUNCH_ID FOLDER…``) it blocks on a pipe whose other
end the supervisor holds; the supervisor's death, however it dies, ends the read. It must start
quickly and depend on nothing, so it imports the standard library only. Processes are found by the
launch id in their environment, and only the user's own are touched: another running instance has
another id.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

LAUNCH_ID_VARIABLE = "TRITALK_LAUNCH_ID"
SHARED_MEMORY = Path("/dev/shm")
# What a launch has outside this machine's processes, such as a container, and how to remove it:
# a JSON list of words, a command. Beside it, the mark that it shall outlive its supervisor.
CLEARING_FILE = "clearing.json"
_KEPT = "kept"
_CLEARED_WITHIN = 60.0


def shm_prefix(launch_id: str) -> str:
    """What the names of a launch's shared-memory regions begin with."""
    return f"tritalk_{launch_id}_"


def processes_of(launch_id: str) -> list[int]:
    """The living processes of this user that carry ``launch_id`` in their environment."""
    pids = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [pid for pid in pids if pid != os.getpid() and _belongs_to(pid, launch_id)]


def _belongs_to(pid: int, launch_id: str) -> bool:
    process = Path(f"/proc/{pid}")
    try:
        if process.stat().st_uid != os.getuid():
            return False
        environment = (process / "environ").read_bytes()
    except OSError:
        return False
    return f"{LAUNCH_ID_VARIABLE}={launch_id}".encode() in environment.split(b"\0")


def kill_processes_of(launch_id: str, seconds: float = 5.0) -> None:
    """SIGKILL every process of a launch, again until none is left (a dying one may have forked)."""
    end = time.monotonic() + seconds
    while (found := processes_of(launch_id)) and time.monotonic() < end:
        for pid in found:
            try:
                handle = os.pidfd_open(pid)
            except OSError:
                continue
            try:
                # Looked at again behind the handle: the number may have passed to a stranger.
                if _belongs_to(pid, launch_id):
                    signal.pidfd_send_signal(handle, signal.SIGKILL)
            except OSError:
                pass
            finally:
                os.close(handle)
        time.sleep(0.02)


def shared_memory(launch_id: str) -> list[Path]:
    """The shared-memory regions of a launch that are ours."""
    try:
        regions = list(SHARED_MEMORY.iterdir())
    except OSError:
        return []
    ours = []
    for path in regions:
        if path.name.startswith(shm_prefix(launch_id)):
            with contextlib.suppress(OSError):
                found = path.lstat()
                if found.st_uid == os.getuid() and stat.S_ISREG(found.st_mode):
                    ours.append(path)
    return ours


def remove_shared_memory(launch_id: str) -> None:
    """Unlink the regions that killed processes of a launch have left."""
    for path in shared_memory(launch_id):
        with contextlib.suppress(OSError):
            path.unlink()


def keep(folder: Path) -> None:
    """Let what the launch of ``folder`` has outside outlive a killed supervisor."""
    (folder / _KEPT).touch()


def is_kept(folder: Path) -> bool:
    return (folder / _KEPT).exists()


def _clear_outside(folders: list[Path]) -> None:
    """Run the launch's own clearing command, once."""
    for folder in folders:
        try:
            command = json.loads((folder / CLEARING_FILE).read_text())
            subprocess.run(command, timeout=_CLEARED_WITHIN, check=False, capture_output=True)
            return
        except (OSError, ValueError, subprocess.SubprocessError):
            continue


def sweep(launch_id: str, folders: list[Path]) -> None:
    """Leave nothing of a launch: processes first, then what they could still write to."""
    _clear_outside(folders)
    kill_processes_of(launch_id)
    remove_shared_memory(launch_id)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def main(arguments: list[str]) -> None:
    descriptor, launch_id, *folders = arguments
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    while os.read(int(descriptor), 1):
        pass
    if not any(is_kept(Path(folder)) for folder in folders):
        sweep(launch_id, [Path(folder) for folder in folders])


if __name__ == "__main__":
    main(sys.argv[1:])
