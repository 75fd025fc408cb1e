"""The process that owns a tritonserver for as long as somebody holds a lease on it.

``python -m desktop.launchers.supervisor …``, started by the embedded launcher in a session of its
own. A lease is an open connection to its control socket, so that a holder's death, however it
comes, is seen; the launching process's own is inherited. With the last lease everything goes; when
this process itself is killed, the guardian does the clearing up.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import os
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.launchers import guardian, wire
from desktop.launchers.base import LaunchError, Progress, ServerState, ServerStatus
from desktop.launchers.capture import BoundedLog
from desktop.launchers.embedded_server import EmbeddedServer
from desktop.launchers.generation import Generation
from desktop.launchers.server_process import Server, ServerOptions
from desktop.launchers.stubs import process_start
from desktop.launchers.tritonserver import KEY_HEADER, Folders
from desktop.triton.types import Endpoint
from server_bundle import repository

MAX_QUICK_FAILURES = 3
# A server that has been ready this long has proved that it can run.
PROVED_AFTER = 30.0
_RENDERED_WITHIN = 60.0
_MAX_MESSAGE = 1 << 16


class Supervisor:
    """One launch: the holders, the folders, and one tritonserver after the other."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.launch_id: str = arguments.launch_id
        self.options = ServerOptions.from_json(arguments.options)
        self.folders = Folders(Path(arguments.run), Path(arguments.served))
        self.log = BoundedLog(paths.log_dir() / "server.log")
        self.server = self._new_server(self.options, arguments.reason)
        self.fallback: str = arguments.fallback
        self.status = ServerStatus(
            self.server.launcher, self.server.reason, ServerState.STARTING, "preparing"
        )
        self.keep: bool = arguments.keep
        self._preparing: asyncio.Future[repository.Rendered] | None = None
        self._holders: set[asyncio.StreamWriter] = set()
        self._watchers: set[asyncio.StreamWriter] = set()
        self._rendered: repository.Rendered | None = None
        self._refreshing: set[asyncio.Task[None]] = set()
        self._rendering = asyncio.Lock()
        self._over = asyncio.Event()
        self._why_over = "nobody needs the server any more"

    def _new_server(self, options: ServerOptions, reason: str) -> Server:
        arguments = (options, self.folders, self.launch_id, reason)
        if options.launcher == "docker":
            from desktop.launchers.docker_server import DockerServer

            return DockerServer(*arguments, log=self.log.add)
        return EmbeddedServer(*arguments)

    async def run(self, first_lease: socket.socket | None) -> None:
        self._write_launch_file()
        guarded = asyncio.create_task(self._keep_guarded())
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end, "it was told to stop")
        adopted = None
        if first_lease is not None:
            reader, writer = await asyncio.open_connection(sock=first_lease, limit=_MAX_MESSAGE)
            self._holders.add(writer)
            adopted = asyncio.create_task(self._serve(reader, writer))
        listener = await asyncio.start_unix_server(
            self._serve, self.folders.run / wire.CONTROL, limit=_MAX_MESSAGE
        )
        # Only now, since this first status tells the launching process that others find the server.
        for writer in self._holders:
            writer.write(wire.encode({"status": self.status.to_json()}))
        server = asyncio.create_task(self._keep_serving())
        await self._over.wait()
        if self.status.state is not ServerState.FAILED:
            self.publish(state=ServerState.STOPPING, message=f"stopping: {self._why_over}")
        server.cancel()
        self.server.cancel()
        # A thread cannot be cancelled; what it still copies must not outlive the sweep.
        await asyncio.wait({server} | ({self._preparing} if self._preparing else set()))
        await asyncio.to_thread(self.server.close)
        await asyncio.to_thread(guardian.sweep, self.launch_id, self.folders.all())
        if self.status.state is not ServerState.FAILED:
            self.publish(state=ServerState.STOPPED, message=f"stopped: {self._why_over}")
        listener.close()
        guarded.cancel()
        for writer in self._holders | self._watchers:
            with contextlib.suppress(OSError, asyncio.TimeoutError):
                await asyncio.wait_for(writer.drain(), 1)
            writer.close()
        if adopted is not None:
            await asyncio.wait({adopted}, timeout=1)
        self.log.close()

    # -- the server ---------------------------------------------------------------------------

    async def _keep_serving(self) -> None:
        try:
            try:
                await self._prepare_and_run()
            except LaunchError as error:
                if not self.fallback:
                    raise
                self._fall_back(str(error))
                await self._prepare_and_run()
        except (LaunchError, OSError) as error:
            self._fail(str(error))
        except Exception as error:
            self.log.feed(traceback.format_exc().encode())
            self._fail(f"The supervisor failed ({error!r}); see tritalk server logs.")

    def _fall_back(self, why: str) -> None:
        """Go on with the other kind of server: a person who left the choice to us is not to be
        left without one."""
        self.log.add(f"tritalk: {why}")
        options = dataclasses.replace(self.options, launcher=self.fallback)
        self.server = self._new_server(options, f"{why.rstrip('.')}; using the built-in Triton")
        self.fallback = ""
        self.publish(launcher=self.server.launcher, reason=self.server.reason)

    async def _prepare_and_run(self) -> None:
        loop = asyncio.get_running_loop()

        def report(message: str, progress: Progress | None = None) -> None:
            loop.call_soon_threadsafe(lambda: self.publish(message=message, progress=progress))

        self.publish(state=ServerState.STARTING, models={}, pid=0, endpoint=Endpoint(""))
        self._preparing = asyncio.ensure_future(asyncio.to_thread(self.server.prepare, report))
        self._rendered = rendered = await asyncio.shield(self._preparing)
        self.publish(reason=self.server.reason)
        if self.keep:
            self.server.keep()
        await self._run_generations(rendered)

    async def _run_generations(self, rendered: repository.Rendered) -> None:
        """Run tritonservers one after the other until cancelled or given up."""
        endpoint = self.server.new_endpoint()
        failures = 0
        why = ""
        while True:
            self._use(endpoint)
            generation = Generation(
                self.server,
                endpoint,
                rendered,
                self.log,
                self.publish,
                restart_reason=why,
            )
            why = await generation.run()
            self.log.add(f"tritalk: {why}")
            failures = 1 if generation.seconds_ready > PROVED_AFTER else failures + 1
            if failures >= MAX_QUICK_FAILURES:
                self._fail(f"Triton failed {failures} times in a row: {why}.")
                return
            self.publish(
                state=ServerState.STARTING, message=f"restarting Triton: {why}", models={}, pid=0
            )
            if generation.port_taken:
                endpoint = self.server.new_endpoint()
            else:
                await asyncio.sleep(0.2 * 4 ** (failures - 1))

    async def _refresh_models(self, writer: asyncio.StreamWriter) -> None:
        """Bring the repository up to date; a Triton that starts anew loads what is served then."""
        known = self._rendered
        if known is None:
            # Preparing has not finished, so it may have looked before the models came.
            if self._preparing is not None:
                await asyncio.wait({self._preparing}, timeout=_RENDERED_WITHIN)
            known = self._rendered
        try:
            async with self._rendering:
                new = await asyncio.to_thread(self.server.render, again=True)
        except (LaunchError, OSError, ValueError) as error:
            writer.write(wire.encode({"error": f"the models cannot be prepared: {error}"}))
            return
        if known is not None:
            known.levels[:] = new.levels
            known.optional.clear()
            known.optional.update(new.optional)
        writer.write(wire.encode({"status": self.status.to_json()}))

    def _use(self, endpoint: Endpoint) -> None:
        self.log.secrets = [key] if (key := endpoint.headers.get(KEY_HEADER)) else []
        self.publish(endpoint=endpoint)

    def _fail(self, message: str) -> None:
        self.publish(state=ServerState.FAILED, message=message, models={}, pid=0)
        self._end("it failed")

    def _end(self, why: str) -> None:
        if not self._over.is_set():
            self._why_over = why
            self._over.set()

    # -- the holders --------------------------------------------------------------------------

    def publish(self, **changes: Any) -> None:
        """Change the status and push it to everybody connected."""
        # Progress is of what the message tells, and goes with it.
        forgotten = {"progress": None} if "message" in changes else {}
        status = dataclasses.replace(self.status, **{**forgotten, **changes})
        if status == self.status:
            return
        self.status = status
        line = wire.encode({"status": status.to_json()})
        for writer in self._holders | self._watchers:
            # A holder that has stopped reading must not make this process grow.
            if writer.transport.get_write_buffer_size() < 1 << 20:
                writer.write(line)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until it closes."""
        try:
            while line := await reader.readline():
                self._answer(wire.decode(line), writer)
        except (OSError, ValueError):
            pass  # gone, or not speaking the protocol: either way no holder
        finally:
            self._watchers.discard(writer)
            self._holders.discard(writer)
            writer.close()
            self._end_if_unused()

    def _end_if_unused(self) -> None:
        if not self._holders and not self.keep:
            self._end("nobody needs the server any more")

    def _answer(self, message: dict[str, Any], writer: asyncio.StreamWriter) -> None:
        match message.get("do"):
            case "lease" if self._over.is_set():
                writer.write(wire.encode({"ended": True}))
            case "lease" if self._differs(message) and not self._holders:
                self.keep = False
                self._watchers.add(writer)
                writer.write(wire.encode({"ended": True}))
                self._end("a server with other settings takes its place")
            case "lease" if self._differs(message):
                error = (
                    f"A server with other settings is in use ({self.status.launcher}); "
                    "stop it first (tritalk server stop) to have this one."
                )
                writer.write(wire.encode({"error": error}))
            case "lease" if message.get("listen") == "tcp" and self.options.listen != "tcp":
                error = (
                    "A server is already running on Unix sockets; "
                    "stop it first (tritalk server stop) to have one on TCP."
                )
                writer.write(wire.encode({"error": error}))
            case "lease":
                self._holders.add(writer)
                writer.write(wire.encode({"status": self.status.to_json()}))
            case "watch":
                self._watchers.add(writer)
                writer.write(wire.encode({"status": self.status.to_json()}))
            case "models":
                task = asyncio.create_task(self._refresh_models(writer))
                self._refreshing.add(task)
                task.add_done_callback(self._refreshing.discard)
            case "keep":
                self.keep = True
                self.server.keep()
                writer.write(wire.encode({"kept": True}))
            case "stop":
                self.keep = False
                self._watchers.add(writer)
                self._end(str(message.get("why") or "tritalk server stop"))
            case other:
                writer.write(wire.encode({"error": f"unknown command {other!r}"}))

    def _differs(self, message: dict[str, Any]) -> bool:
        """Whether a holder asks for a server that this one is not. A built-in server is shared
        whatever its models; ``launcher`` is there where the user insists on one."""
        running = self.server.launcher
        if message.get("launcher", running) != running:
            return True
        if running != "docker" or "options" not in message:
            return False
        asked = ServerOptions.from_json(message["options"])
        return asked.launcher == running and asked != self.options

    # -- clearing up --------------------------------------------------------------------------

    def _write_launch_file(self) -> None:
        """Lets a later start find what a killed launch has left. Holds no key."""
        content = {
            "launch_id": self.launch_id,
            "supervisor": os.getpid(),
            "started": process_start(os.getpid()),
        }
        for folder in self.folders.all():
            (folder / wire.LAUNCH_FILE).write_text(json.dumps(content))

    async def _keep_guarded(self) -> None:
        """Have a guardian blocked on a pipe whose other end dies with this process."""
        reading, _held_open = os.pipe()
        words = ["-I", "-S", guardian.__file__, str(reading), self.launch_id]
        while True:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *words,
                *map(str, self.folders.all()),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                pass_fds=[reading],
                start_new_session=True,
            )
            await process.wait()
            self.log.add("tritalk: the guardian died; starting another")
            await asyncio.sleep(1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--launch-id", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--served", required=True)
    parser.add_argument("--options", required=True, help="ServerOptions as JSON")
    parser.add_argument("--reason", default="")
    parser.add_argument("--fallback", default="", help="the launcher to go on with")
    parser.add_argument("--keep", action="store_true", help="outlive the last lease")
    parser.add_argument(wire.FIRST_LEASE, type=int, default=-1)
    arguments = parser.parse_args()
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    os.umask(0o077)
    first_lease = None
    if arguments.first_lease >= 0:
        first_lease = socket.socket(fileno=arguments.first_lease)
        first_lease.set_inheritable(False)
        first_lease.setblocking(False)
    asyncio.run(_run(arguments, first_lease))


async def _run(arguments: argparse.Namespace, first_lease: socket.socket | None) -> None:
    await Supervisor(arguments).run(first_lease)


if __name__ == "__main__":
    main()
