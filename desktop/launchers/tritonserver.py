"""The tritonserver process of an embedded server: its folders, arguments, environment and end."""

from __future__ import annotations

import asyncio
import ctypes
import os
import secrets
import shutil
import signal
import socket
from dataclasses import dataclass
from pathlib import Path

import server_bundle
from desktop.launchers.guardian import LAUNCH_ID_VARIABLE, shm_prefix
from desktop.launchers.prerequisites import TritonWheel
from desktop.triton.types import Endpoint
from server_bundle import flags
from server_bundle.flags import KEY_HEADER, RESTRICTABLE

__all__ = ["KEY_HEADER", "RESTRICTABLE"]

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Folders:
    """One launch's folders: ``run`` (private, sockets) and ``served`` (repository, backends)."""

    run: Path
    served: Path

    @property
    def models(self) -> Path:
        return self.served / "models"

    @property
    def backends(self) -> Path:
        return self.served / "backends"

    @property
    def work(self) -> Path:
        return self.served / "work"

    def all(self) -> list[Path]:
        return [self.served, self.run]


def install_backends(wheel: TritonWheel, folders: Folders) -> None:
    """Fill the backend directory: the wheel's python backend with the stub of the running Python
    beside it, and the bundle's own Python-based backends. The wheel's folder may be read-only."""
    python = folders.backends / "python"
    shutil.copytree(
        wheel.python_backend,
        python,
        ignore=shutil.ignore_patterns("__pycache__"),
        dirs_exist_ok=True,
    )
    shutil.copy2(wheel.stub, python / wheel.stub.name)
    bundle = Path(server_bundle.__file__).resolve().parent
    if (bundle / "backends").is_dir():
        shutil.copytree(
            bundle / "backends",
            folders.backends,
            ignore=shutil.ignore_patterns("__pycache__", "*.py[co]", "__init__.py"),
            dirs_exist_ok=True,
        )
    # The stub ignores PYTHONPATH but begins its search in the working directory.
    folders.work.mkdir(parents=True, exist_ok=True)
    link = folders.work / bundle.name
    link.unlink(missing_ok=True)
    link.symlink_to(bundle, target_is_directory=True)


def new_endpoint(listen: str, run: Path) -> Endpoint:
    """Where the next tritonserver will listen. ``unix``: sockets in ``run``; ``tcp``: ports that
    are free now, bound to the loopback address, with a fresh key. Metrics cannot be restricted by
    Triton and stay on a socket in both cases."""
    metrics = f"unix:{run}/m"
    if listen == "unix":
        return Endpoint(f"unix:{run}/g:1", f"unix:{run}/h", metrics)
    grpc, http = free_ports(2)
    return Endpoint(
        f"127.0.0.1:{grpc}",
        f"http://127.0.0.1:{http}",
        metrics,
        {KEY_HEADER: new_key()},
    )


def new_key() -> str:
    return secrets.token_urlsafe(32)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback address that are free now."""
    holders = []
    try:
        for _ in range(count):
            holder = socket.socket()
            holder.bind(("127.0.0.1", 0))
            holders.append(holder)
        return [holder.getsockname()[1] for holder in holders]
    finally:
        for holder in holders:
            holder.close()


def arguments(
    binary: str,
    models: str,
    backends: str,
    endpoint: Endpoint,
    launch_id: str,
    *,
    gpu: bool = False,
) -> list[str]:
    """The command line. ``endpoint``: where to listen, as the server itself sees it. Models are
    loaded one by one through the API afterwards, so that progress and reasons of failure can be
    told and a called model is there before its callers."""
    address, _, port = endpoint.grpc.rpartition(":")
    words = [
        binary,
        *flags.always(models, backends),
        "--exit-timeout-secs=3",
        f"--allow-gpu-metrics={str(gpu).lower()}",
        f"--backend-config=python,shm-region-prefix-name={shm_prefix(launch_id)}",
        f"--grpc-address={address}",
        f"--grpc-port={port}",
        f"--metrics-address={endpoint.metrics}" if endpoint.metrics else "--allow-metrics=false",
    ]
    if endpoint.http.startswith("unix:"):
        words.append(f"--http-address={endpoint.http}")
    else:
        address, _, port = endpoint.http.removeprefix("http://").rpartition(":")
        words += [f"--http-address={address}", f"--http-port={port}"]
    if KEY_HEADER in endpoint.headers:
        words += flags.restricted(endpoint.headers[KEY_HEADER])
    return words


def environment(wheel: TritonWheel, launch_id: str) -> dict[str, str]:
    env = dict(os.environ)
    for name in ("PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP"):
        env.pop(name, None)
    libraries = [str(wheel.libraries), str(wheel.libpython_dir), env.get("LD_LIBRARY_PATH", "")]
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, libraries))
    env["PATH"] = os.pathsep.join(filter(None, [str(wheel.python_bin), env.get("PATH", "")]))
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    env["PYTHONUNBUFFERED"] = "1"
    env["HF_HUB_OFFLINE"] = "1"
    env[LAUNCH_ID_VARIABLE] = launch_id
    return env


async def spawn(
    wheel: TritonWheel, folders: Folders, endpoint: Endpoint, launch_id: str
) -> asyncio.subprocess.Process:
    """Start tritonserver; the kernel kills it when this process dies."""
    remove_sockets(endpoint)
    parent = os.getpid()

    def die_with_parent() -> None:
        os.umask(0o077)
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return await asyncio.create_subprocess_exec(
        *arguments(
            str(wheel.binary), str(folders.models), str(folders.backends), endpoint, launch_id
        ),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        cwd=folders.work,
        env=environment(wheel, launch_id),
        preexec_fn=die_with_parent,
    )


def remove_sockets(endpoint: Endpoint) -> None:
    """Make way for a server: one that was killed has left its sockets."""
    for address in (endpoint.grpc, endpoint.http, endpoint.metrics):
        if address.startswith("unix:"):
            Path(address.removeprefix("unix:")).unlink(missing_ok=True)


def outcome(returncode: int) -> str:
    """How a process ended, in words."""
    if returncode < 0:
        try:
            return f"was killed by {signal.Signals(-returncode).name}"
        except ValueError:
            return f"was killed by signal {-returncode}"
    return f"ended with exit status {returncode}"
