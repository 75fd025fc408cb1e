"""One tritonserver from its start to its end: coming up, loading the models, being watched."""

from __future__ import annotations

import asyncio
import contextlib
import re
import time
from collections.abc import Callable

from desktop.launchers import health
from desktop.launchers.base import ServerState
from desktop.launchers.capture import BoundedLog
from desktop.launchers.server_process import Outcome, PortTaken, Server
from desktop.launchers.stubs import StubWatch
from desktop.triton.types import Endpoint
from server_bundle.repository import Rendered

_LIVE_WITHIN = 60.0
_STUB_INTERVAL = 0.25
_INDEX_INTERVAL = 2.0
# A server that gave no answer so many times in a row, each within so many seconds, is given up.
_LIFE_INTERVAL = 2.0
_LIFE_TIMEOUT = 5.0
_UNANSWERED = 4
# A crashing Triton 24.10 says this first and then writes a stack trace, with which it may hang.
_CRASH = re.compile(rb"^Signal \((?:6|7|8|11)\) received\.?\r?$", re.MULTILINE)
_CRASH_WITHIN = 5.0
# Weights of many gigabytes from a slow disk.
_FURTHER_WITHIN = 1800.0
# What Triton says of a model that nobody has loaded, that somebody loads, or has unloaded.
_NOT_WANTED = ("UNAVAILABLE", "UNAVAILABLE: unloaded", "LOADING", "UNLOADING")


