"""The embedded launcher: the Triton of the nvidia-pytriton wheel, owned by a supervisor process."""

from __future__ import annotations

from pathlib import Path

from desktop.launchers.base import LaunchError
from desktop.launchers.prerequisites import check_platform, find_triton
from desktop.launchers.server_process import ServerOptions
from desktop.launchers.supervised import SupervisedLauncher


class EmbeddedLauncher(SupervisedLauncher):
    """Serves on this machine's CPU without Docker. ``listen``: ``unix``, or ``tcp`` for loopback
    ports with a key. ``models_source``: another folder of models than the bundle's."""

    name = "embedded"

    def __init__(
        self,
        options: ServerOptions | None = None,
        *,
        listen: str = "unix",
        reason: str = "",
        models_source: Path | None = None,
        insist: bool = False,
        keep: bool = False,
    ) -> None:
        source = str(models_source.absolute()) if models_source else ""
        options = options or ServerOptions(listen=listen, models_source=source)
        super().__init__(options, reason=reason, insist=insist, fallback="", keep=keep)
        if options.device == "gpu":
            raise LaunchError(
                "The built-in Triton serves on the CPU; a GPU needs Docker (--launcher docker)."
            )

    def check_machine(self) -> None:
        check_platform()

    def check(self) -> None:
        find_triton()
