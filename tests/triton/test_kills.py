"""kill -9 of everything there is: nothing is left behind, and what can come back does."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.launchers.base import LaunchError, ServerState
from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, ServerUnavailable, TritalkError
from tests.conftest import leftovers, wait_until_gone
from tests.triton.tiny import KILL_WITHIN, MODELS, Stream, numbers, wait_for

pytestmark = pytest.mark.triton


ROOT = Path(__file__).resolve().parents[2]


def test_killed_holder_leaves_nothing(
    holder: Callable[[], subprocess.Popen[str]], fresh_server: Callable[..., Any]
) -> None:
    process = holder()
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    server = fresh_server(models_source=MODELS)
    assert server.status().pid == pid
    server.lease.close()
    assert server.leftovers()
    process.kill()
    assert server.wait_until_gone(KILL_WITHIN) == []


def test_command_line_killed_in_mid_reply_leaves_nothing(fresh_home: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "desktop", "chat", "--json", "你好"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=ROOT,
    )
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["token_id"] > 0
    process.kill()
    process.communicate()
    (run,) = [path for path in (fresh_home / "run").iterdir() if path.is_dir()]
    assert leftovers(fresh_home, run)
    assert wait_until_gone(fresh_home, run, KILL_WITHIN) == []


def test_killed_supervisor_leaves_nothing_and_the_next_start_works(
    fresh_server: Callable[..., Any],
) -> None:
    server = fresh_server(models_source=MODELS)
    os.kill(server.supervisor_pid, signal.SIGKILL)
    assert server.wait_until_gone(KILL_WITHIN) == []
    wait_for(lambda: server.status().state is ServerState.STOPPED, 5)
    again = fresh_server(models_source=MODELS)
    assert numbers(again, "relay", 2) == [0, 1]


def test_the_next_start_sweeps_after_supervisor_and_guardian_were_killed(
    fresh_server: Callable[..., Any],
) -> None:
    server = fresh_server(models_source=MODELS)
    for pid in [guardian_of(server.supervisor_pid), server.supervisor_pid]:
        os.kill(pid, signal.SIGKILL)
    wait_for(lambda: server.status().state is ServerState.STOPPED, 5)
    assert str(server.run) in server.leftovers()
    again = fresh_server(models_source=MODELS)
    assert server.leftovers() == []
    assert numbers(again, "relay", 2) == [0, 1]


def guardian_of(supervisor: int) -> int:
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            continue
        if parent == supervisor and any(word.endswith(b"guardian.py") for word in words):
            return int(entry.name)
    raise AssertionError("no guardian")


@pytest.mark.parametrize("model", ["counter", "relay"])
def test_killed_stub_ends_open_streams_with_an_error_and_the_next_request_works(
    tiny: Any, model: str
) -> None:
    streams = [Stream(tiny, name, 100_000) for name in ("counter", "relay")]
    bodies: queue.Queue[str] = queue.Queue()
    reader = threading.Thread(target=_read_http_stream, args=(tiny, bodies), daemon=True)
    reader.start()
    for stream in streams:
        assert stream.events.get(timeout=20) == 0
    assert '"NUMBER":0' in bodies.get(timeout=20)
    (stub,) = tiny.stub_pids(model)
    os.kill(stub, signal.SIGKILL)
    for stream in streams:
        assert isinstance(_last_event(stream), Exception)
        stream.close()
    reader.join(10)
    assert not reader.is_alive()
    assert "killed" in wait_for(
        lambda: tiny.status().state is ServerState.STARTING and tiny.status().message, 5
    )
    wait_for(lambda: tiny.status().state is ServerState.READY)
    assert numbers(tiny, "relay", 2) == [0, 1]


@pytest.mark.slow
def test_killed_engine_fails_the_open_reply_and_the_next_one_works(
    fresh_server: Callable[..., Any],
) -> None:
    server = fresh_server()
    # One reply is over in a tenth of a second, so they follow one another.
    seen = threading.Event()
    raised: queue.Queue[Exception] = queue.Queue()

    def ask_on() -> None:
        try:
            with TritonClient(server.endpoint) as client:
                while True:
                    for _ in client.chat("你好"):
                        seen.set()
        except TritalkError as error:
            raised.put(error)

    thread = threading.Thread(target=ask_on, daemon=True)
    thread.start()
    assert seen.wait(30)
    (stub,) = server.stub_pids("ibuddha_chitchat")
    os.kill(stub, signal.SIGKILL)
    assert isinstance(raised.get(timeout=5), ServerUnavailable)
    wait_for(lambda: server.status().state is ServerState.STARTING)
    server.wait_ready()
    with TritonClient(server.endpoint) as client:
        *tokens, last = client.chat("你好")
        assert tokens
        assert isinstance(last, Finished)
        (address,) = client.parse(["北京市海淀区中关村大街1号"])
        assert address.division.district == "海淀区"


def _last_event(stream: Stream) -> Any:
    while isinstance(event := stream.events.get(timeout=5), int):
        pass
    return event


def _read_http_stream(server: Any, bodies: queue.Queue[str]) -> None:
    """Put each piece of a ``generate_stream`` body; returns when the server ends it, anyhow."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(server.endpoint.http.removeprefix("unix:"))
        body = b'{"COUNT":[100000]}'
        head = "POST /v2/models/counter/generate_stream HTTP/1.1\r\nHost: x\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        seen = b""
        try:
            while piece := connection.recv(1 << 16):
                seen += piece
                if b"NUMBER" in seen:
                    bodies.put(seen.decode(errors="replace"))
        except OSError:
            return


def test_killed_tritonserver_comes_back(tiny: Any) -> None:
    before = tiny.status()
    os.kill(before.pid, signal.SIGKILL)
    wait_for(lambda: tiny.status().state is ServerState.STARTING)
    # The reason stays to be read for as long as the server is coming up again.
    wait_for(lambda: "LOADING" in tiny.status().models.values())
    assert tiny.status().message == "restarting Triton: tritonserver was killed by SIGKILL"
    wait_for(lambda: tiny.status().state is ServerState.READY)
    assert tiny.status().pid != before.pid
    assert tiny.status().endpoint == before.endpoint
    assert numbers(tiny, "relay", 2) == [0, 1]


def test_a_server_that_keeps_dying_is_given_up(tiny: Any) -> None:
    killed = set()
    while tiny.status().state is not ServerState.FAILED:
        pid = tiny.status().pid
        if pid and pid not in killed:
            killed.add(pid)
            os.kill(pid, signal.SIGKILL)
        time.sleep(0.02)
    assert len(killed) == 3
    assert "SIGKILL" in tiny.status().message
    with pytest.raises(LaunchError, match="3 times"):
        tiny.wait_ready(1)
    assert tiny.wait_until_gone() == []
