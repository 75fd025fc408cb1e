"""Which launcher suits this machine, and why, in words."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from pathlib import Path

from desktop.launchers import prerequisites
from desktop.launchers.base import LaunchError


@dataclass(frozen=True)
class Choice:
    """A launcher, the one to go on with where it fails, the device, and why."""

    launcher: str
    fallback: str
    device: str
    reason: str


def choose(device: str = "auto") -> Choice:
    """Docker where an engine answers and the machine has a GPU (that a container really sees it
    is found out later, with the built-in Triton to fall back on); else the built-in Triton; else
    Docker on the CPU. Raises :class:`LaunchError` where neither is there."""
    if device == "gpu":
        return Choice("docker", "", device, "only Docker serves on a GPU")
    try:
        prerequisites.find_triton()
    except LaunchError as error:
        if not docker_engine():
            raise
        return Choice("docker", "", device, f"the built-in Triton cannot run here ({error})")
    if device == "auto" and nvidia_gpu() and docker_engine():
        return Choice("docker", "embedded", "gpu", "an NVIDIA GPU and a Docker engine found")
    return Choice("embedded", "", "cpu", reason_for_embedded())


def nvidia_gpu() -> bool:
    """Whether a driver shows an NVIDIA GPU, natively or under WSL."""
    return any(
        Path(path).exists() for path in ("/dev/nvidia0", "/proc/driver/nvidia/version", "/dev/dxg")
    )


def docker_engine(timeout: float = 2.0) -> bool:
    """Whether a Docker engine answers, where the ``docker`` command would look for it."""
    host = os.environ.get("DOCKER_HOST")
    if host is None:
        from desktop.launchers import docker_engine as engines

        if os.environ.get("DOCKER_CONTEXT") or any(path.exists() for path in engines.sockets()):
            return engines.answers(timeout)
        host = "unix:///var/run/docker.sock"
    if not host.startswith("unix://"):
        return True  # a remote engine somebody has chosen on purpose
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        connection.connect(host.removeprefix("unix://"))
        connection.sendall(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n")
        return connection.recv(64).startswith(b"HTTP/")
    except OSError:
        return False
    finally:
        connection.close()


def reason_for_embedded() -> str:
    """Why the built-in Triton serves here."""
    gpu, docker = nvidia_gpu(), docker_engine()
    if not gpu and not docker:
        return "no NVIDIA GPU and no Docker engine found; using the built-in Triton"
    if not gpu:
        return "no NVIDIA GPU found; using the built-in Triton"
    if not docker:
        return "an NVIDIA GPU but no Docker engine found; using the built-in Triton on the CPU"
    return "the built-in Triton needs no image; using it, on the CPU"
