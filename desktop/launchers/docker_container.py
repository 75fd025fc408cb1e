"""The server's container: its labels, its arguments, and finding and removing our own."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.launchers.docker_engine import Engine

LABEL_APPLICATION = "tritalk.application"
LABEL_OWNER = "tritalk.owner"
LABEL_LAUNCH = "tritalk.launch"
LABEL_CONFIGURATION = "tritalk.configuration"
# Inside the container.
BINARY = "/opt/tritonserver/bin/tritonserver"
BACKENDS = "/opt/tritonserver/backends"
MODELS = "/models"
WEIGHTS = "/weights"
SOCKETS = "/sockets"
WORK = "/run/tritalk"
GRPC_PORT, HTTP_PORT = 8001, 8000
_SHM = 1 << 30
_STACK = 67108864


def owner() -> str:
    """Whose containers are ours: this user's, of this ``TRITALK_HOME``."""
    place = hashlib.sha256(os.fsencode(paths.runtime_dir())).hexdigest()[:12]
    return f"{os.getuid()}-{place}"


@dataclass(frozen=True)
class Mounts:
    """What the container sees of this machine: host path by path inside, all read-only but
    ``writable``."""

    read_only: dict[str, Path] = field(default_factory=dict)
    writable: dict[str, Path] = field(default_factory=dict)


def user_of(engine: Engine) -> str:
    """The user inside who is the one outside, so that private folders can be read. A rootless
    engine maps us to its root."""
    return "0:0" if engine.rootless else f"{os.getuid()}:{os.getgid()}"


def gpu_requests(gpus: tuple[int, ...]) -> list[Any]:
    """The device request: the GPUs with these numbers, or all."""
    from docker.types import DeviceRequest

    if gpus:
        return [DeviceRequest(device_ids=[str(n) for n in gpus], capabilities=[["gpu"]])]
    return [DeviceRequest(count=-1, capabilities=[["gpu"]])]


def host_config(
    engine: Engine,
    mounts: Mounts,
    *,
    ports: tuple[int, int] | None,
    gpu: bool,
    gpus: tuple[int, ...],
    memory: str,
    lock_memory: bool,
) -> dict[str, Any]:
    """What the container may do, which is little: no network (or two loopback ports, gRPC's and
    HTTP's), no capabilities, a read-only root. ``lock_memory``: without a limit, which not every
    engine may grant."""
    from docker.types import LogConfig, Mount, Ulimit

    ulimits = [Ulimit(name="stack", soft=_STACK, hard=_STACK)]
    if lock_memory:
        ulimits.append(Ulimit(name="memlock", soft=-1, hard=-1))
    security = ["no-new-privileges"] + (["label=disable"] if engine.selinux else [])
    uid, gid = user_of(engine).split(":")
    found: dict[str, Any] = engine.api.create_host_config(
        mounts=[
            Mount(inside, str(path), type="bind", read_only=read_only)
            for folder, read_only in ((mounts.read_only, True), (mounts.writable, False))
            for inside, path in sorted(folder.items())
        ],
        network_mode="bridge" if ports else "none",
        port_bindings=(
            {GRPC_PORT: ("127.0.0.1", ports[0]), HTTP_PORT: ("127.0.0.1", ports[1])}
            if ports
            else None
        ),
        device_requests=gpu_requests(gpus) if gpu else None,
        shm_size=_SHM,
        ulimits=ulimits,
        cap_drop=["ALL"],
        security_opt=security,
        read_only=True,
        tmpfs={
            "/tmp": "rw,nosuid,nodev,size=512m,mode=1777",
            WORK: f"rw,nosuid,nodev,noexec,size=16m,mode=700,uid={uid},gid={gid}",
        },
        mem_limit=memory or None,
        memswap_limit=memory or None,
        log_config=LogConfig(type="json-file", config={"max-size": "1m", "max-file": "2"}),
        restart_policy={"Name": "no"},
    )
    return found


def create(
    engine: Engine,
    image: str,
    command: list[str],
    host: dict[str, Any],
    labels: dict[str, str],
    name: str,
) -> str:
    """Create the container; its id. Raises docker-py's errors."""
    published = [GRPC_PORT, HTTP_PORT] if host.get("PortBindings") else None
    created = engine.api.create_container(
        image,
        command=command[1:],
        entrypoint=command[:1],
        host_config=host,
        labels={LABEL_APPLICATION: "tritalk", **labels},
        name=name,
        user=user_of(engine),
        ports=published,
        environment={"HOME": "/tmp"},
        # Docker's own health check runs inside; ours is made from outside.
        healthcheck={"test": ["NONE"]},
    )
    return str(created["Id"])


def of_owner(api: Any) -> list[dict[str, Any]]:
    """Every container of this user's application, running or not."""
    labels = [f"{LABEL_APPLICATION}=tritalk", f"{LABEL_OWNER}={owner()}"]
    return list(api.containers(all=True, filters={"label": labels}))


def remove(api: Any, container: str) -> None:
    """Remove a container, running or not; one that is gone is fine."""
    import docker

    with contextlib.suppress(docker.errors.NotFound):
        api.remove_container(container, force=True, v=True)
