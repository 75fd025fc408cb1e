"""The built-in Triton as a supervisor's server: folders, processes, and what they leave."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from desktop import paths
from desktop.launchers import guardian, tritonserver
from desktop.launchers.base import LaunchError, Report
from desktop.launchers.http_guard import HttpGuard
from desktop.launchers.prerequisites import TritonWheel, find_triton
from desktop.launchers.server_process import STOP_WITHIN, Outcome, PortTaken, ServerOptions
from desktop.launchers.tritonserver import Folders, install_backends, new_endpoint
from desktop.models import address as address_models
from desktop.triton.types import Endpoint
from server_bundle import repository

_POLL_INTERVAL = 0.05


class EmbeddedProcess:
    """A child process, killed by the kernel when the supervisor dies, and the guard before it."""

    adopted = False

    def __init__(self, process: asyncio.subprocess.Process, guard: HttpGuard) -> None:
        self._process = process
        self._guard = guard
        self.pid = process.pid

    async def pump(self, feed: Callable[[bytes], None]) -> None:
        assert self._process.stdout is not None
        while chunk := await self._process.stdout.read(1 << 16):
            feed(chunk)

    async def wait(self) -> Outcome:
        # Not asyncio's own wait(): it also waits for the end of the output, which a stub that
        # outlives a killed tritonserver holds open.
        while (returncode := self._process.returncode) is None:
            await asyncio.sleep(_POLL_INTERVAL)
        return Outcome(f"tritonserver {tritonserver.outcome(returncode)}", returncode < 0)

    async def stop(self) -> None:
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.wait(), STOP_WITHIN)

    async def kill(self) -> None:
        await self._guard.close()
        if self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()


class EmbeddedServer:
    """The Triton of the nvidia-pytriton wheel, with the model repository in ``folders``."""

    launcher = "embedded"

    def __init__(
        self, options: ServerOptions, folders: Folders, launch_id: str, reason: str
    ) -> None:
        self.reason = reason
        self._options = options
        self._folders = folders
        self._launch_id = launch_id
        self._wheel: TritonWheel | None = None

    def prepare(self, report: Report) -> repository.Rendered:
        report("preparing the model repository")
        self._wheel = find_triton()
        rendered = self.render()
        check_rendered(rendered, self._source)
        install_backends(self._wheel, self._folders)
        return rendered

    @property
    def _source(self) -> Path:
        return Path(self._options.models_source or repository.SOURCE)

    def render(self, *, again: bool = False) -> repository.Rendered:
        resources = paths.resources_dir() / "models"
        chats = installed_chats()
        address = address_models.chosen()
        return repository.render(
            self._folders.models,
            chat_model=self._link("chitchat-tiny", resources / "chitchat-tiny"),
            address_model=address_models.weights(address),
            address_version=address.version,
            run_dir=self._folders.run,
            instances=self._options.instances,
            precision=self._options.precision,
            chat_models=chats.below(self._link("chats", chats.folder)),
            again=again,
            source=self._source,
        )

    def _link(self, name: str, target: Path) -> Path:
        """A folder reached through a link whose path any stub can read, wherever it lies."""
        link = self._folders.work / name
        link.parent.mkdir(parents=True, exist_ok=True)
        new = link.with_name(f".{name}")
        new.unlink(missing_ok=True)
        new.symlink_to(target)
        new.replace(link)  # models may be loading through the old one
        return link

    def cancel(self) -> None:
        """Preparing takes a moment only."""

    def keep(self) -> None:
        """The kernel ends it with the supervisor, come what may."""

    def new_endpoint(self) -> Endpoint:
        return new_endpoint(self._options.listen, self._folders.run)

    async def spawn(self, endpoint: Endpoint) -> EmbeddedProcess:
        assert self._wheel is not None
        behind = self._folders.run / "b"
        guard = HttpGuard(endpoint, behind)
        try:
            await guard.open()
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise PortTaken("another program took the HTTP port") from error
        inside = dataclasses.replace(endpoint, http=f"unix:{behind}")
        try:
            process = await tritonserver.spawn(self._wheel, self._folders, inside, self._launch_id)
        except BaseException:
            await guard.close()
            raise
        return EmbeddedProcess(process, guard)

    def protect(self) -> None:
        # Triton makes its shared memory readable for everybody, whatever the mask says.
        for region in guardian.shared_memory(self._launch_id):
            with contextlib.suppress(OSError):
                region.chmod(0o600)

    def sweep(self) -> None:
        guardian.sweep(self._launch_id, [])

    def close(self) -> None:
        """Nothing is held open."""


@dataclass(frozen=True)
class InstalledChats:
    """The person's own chat models: the folder they lie in, their names, which are to be loaded."""

    folder: Path
    names: tuple[str, ...]
    load: frozenset[str]

    def below(self, place: Path) -> repository.ChatModels:
        """As the server reaches them, below ``place``."""
        return repository.ChatModels({name: place / name for name in self.names}, self.load)


def installed_chats() -> InstalledChats:
    from desktop.models import chat

    found = chat.for_server()
    return InstalledChats(chat.folder(), tuple(found.folders), found.load)


def check_rendered(rendered: repository.Rendered, source: Path) -> None:
    """Raises :class:`LaunchError` where nothing can be served."""
    if not rendered.levels:
        problems = "; ".join(f"{name}: {why}" for name, why in rendered.problems.items())
        raise LaunchError(f"No model can be served ({problems or f'{source} is empty'}).")
