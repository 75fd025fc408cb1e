"""One tritonserver that cannot do its work: the reason is told in words and nothing is left."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

from desktop.launchers import guardian
from desktop.launchers.capture import BoundedLog
from desktop.launchers.embedded_server import EmbeddedServer
from desktop.launchers.generation import Generation
from desktop.launchers.server_process import ServerOptions
from desktop.launchers.tritonserver import Folders, new_endpoint
from desktop.triton.types import Endpoint
from server_bundle.repository import Rendered

pytestmark = pytest.mark.triton

MODELS = Path(__file__).parent / "models"
LAUNCH_ID = "test0004"


def prepare(tmp_path: Path, listen: str) -> tuple[Folders, EmbeddedServer, Rendered, BoundedLog]:
    """What a generation of the small models needs; the log is to be closed."""
    folders = Folders(tmp_path / "run", tmp_path / "served")
    folders.run.mkdir()
    options = ServerOptions(listen=listen, models_source=str(MODELS))
    server = EmbeddedServer(options, folders, LAUNCH_ID, "")
    rendered = server.prepare(lambda message: None)
    return folders, server, rendered, BoundedLog(tmp_path / "server.log")


@pytest.mark.parametrize("taken", ["grpc", "http"])
def test_a_port_that_was_taken_meanwhile_ends_it_at_once(tmp_path: Path, taken: str) -> None:
    folders, server, rendered, log = prepare(tmp_path, "tcp")
    published: list[dict[str, Any]] = []

    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = stranger.getsockname()[1]
        endpoint = new_endpoint("tcp", folders.run)
        address = {"grpc": f"127.0.0.1:{port}", "http": f"http://127.0.0.1:{port}"}[taken]
        endpoint = dataclasses.replace(endpoint, **{taken: address})
        generation = Generation(
            server,
            endpoint,
            rendered,
            log,
            lambda **changes: published.append(changes),
        )
        why = asyncio.run(generation.run())
    log.close()
    assert generation.port_taken
    # The HTTP port is the guard's, the gRPC port Triton's own.
    assert {"grpc": "tritonserver", "http": "another program took the HTTP port"}[taken] in why
    assert generation.seconds_ready == 0
    assert not [changes for changes in published if changes.get("message") == "ready"]
    assert guardian.processes_of(LAUNCH_ID) == []


def test_only_a_line_of_its_own_tells_of_a_crash(tmp_path: Path) -> None:
    """Names that clients give stand in the log too."""
    log = BoundedLog(tmp_path / "server.log")
    server: Any = None
    generation = Generation(
        server, Endpoint(""), Rendered([], {}, set()), log, lambda **changes: None
    )
    generation._feed(b"failed to poll model 'Signal (11) received'\nSignal (15) received.\n")
    generation._feed(b"x Signal (11) received.\nSignal (1")
    assert generation._crashing_since is None
    generation._feed(b"1) received.\n 0# 0x00")
    assert generation._crashing_since is not None
    log.close()


def test_a_server_whose_http_threads_are_all_busy_is_let_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop.launchers.generation._LIFE_INTERVAL", 0.1)
    folders, server, rendered, log = prepare(tmp_path, "unix")
    asked = []

    def deaf(endpoint: Endpoint, timeout: float = 1.0) -> bool:
        asked.append(endpoint)
        return False

    def publish(**changes: Any) -> None:
        if changes.get("message") == "ready":
            monkeypatch.setattr("desktop.launchers.health.is_live", deaf)

    async def run() -> None:
        generation = Generation(server, new_endpoint("unix", folders.run), rendered, log, publish)
        running = asyncio.create_task(generation.run())
        while len(asked) < 12 and not running.done():
            await asyncio.sleep(0.1)
        assert not running.done(), running.result()
        running.cancel()
        await asyncio.wait({running})

    asyncio.run(asyncio.wait_for(run(), 120))
    log.close()
    assert guardian.processes_of(LAUNCH_ID) == []


@pytest.mark.parametrize(
    ("crashes", "reason"),
    [
        (False, "tritonserver stopped answering"),
        (True, "tritonserver crashed and did not end by itself"),
    ],
)
def test_a_server_that_hangs_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crashes: bool, reason: str
) -> None:
    monkeypatch.setattr("desktop.launchers.generation._LIFE_INTERVAL", 0.2)
    monkeypatch.setattr("desktop.launchers.generation._LIFE_TIMEOUT", 0.5)
    monkeypatch.setattr("desktop.launchers.generation._UNANSWERED", 1000 if crashes else 4)
    monkeypatch.setattr("desktop.launchers.generation._CRASH_WITHIN", 0.5)
    folders, server, rendered, log = prepare(tmp_path, "unix")
    pids: list[int] = []

    def publish(**changes: Any) -> None:
        pids.extend([changes["pid"]] if changes.get("pid") else [])
        if changes.get("message") == "ready":
            if crashes:  # what its signal handler writes first, before a stack trace
                Path(f"/proc/{pids[-1]}/fd/1").write_bytes(b"Signal (11) received.\n")
            os.kill(pids[-1], signal.SIGSTOP)

    async def run() -> str:
        generation = Generation(server, new_endpoint("unix", folders.run), rendered, log, publish)
        return await asyncio.wait_for(generation.run(), 120)

    assert asyncio.run(run()) == reason
    log.close()
    assert guardian.processes_of(LAUNCH_ID) == []
