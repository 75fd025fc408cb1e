"""Which launcher suits this machine, and why, in words."""

from __future__ import annotations

import os
import socket
from pathlib import Path


def nvidia_gpu() -> bool:
    """Whether a driver shows an NVIDIA GPU, natively or under WSL."""
    return any(
        Path(path).exists() for path in ("/dev/nvidia0", "/proc/driver/nvidia/version", "/dev/dxg")
    )


def docker_engine(timeout: float = 2.0) -> bool:
    """Whether a Docker engine answers on its socket."""
    host = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock")
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
