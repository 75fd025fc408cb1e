"""Launchers whose server is owned by a supervisor process: finding it, starting it, taking over."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import desktop
from desktop import paths
from desktop.launchers import guardian, wire
from desktop.launchers.base import LaunchError, ServerState, ServerStatus
from desktop.launchers.lease import SupervisorLease
from desktop.launchers.server_process import ServerOptions
from desktop.launchers.stubs import process_start

DEVICES = ("auto", "gpu", "cpu")
_LOCK = "lock"
# An older server stops within three seconds and its sweep within five more.
_WAIT_FOR_OTHERS = 30.0
_HELLO_WITHIN = 20.0


class SupervisedLauncher:
    """Finds the running server of this user (of this ``TRITALK_HOME``) or starts one, in a
    supervisor of its own. ``insist``: no other launcher's server will do. ``fallback``: the
    launcher to go on with where this one fails. ``keep``: the server outlives its last lease."""

    name = ""

    def __init__(
        self, options: ServerOptions, *, reason: str, insist: bool, fallback: str, keep: bool
    ) -> None:
        if options.listen not in ("unix", "tcp"):
            raise LaunchError(f"The server listens on unix or tcp, not on {options.listen!r}.")
        if options.device not in DEVICES:
            raise LaunchError(f"The device is auto, gpu or cpu, not {options.device!r}.")
        self._options = dataclasses.replace(options, launcher=self.name)
        self._reason = reason or "chosen by the user"
        self._insist = insist
        self._fallback = fallback
        self._keep = keep

    def check_machine(self) -> None:
        """Raises :class:`LaunchError` where this launcher's servers never run."""

    def check(self) -> None:
        """Raises :class:`LaunchError` where something that a new server needs is missing."""

    def acquire(self) -> SupervisorLease:
        """Returns at once, in STARTING. Raises :class:`LaunchError` where something that a server
        needs is missing and none runs."""
        self.check_machine()
        runtime = _runtime_dir()
        if not _launches(runtime):
            self.check()
        first = ServerStatus(self.name, self._reason, ServerState.STARTING, "looking for a server")
        return SupervisorLease(first, lambda report: self._connect(runtime, report))

    def _connect(self, runtime: Path, report: Callable[[str], None]) -> socket.socket:
        with _start_lock(runtime, report):
            for launch in _launches(runtime):
                if connection := self._join(launch, report):
                    return connection
                _wait_until_gone(launch)
            kept = self._adoptable(runtime)
            _sweep_dead_launches(runtime, spare=kept)
            report("starting the supervisor")
            return self._start(runtime, kept or secrets.token_hex(4), self._keep or bool(kept))

    def _adoptable(self, runtime: Path) -> str:
        """The dead launch whose server was told to outlive even its supervisor."""
        for launch in _launches(runtime):
            if self.name == "docker" and guardian.is_kept(launch):
                return launch.name
        return ""

    def _join(self, launch: Path, report: Callable[[str], None]) -> socket.socket | None:
        """A lease on a running launch, or None where it has ended by now."""
        connection = wire.connect(launch)
        if connection is None:
            return None
        try:
            request = {"do": "lease", "listen": self._options.listen}
            request["options"] = self._options.to_json()
            if self._insist:
                request["launcher"] = self.name
            wire.send(connection, request)
            answer = _peek(connection)
            if "error" in answer:
                raise LaunchError(str(answer["error"]))
            if "status" in answer:
                connection.settimeout(None)
                return connection
            report("waiting for the previous server to stop")
            connection.settimeout(_WAIT_FOR_OTHERS)
            for _ in wire.messages(connection):
                pass
        except (OSError, ValueError):
            pass  # ended while we asked, or something else listens there
        except LaunchError:
            connection.close()
            raise
        connection.close()
        return None

    def _start(self, runtime: Path, launch_id: str, keep: bool) -> socket.socket:
        run = runtime / launch_id
        served = paths.launches_dir() / launch_id
        run.mkdir(mode=0o700, exist_ok=True)
        served.mkdir(parents=True, mode=0o700, exist_ok=True)
        ours, theirs = socket.socketpair()
        command = [sys.executable, "-m", "desktop.launchers.supervisor"]
        command += ["--launch-id", launch_id, "--run", str(run), "--served", str(served)]
        command += ["--options", self._options.to_json(), "--reason", self._reason]
        command += ["--fallback", self._fallback, wire.FIRST_LEASE, str(theirs.fileno())]
        command += ["--keep"] if keep else []
        errors = paths.log_dir() / "supervisor.log"
        errors.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with theirs, errors.open("wb") as stderr:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                cwd="/",
                env=_environment(),
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )
        threading.Thread(target=process.wait, name="supervisor-reaper", daemon=True).start()
        ours.settimeout(_HELLO_WITHIN)
        try:
            # The supervisor listens from its first status on, so the lock may go.
            if "status" not in _peek(ours):
                raise OSError("no status")
        except OSError as error:
            ours.close()
            raise LaunchError(
                f"The server's supervisor did not start ({error}); see {errors}"
            ) from error
        ours.settimeout(None)
        return ours


