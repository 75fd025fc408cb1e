"""One container that runs tritonserver, followed from outside."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import threading
import time
from collections.abc import Callable
from typing import Any

from desktop.launchers import docker_container
from desktop.launchers.base import LaunchError
from desktop.launchers.docker_engine import Engine
from desktop.launchers.docker_errors import engine_stopped, failures
from desktop.launchers.server_process import STOP_WITHIN, Outcome

_KILLED = 128 + 9


class DockerProcess:
    """Blocks while it looks at the container; make it in a thread."""

    def __init__(self, engine: Engine, container: str, adopted: bool) -> None:
        self._engine = engine
        self._container = container
        self.adopted = adopted
        state = engine.api.inspect_container(container)["State"]
        # Behind a virtual machine the number means nothing here.
        self.pid = int(state["Pid"]) if engine.shares_sockets else 0
        self._follow: Any = None

    async def pump(self, feed: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        done = asyncio.Event()

        def follow() -> None:
            # A daemon thread of its own, since the engine may never end the stream.
            with contextlib.suppress(Exception):
                self._follow = self._engine.api.logs(
                    self._container,
                    stream=True,
                    follow=True,
                    tail=0 if self.adopted else "all",
                )
                for chunk in self._follow:
                    loop.call_soon_threadsafe(feed, chunk)
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(done.set)

        threading.Thread(target=follow, name="container-log", daemon=True).start()
        await done.wait()

    async def wait(self) -> Outcome:
        loop = asyncio.get_running_loop()
        result: asyncio.Future[Outcome] = loop.create_future()

        def settle(outcome: Outcome | LaunchError) -> None:
            if result.cancelled():
                return
            if isinstance(outcome, LaunchError):
                result.set_exception(outcome)
            else:
                result.set_result(outcome)

        def wait() -> None:
            outcome = self._wait()
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(settle, outcome)

        threading.Thread(target=wait, name="container-end", daemon=True).start()
        return await result

    def _wait(self) -> Outcome | LaunchError:
        import docker

        failed: tuple[type[Exception], ...] = (*failures(), ValueError)
        try:
            code = int(self._engine.api.wait(self._container, timeout=None)["StatusCode"])
            state = self._engine.api.inspect_container(self._container)["State"]
        except docker.errors.NotFound:
            return Outcome("the container was removed", True)
        except failed:
            return self._engine_gone()
        # An engine that is stopped ends its containers first, and goes a moment later.
        time.sleep(0.3)
        try:
            self._engine.api.ping()
        except failures():
            return LaunchError(engine_stopped(self._engine.address))
        if state.get("OOMKilled"):
            return Outcome("the container ran out of memory (see the memory limit)", True)
        if code == _KILLED:
            return Outcome("the container was killed", True)
        return Outcome(f"tritonserver in the container ended with exit status {code}", False)

    def _engine_gone(self) -> Outcome | LaunchError:
        """The connection broke: the engine ended, or only the connection did."""
        try:
            self._engine.api.ping()
        except Exception:
            return LaunchError(engine_stopped(self._engine.address))
        return Outcome("the connection to the Docker engine was lost", True)

    async def stop(self) -> None:
        stop = functools.partial(self._engine.api.stop, self._container, timeout=round(STOP_WITHIN))
        with contextlib.suppress(Exception):
            await asyncio.wait_for(asyncio.to_thread(stop), STOP_WITHIN + 10)

    async def kill(self) -> None:
        """Remove the container. Where that fails the engine is gone, and the clearing command
        goes on trying."""
        with contextlib.suppress(Exception):
            await asyncio.to_thread(docker_container.remove, self._engine.api, self._container)
        if self._follow is not None:
            with contextlib.suppress(Exception):
                self._follow.close()