class Generation:
    """Runs one tritonserver. ``publish`` takes changes of the status by keyword. One that
    follows another tells ``restart_reason``, the fate of that other, instead of its progress."""

    def __init__(
        self,
        server: Server,
        endpoint: Endpoint,
        rendered: Rendered,
        log: BoundedLog,
        publish: Callable[..., None],
        restart_reason: str = "",
    ) -> None:
        self._server = server
        self._endpoint = endpoint
        self._rendered = rendered
        self._log = log
        self._publish = publish
        self._restart_reason = restart_reason
        self._unserved = {name: f"UNAVAILABLE: {why}" for name, why in rendered.problems.items()}
        self._models = dict(self._unserved)
        self._pending: set[str] = set()
        self._ready_since: float | None = None
        self._crashing_since: float | None = None
        self._last_line = b""
        self.port_taken = False

    @property
    def seconds_ready(self) -> float:
        return 0.0 if self._ready_since is None else time.monotonic() - self._ready_since

    async def run(self) -> str:
        """Serve until the server ends or must be ended; the reason in words, no full stop.

        Cancelling stops the server gracefully. Nothing of it is left when this returns or raises.
        """
        self._publish(message=self._progress("starting Triton"), models=dict(self._models))
        try:
            process = await self._server.spawn(self._endpoint)
        except PortTaken as error:
            self.port_taken = True
            return str(error)
        self._publish(pid=process.pid)
        self._stubs = StubWatch(process.pid)
        pump = asyncio.create_task(process.pump(self._feed))
        ended = asyncio.create_task(process.wait())
        serving = asyncio.create_task(self._serve(process.adopted))
        hanging = asyncio.create_task(self._watch_for_silence())
        try:
            await asyncio.wait({ended, serving, hanging}, return_when=asyncio.FIRST_COMPLETED)
            if not ended.done():
                return (serving if serving.done() else hanging).result()
            await asyncio.wait({pump}, timeout=0.5)
            return self._last_words(ended.result())
        except asyncio.CancelledError:
            serving.cancel()  # a stopping server must not be reported ready once more
            hanging.cancel()
            await process.stop()
            raise
        finally:
            serving.cancel()
            hanging.cancel()
            await process.kill()
            await asyncio.to_thread(self._server.sweep)
            await asyncio.wait({ended, pump}, timeout=1)
            for task in (ended, pump):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, Exception):
                    await task

    def _feed(self, chunk: bytes) -> None:
        self._log.feed(chunk)
        # Whole lines only: the log also repeats names that clients gave.
        whole, newline, rest = (self._last_line + chunk).rpartition(b"\n")
        if newline and self._crashing_since is None and _CRASH.search(whole):
            self._crashing_since = time.monotonic()
        self._last_line = rest[-4096:]

    async def _watch_for_silence(self) -> str:
        """Wait until the server neither answers nor ends; the reason in words."""
        unanswered = 0
        while True:
            await asyncio.sleep(_LIFE_INTERVAL)
            crashing = self._crashing_since
            if crashing is not None and time.monotonic() > crashing + _CRASH_WITHIN:
                return "tritonserver crashed and did not end by itself"
            if self._ready_since is None:  # coming up has limits of its own
                continue
            unanswered = 0 if await self._answers() else unanswered + 1
            if unanswered >= _UNANSWERED:
                return "tritonserver stopped answering"

    async def _answers(self) -> bool:
        """Over HTTP, or else over gRPC: models that are being loaded may keep all HTTP threads."""
        if await asyncio.to_thread(health.is_live, self._endpoint, _LIFE_TIMEOUT):
            return True
        return await asyncio.to_thread(health.is_live_by_grpc, self._endpoint, _LIFE_TIMEOUT)

    def _last_words(self, outcome: Outcome) -> str:
        lines = list(self._log.lines)[-50:]
        self.port_taken = self._ready_since is None and any(
            "already in use" in line or "failed to start" in line.lower() for line in lines
        )
        words = outcome.words
        if not outcome.killed and (error := self._log.last_error()):
            words += f" ({error[:300]})"
        return words

    async def _serve(self, adopted: bool) -> str:
        """Bring the models up, then watch until something is wrong."""
        deadline = time.monotonic() + _LIVE_WITHIN
        while not await asyncio.to_thread(health.is_live, self._endpoint):
            if time.monotonic() > deadline:
                return f"tritonserver did not answer within {_LIVE_WITHIN:.0f} seconds"
            await asyncio.sleep(0.05)
        levels = [list(level) for level in self._rendered.levels]
        optional = self._rendered.optional
        further = [[name for name in level if name in optional] for level in levels]
        await self._load_models(
            [[n for n in level if n not in optional] for level in levels], adopted
        )
        self._ready_since = time.monotonic()
        loading = asyncio.create_task(self._load_further(further, adopted))
        try:
            return await self._watch()
        finally:
            loading.cancel()

    async def _load_models(self, levels: list[list[str]], adopted: bool) -> None:
        loaded = await asyncio.to_thread(health.model_states, self._endpoint) if adopted else {}
        total = sum(map(len, levels))
        done = 0
        for level in levels:
            missing = [name for name in level if loaded.get(name) != "READY"]
            done += len(level) - len(missing)
            self._models.update(dict.fromkeys(level, "READY"), **dict.fromkeys(missing, "LOADING"))
            loads = {
                asyncio.create_task(
                    asyncio.to_thread(health.load_model, self._endpoint, name)
                ): name
                for name in missing
            }
            while loads:
                names = ", ".join(loads.values())
                number = f"{done + 1}" if len(loads) == 1 else f"{done + 1}–{done + len(loads)}"
                self._publish(
                    message=self._progress(f"loading {names} ({number} of {total})"),
                    models=dict(self._models),
                )
                finished, _ = await asyncio.wait(loads, return_when=asyncio.FIRST_COMPLETED)
                for load in finished:
                    error = load.result()
                    self._models[loads.pop(load)] = f"UNAVAILABLE: {error}" if error else "READY"
                    done += 1
        self._stubs.look_for_new()
        self._server.protect()
        self._publish_models()

    async def _load_further(self, levels: list[list[str]], adopted: bool) -> None:
        """Load imported chat models, which may be large, while the server serves already."""
        loaded = await asyncio.to_thread(health.model_states, self._endpoint) if adopted else {}
        self._pending = {n for level in levels for n in level if loaded.get(n) != "READY"}
        for level in levels:
            for name in [name for name in level if name in self._pending]:
                await self._refresh()
                error = await asyncio.to_thread(
                    health.load_model, self._endpoint, name, _FURTHER_WITHIN
                )
                self._pending.discard(name)
                if error:
                    self._models[name] = f"UNAVAILABLE: {error}"
                await self._refresh()

    def _progress(self, message: str) -> str:
        return f"restarting Triton: {self._restart_reason}" if self._restart_reason else message

    def _publish_models(self) -> None:
        missing = [
            name
            for name, state in self._models.items()
            if state != "READY" and not self._is_spare(name, state)
        ]
        if missing:
            state, message = ServerState.DEGRADED, f"running without {', '.join(sorted(missing))}"
        else:
            state, message = ServerState.READY, "ready"
        self._publish(state=state, message=message, models=dict(sorted(self._models.items())))

    def _is_spare(self, name: str, state: str) -> bool:
        """A further chat model is no loss while nobody wants it; one that fails is."""
        return name in self._rendered.optional and state in _NOT_WANTED

    async def _watch(self) -> str:
        """Follow models that are loaded and unloaded from elsewhere, and look for dead stubs."""
        next_index = 0.0
        while True:
            if time.monotonic() >= next_index:
                await self._refresh()
                next_index = time.monotonic() + _INDEX_INTERVAL
            if killed := self._stubs.killed():
                await self._refresh()
                # A model that Triton itself has given up holds no streams that could hang.
                killed = [name for name in killed if self._models.get(name) == "READY"]
                if killed:
                    return f"the process of the model {killed[0]} was killed"
            self._server.protect()
            await asyncio.sleep(_STUB_INTERVAL)

    async def _refresh(self) -> None:
        self._stubs.look_for_new()
        try:
            states = await asyncio.to_thread(health.model_states, self._endpoint)
        except OSError:
            return  # busy or ending; its end is seen elsewhere
        wanted = {name for level in self._rendered.levels for name in level}
        kept = {
            name: state
            for name, state in self._models.items()
            if state.startswith("UNAVAILABLE: ")
            and states.get(name, "UNAVAILABLE" if name in wanted else "") == "UNAVAILABLE"
        }
        waiting = {name: "LOADING" for name in self._pending if states.get(name) != "READY"}
        self._models = {**self._unserved, **states, **kept, **waiting}
        self._publish_models()