def current_status() -> ServerStatus | None:
    """The running server of this user, without starting or leasing one."""
    connection = connect_running()
    if connection is None:
        return None
    with connection:
        try:
            wire.send(connection, {"do": "watch"})
            for message in wire.messages(connection):
                return wire.status_from_json(message["status"])
        except (OSError, ValueError, KeyError):
            pass
    return None


def running_models() -> Path | None:
    """The model repository that this user's running server reads; None where none runs."""
    if sys.platform != "linux":
        return None
    for launch in _launches(_runtime_dir()):
        if connection := wire.connect(launch):
            connection.close()
            return paths.launches_dir() / launch.name / "models"
    return None


def connect_running() -> socket.socket | None:
    """A control connection to the running server's supervisor, without a lease."""
    if sys.platform != "linux":
        return None
    for launch in _launches(_runtime_dir()):
        if connection := wire.connect(launch):
            return connection
    return None


def stop_running(why: str = "", timeout: float = 30.0) -> bool:
    """Stop this user's server, whoever uses it, and wait until nothing of it is left; whether
    there was one. ``why`` is told to its other holders. Raises :class:`LaunchError` where it does
    not stop within ``timeout`` seconds."""
    connection = connect_running()
    if connection is None:
        return stop_kept()
    with connection:
        connection.settimeout(timeout)
        try:
            wire.send(connection, {"do": "stop", "why": why})
            for _ in wire.messages(connection):
                pass
        except TimeoutError:
            raise LaunchError(f"The server does not stop within {timeout:.0f} seconds.") from None
        except (OSError, ValueError):
            pass  # the connection ended with the server
    return True


def kept_launches() -> list[Path]:
    """The launches of containers that were told to outlive their supervisor, and did."""
    if sys.platform != "linux":
        return []
    return [
        launch
        for launch in _launches(_runtime_dir())
        if guardian.is_kept(launch) and not _supervisor_alive(launch)
    ]


def stop_kept() -> bool:
    """Remove a server that has outlived its supervisor; whether there was one."""
    kept = kept_launches()
    for launch in kept:
        guardian.sweep(launch.name, [paths.launches_dir() / launch.name, launch])
    return bool(kept)


def _sweep_dead_launches(runtime: Path, spare: str = "") -> None:
    """Clear up what launches have left whose supervisor and guardian were both killed, or that
    ended with the machine. A launch in another runtime folder may use the same cache and live."""
    caches = paths.launches_dir()
    served = list(caches.iterdir()) if caches.is_dir() else []
    for folder in [*_launches(runtime), *served]:
        try:
            age = time.time() - folder.stat().st_mtime
        except OSError:
            continue  # swept a moment ago, by us or by its guardian
        # A folder without its file may belong to a supervisor that is just starting.
        if folder.name == spare:
            continue
        starting = age < _HELLO_WITHIN and not (folder / wire.LAUNCH_FILE).exists()
        if not starting and not _supervisor_alive(folder):
            guardian.sweep(folder.name, [caches / folder.name, runtime / folder.name])


def _runtime_dir() -> Path:
    try:
        return paths.runtime_dir()
    except (paths.UnsafeFolder, OSError) as error:
        raise LaunchError(str(error)) from error


def _launches(runtime: Path) -> list[Path]:
    return sorted(path for path in runtime.iterdir() if path.is_dir())


def _supervisor_alive(launch: Path) -> bool:
    try:
        found = json.loads((launch / wire.LAUNCH_FILE).read_text())
        return process_start(found["supervisor"]) == found["started"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _wait_until_gone(launch: Path) -> None:
    end = time.monotonic() + _WAIT_FOR_OTHERS
    while _supervisor_alive(launch):
        if time.monotonic() > end:
            raise LaunchError(
                f"An older server is still stopping after {_WAIT_FOR_OTHERS:.0f} seconds "
                f"(its folder is {launch}); try again, or end its supervisor."
            )
        time.sleep(0.05)


@contextlib.contextmanager
def _start_lock(runtime: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Only one process at a time looks for a server and starts one. The kernel frees the lock
    when its holder dies."""
    import fcntl  # not on Windows, where this module must still say what to do instead

    descriptor = os.open(runtime / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + 2 * _WAIT_FOR_OTHERS
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                report("waiting for another start to finish")
                if time.monotonic() > end:
                    raise LaunchError(
                        "Another start of the server does not finish; try again."
                    ) from None
                time.sleep(0.05)
        yield
    finally:
        os.close(descriptor)


def _peek(connection: socket.socket) -> dict[str, Any]:
    """The first message, left in the socket for the lease's own reading."""
    size = 1 << 12
    while True:
        data = connection.recv(size, socket.MSG_PEEK)
        if not data:
            raise ConnectionResetError("it closed the connection")
        line, newline, _ = data.partition(b"\n")
        if newline:
            return wire.decode(line)
        if len(data) == size:
            size *= 2
        else:
            time.sleep(0.01)


def _environment() -> dict[str, str]:
    """The supervisor must find this very package, wherever it was started from."""
    env = dict(os.environ)
    root = str(Path(desktop.__file__).resolve().parent.parent)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [root, env.get("PYTHONPATH", "")]))
    return env
