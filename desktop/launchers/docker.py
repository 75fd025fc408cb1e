"""The Docker launcher: Triton in a container of this user's, owned by a supervisor process."""

from __future__ import annotations

from desktop.launchers.base import LaunchError
from desktop.launchers.server_process import ServerOptions
from desktop.launchers.supervised import SupervisedLauncher


class DockerLauncher(SupervisedLauncher):
    """Serves from a container, on the GPU where one is visible inside."""

    name = "docker"

    def __init__(
        self,
        options: ServerOptions,
        *,
        reason: str = "",
        insist: bool = False,
        fallback: str = "",
        keep: bool = False,
    ) -> None:
        super().__init__(options, reason=reason, insist=insist, fallback=fallback, keep=keep)

    def check(self) -> None:
        try:
            import docker  # noqa: F401
        except ImportError as error:
            raise LaunchError(
                "The package docker, which speaks with the engine, is not installed; "
                "run: pip install docker"
            ) from error
