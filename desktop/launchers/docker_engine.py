"""Finds the Docker engine of this machine the way the ``docker`` command does, and what it can."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from desktop.launchers.base import LaunchError
from desktop.launchers.docker_errors import engine_problem, failures

_DEFAULT = "npipe:////./pipe/docker_engine" if sys.platform == "win32" else "/var/run/docker.sock"


@dataclass(frozen=True)
class Engine:
    """A reachable engine. ``local``: its folders are this machine's. ``shares_sockets``: a Unix
    socket made in a mounted folder can be connected to from here. ``api`` is docker-py's
    ``APIClient``."""

    api: Any
    address: str
    version: str
    local: bool
    rootless: bool
    shares_sockets: bool
    selinux: bool
    offers_gpu: bool

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self.api.close()


def connect(address: str = "", timeout: float = 60.0) -> Engine:
    """The engine at ``address``, else the one that the ``docker`` command would use: DOCKER_HOST
    (with DOCKER_TLS_VERIFY and DOCKER_CERT_PATH), the current context, the default socket, then
    the sockets of rootless engines and Docker Desktop.

    Raises :class:`LaunchError`, one sentence with what to do, where none answers.
    """
    import docker  # takes a third of a second

    problem: LaunchError | None = None
    failed: tuple[type[Exception], ...] = (*failures(), ImportError, ValueError)
    for arguments in _candidates(address):
        host = arguments.get("base_url") or _DEFAULT
        try:
            api = docker.APIClient(**arguments, version="auto", timeout=timeout)
            return _examine(api, host, api.info())
        except failed as error:
            problem = problem or LaunchError(engine_problem(error, host))
    assert problem is not None
    raise problem


def sockets() -> Iterator[Path]:
    """Where engines listen that no variable and no context names."""
    if runtime := os.environ.get("XDG_RUNTIME_DIR"):
        yield Path(runtime) / "docker.sock"
    if sys.platform != "win32":
        yield Path(f"/run/user/{os.getuid()}/docker.sock")
    yield Path("~/.docker/desktop/docker.sock").expanduser()
    yield Path("~/.docker/run/docker.sock").expanduser()


def answers(timeout: float = 2.0) -> bool:
    """Whether an engine answers."""
    try:
        connect(timeout=timeout).close()
    except LaunchError:
        return False
    return True


def _candidates(address: str) -> Iterator[dict[str, Any]]:
    from docker.context import ContextAPI
    from docker.errors import DockerException
    from docker.utils import kwargs_from_env

    if address:
        yield {"base_url": address}
        return
    try:
        chosen = kwargs_from_env()
        if "base_url" not in chosen:
            chosen |= ContextAPI.kwargs_from_context(environment=os.environ)
    except (DockerException, OSError, ValueError, KeyError, json.JSONDecodeError) as error:
        raise LaunchError(
            f"The Docker context cannot be used ({error}); see: docker context ls"
        ) from error
    yield chosen
    if "base_url" not in chosen:
        for path in sockets():
            if path.exists():
                yield {"base_url": f"unix://{path}"}


def _examine(api: Any, host: str, info: dict[str, Any]) -> Engine:
    security = " ".join(info.get("SecurityOptions") or [])
    local = urlsplit(host).scheme in ("", "unix", "http+unix", "npipe") or host.startswith("/")
    # Docker Desktop's engine lives in a virtual machine of its own; with user namespaces the
    # server's user is another one than ours.
    desktop = "Docker Desktop" in str(info.get("OperatingSystem"))
    shares = local and sys.platform == "linux" and not desktop and "name=userns" not in security
    runtimes = info.get("Runtimes") or {}
    cdi = any("nvidia.com/gpu" in str(device) for device in info.get("DiscoveredDevices") or [])
    return Engine(
        api=api,
        address=host,
        version=str(info.get("ServerVersion")),
        local=local,
        rootless="name=rootless" in security,
        shares_sockets=shares,
        selinux="name=selinux" in security,
        offers_gpu="nvidia" in runtimes or cdi,
    )
