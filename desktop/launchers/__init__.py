"""How a Triton server comes to be. ``acquire`` leases one; ``current`` looks at the running one."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.launchers import embedded, supervised
from desktop.launchers.base import LaunchError, Lease, ServerStatus
from desktop.launchers.choice import choose
from desktop.launchers.server_process import ServerOptions

if TYPE_CHECKING:
    from desktop.settings import Settings

LAUNCHERS = ("auto", "docker", "embedded", "remote")


def acquire(
    choice: str = "",
    *,
    listen: str = "",
    device: str = "",
    models_source: Path | None = None,
    settings: Settings | None = None,
) -> Lease:
    """Lease the running server of this user, or start one; returns at once, in STARTING.

    What is not given is as in ``settings``, by default the saved ones.
    Raises :class:`LaunchError`, one sentence with what to do, where no server can be had.
    """
    from desktop import settings as stored

    if choice and choice not in LAUNCHERS:
        raise LaunchError(
            f"There is no launcher {choice!r}; choose one of: {', '.join(LAUNCHERS)}."
        )
    settings = stored.load() if settings is None else settings
    name = choice or settings.launcher
    if name == "remote":
        from desktop.launchers.remote import RemoteLauncher

        return RemoteLauncher(settings.remote).acquire()
    options = ServerOptions(
        listen=listen or settings.listen,
        device=device or settings.device,
        models_source=str(models_source.absolute()) if models_source else "",
        gpus=settings.gpus,
        instances=settings.instances,
        precision=settings.precision,
        memory=settings.docker.memory,
        engine=settings.docker.engine,
        image=settings.docker.image,
        recipe=settings.docker.recipe(),
    )
    insist, fallback, reason = name != "auto", "", "chosen by the user"
    if not insist:
        chosen = choose(options.device)
        name, fallback, reason = chosen.launcher, chosen.fallback, chosen.reason
        if name == "embedded" and supervised.kept_launches():
            name, fallback, reason = "docker", "embedded", "a container was kept running"
        else:
            options = dataclasses.replace(options, device=chosen.device)
    if name == "docker":
        from desktop.launchers.docker import DockerLauncher

        return DockerLauncher(
            options, reason=reason, insist=insist, fallback=fallback, keep=settings.keep_running
        ).acquire()
    return embedded.EmbeddedLauncher(
        options, reason=reason, insist=insist, keep=settings.keep_running
    ).acquire()


def current() -> ServerStatus | None:
    """The running server of this user, or the remote one of the settings, without starting or
    leasing one."""
    from desktop import settings as stored
    from desktop.launchers.base import ServerState

    if found := supervised.current_status():
        return found
    settings = stored.load()
    if settings.launcher != "remote":
        return None
    from desktop.launchers.remote import endpoint_of, look

    return look(
        ServerStatus(
            "remote", "chosen by the user", ServerState.STARTING, "", endpoint_of(settings.remote)
        )
    )
