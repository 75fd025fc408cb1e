"""The life and death of a real tritonserver: readiness, leases, kills, and who may talk to it."""

from __future__ import annotations

import argparse
import contextlib
import ipaddress
import json
import os
import queue
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as grpcclient

from desktop.cli import server as server_command
from desktop.launchers import acquire, current, health
from desktop.launchers.base import LaunchError, ServerState, ServerStatus
from desktop.launchers.stubs import process_start
from desktop.launchers.tritonserver import KEY_HEADER, RESTRICTABLE
from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, ServerUnavailable, TritalkError
from tests.conftest import leftovers, wait_until_gone

pytestmark = pytest.mark.triton

MODELS = Path(__file__).parent / "models"
ROOT = Path(__file__).resolve().parents[2]
# The issue's own bound for what may be left after a kill.
KILL_WITHIN = 5.0

HOLDER = """
import sys, time
from pathlib import Path
from desktop.launchers import acquire
lease = acquire("embedded", models_source=Path(sys.argv[1]))
print(lease.wait_ready(120).pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def tiny(fresh_server: Callable[..., Any]) -> Any:
    """A server with two small models: ``counter`` streams, ``relay`` calls it through BLS."""
    return fresh_server(models_source=MODELS)


@pytest.fixture
def holder(fresh_home: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Starts processes of their own that lease the test's server and print its pid when ready."""
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-c", HOLDER, str(MODELS)],
                stdout=subprocess.PIPE,
                text=True,
                env={**os.environ, "PYTHONPATH": str(ROOT)},
            )
        )
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


class Stream:
    """An open gRPC stream; what arrives is a number, None at its proper end, or an error."""

    def __init__(self, server: Any, model: str, count: int) -> None:
        self.events: queue.Queue[Any] = queue.Queue()
        self._client = grpcclient.InferenceServerClient(server.endpoint.grpc)
        self._client.start_stream(self._arrived, headers=server.endpoint.headers)
        self._client.async_stream_infer(model, [_count(count)], enable_empty_final_response=True)

    def _arrived(self, result: Any, error: Any) -> None:
        if error is not None:
            self.events.put(error)
            return
        number = result.as_numpy("NUMBER")
        if number is not None:
            self.events.put(int(number[0]))
        if result.get_response().parameters["triton_final_response"].bool_param:
            self.events.put(None)

    def numbers(self, timeout: float = 30.0) -> list[int]:
        """All numbers until the proper end; an error is raised."""
        found = []
        while (event := self.events.get(timeout=timeout)) is not None:
            if isinstance(event, Exception):
                raise event
            found.append(event)
        return found

    def close(self) -> None:
        self._client.stop_stream(cancel_requests=True)
        self._client.close()


def _count(number: int) -> grpcclient.InferInput:
    tensor = grpcclient.InferInput("COUNT", [1], "INT64")
    tensor.set_data_from_numpy(np.array([number], dtype=np.int64))
    return tensor


def numbers(server: Any, model: str, count: int) -> list[int]:
    stream = Stream(server, model, count)
    try:
        return stream.numbers()
    finally:
        stream.close()


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} seconds"
        time.sleep(0.05)
    return value


def curl(server: Any, socket_name: str, path: str, *more: str, user: str = "") -> int:
    """The exit status of curl on one of the server's sockets, as another user if one is named."""
    prefix = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    command = ["curl", "-s", "-o", "/dev/null", "-m", "5", *more]
    command += ["--unix-socket", str(server.run / socket_name), f"http://localhost{path}"]
    return subprocess.run([*prefix, *command], check=False).returncode


def command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    server_command.add_parser(parser.add_subparsers())
    options = parser.parse_args(["server", *arguments])
    return int(options.func(options))


# -- coming up ------------------------------------------------------------------------------------


def test_progress_is_told_in_words_until_ready(fresh_home: Path) -> None:
    seen: list[ServerStatus] = []
    with acquire("embedded", models_source=MODELS) as lease:  # type: ignore[attr-defined]
        assert lease.status().state is ServerState.STARTING
        lease.subscribe(seen.append)
        status = lease.wait_ready(60)
        assert status.state is ServerState.READY
        assert status.models == {"counter": "READY", "relay": "READY"}
        assert status.launcher == "embedded"
        assert status.reason
        now = current()
        assert now is not None
        assert (now.state, now.pid) == (ServerState.READY, status.pid)
    messages = [status.message for status in seen]
    # The one that is called first, then its caller.
    order = ["starting Triton", "loading counter (1 of 2)", "loading relay (2 of 2)", "ready"]
    assert [message for message in dict.fromkeys(messages) if message in order] == order
    wait_for(lambda: current() is None, 15)


def test_both_models_answer(tiny: Any) -> None:
    assert numbers(tiny, "counter", 3) == [0, 1, 2]
    assert numbers(tiny, "relay", 3) == [0, 1, 2]


def test_a_broken_model_does_not_stop_the_others(
    fresh_server: Callable[..., Any], tmp_path: Path
) -> None:
    models = tmp_path / "models"
    shutil.copytree(MODELS, models)
    (models / "relay" / "1" / "model.py").write_text("raise RuntimeError('worn out')\n")
    (models / "unfinished").mkdir()
    server = fresh_server(models_source=models)
    status = server.status()
    assert status.state is ServerState.DEGRADED
    assert status.models["counter"] == "READY"
    assert status.models["relay"].startswith("UNAVAILABLE: ")
    assert "worn out" in status.models["relay"]
    assert status.models["unfinished"] == "UNAVAILABLE: its config.pbtxt is missing"
    assert "relay" in status.message
    assert numbers(server, "counter", 2) == [0, 1]


def test_models_loaded_and_unloaded_elsewhere_show(tiny: Any) -> None:
    client = grpcclient.InferenceServerClient(tiny.endpoint.grpc)
    client.unload_model("relay")
    wait_for(lambda: tiny.status().models["relay"].startswith("UNAVAILABLE"))
    assert tiny.status().state is ServerState.DEGRADED
    client.load_model("relay")
    wait_for(lambda: tiny.status().state is ServerState.READY)
    client.close()
    assert numbers(tiny, "relay", 2) == [0, 1]


def test_two_starts_at_once_give_one_server(
    holder: Callable[[], subprocess.Popen[str]], fresh_home: Path
) -> None:
    first, second = holder(), holder()
    assert first.stdout is not None
    assert second.stdout is not None
    pids = {int(first.stdout.readline()), int(second.stdout.readline())}
    assert len(pids) == 1
    assert len([p for p in (fresh_home / "run").iterdir() if p.is_dir()]) == 1


def test_a_start_while_the_old_server_stops_waits_for_it(
    fresh_server: Callable[..., Any],
) -> None:
    old = fresh_server(models_source=MODELS)
    old.lease.close()
    new = fresh_server(models_source=MODELS)
    assert new.launch_id != old.launch_id
    assert old.leftovers() == []
    assert numbers(new, "relay", 2) == [0, 1]


# -- leases ---------------------------------------------------------------------------------------


def test_the_server_lives_as_long_as_its_last_lease(fresh_server: Callable[..., Any]) -> None:
    first = fresh_server(models_source=MODELS)
    second = fresh_server(models_source=MODELS)
    assert first.status().pid == second.status().pid
    first.lease.close()
    # Longer than a stop takes.
    time.sleep(3)
    assert numbers(second, "counter", 2) == [0, 1]
    second.lease.close()
    assert second.wait_until_gone() == []


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


def test_kept_server_outlives_its_starter_until_stop(
    fresh_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("status") == 1
    lease = acquire("embedded", models_source=MODELS)
    assert command("start") == 0
    lease.close()
    time.sleep(3)
    capsys.readouterr()
    assert command("status", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["state"] == "ready"
    assert found["models"] == {"counter": "READY", "relay": "READY"}
    assert set(found) == {
        "launcher", "reason", "state", "message", "grpc", "http", "metrics", "headers", "models",
        "pid",
    }  # fmt: skip
    assert command("start", "--listen", "tcp") == 1
    assert "stop" in capsys.readouterr().err
    assert command("stop") == 0
    assert process_start(found["pid"]) is None
    assert [p.name for p in (fresh_home / "run").iterdir()] == ["lock"]
    assert command("stop") == 1
    capsys.readouterr()
    assert command("logs", "-n", "5") == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_stop_tells_the_other_holders(tiny: Any) -> None:
    assert command("stop") == 0
    wait_for(lambda: tiny.status().state is ServerState.STOPPED, 10)
    assert "tritalk server stop" in tiny.status().message


# -- kills ----------------------------------------------------------------------------------------


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


# -- access ---------------------------------------------------------------------------------------


@pytest.fixture
def open_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home that everybody may enter, so that only the runtime folder's own mode protects it."""
    home = Path(tempfile.mkdtemp(prefix="tritalk-test-"))
    home.chmod(0o755)
    yield home
    shutil.rmtree(home)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_refused(
    open_home: Path, fresh_server: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITALK_HOME", str(open_home))
    server = fresh_server(models_source=MODELS)
    http2 = "--http2-prior-knowledge"
    assert curl(server, "h", "/v2/health/live") == 0
    assert curl(server, "m", "/metrics") == 0
    assert curl(server, "g:1", "/inference.GRPCInferenceService/ServerLive", http2) == 0
    could_not_connect = 7
    for name in ("h", "m", "g:1", "control"):
        assert curl(server, name, "/", user="65534") == could_not_connect
    server.lease.close()
    assert server.wait_until_gone() == []


def test_tcp_needs_the_key_on_every_call_and_listens_on_loopback_only(
    fresh_server: Callable[..., Any],
) -> None:
    server = fresh_server(listen="tcp", models_source=MODELS)
    endpoint = server.endpoint
    assert endpoint.grpc.startswith("127.0.0.1:")
    assert endpoint.http.startswith("http://127.0.0.1:")
    assert endpoint.metrics.startswith("unix:")
    key = endpoint.headers[KEY_HEADER]

    for method, path in [
        ("GET", "/v2/health/live"),
        ("GET", "/v2"),
        ("GET", "/v2/models/counter/config"),
        ("GET", "/v2/models/counter/stats"),
        ("GET", "/v2/logging"),
        ("GET", "/v2/trace/setting"),
        ("GET", "/v2/systemsharedmemory/status"),
        ("POST", "/v2/repository/index"),
        ("POST", "/v2/models/counter/generate_stream"),
    ]:
        refused, _ = health.request(endpoint.http, method, path, {}, {"COUNT": [1]})
        wrong, _ = health.request(endpoint.http, method, path, {KEY_HEADER: "x"}, {"COUNT": [1]})
        allowed, _ = health.request(endpoint.http, method, path, endpoint.headers, {"COUNT": [1]})
        assert (refused, wrong, allowed) == (403, 403, 200), path
    assert len(RESTRICTABLE.split(",")) == 9

    client = grpcclient.InferenceServerClient(endpoint.grpc)
    for call in (
        client.is_server_live,
        client.get_server_metadata,
        client.get_model_repository_index,
        client.get_log_settings,
        client.get_trace_settings,
        client.get_inference_statistics,
        client.get_system_shared_memory_status,
    ):
        with pytest.raises(Exception, match="restricted"):
            call()
        call(headers=endpoint.headers)
    client.close()
    assert numbers(server, "relay", 2) == [0, 1]

    ports = [int(address.rpartition(":")[2]) for address in (endpoint.grpc, endpoint.http)]
    assert _listeners(server.status().pid) == {("127.0.0.1", port) for port in ports}
    for file in [*server.home.rglob("*.log*"), *server.home.rglob("*.json")]:
        assert key not in file.read_text(errors="replace")


def _listeners(pid: int) -> set[tuple[str, int]]:
    """The TCP addresses and ports on which one process listens."""
    inodes = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):
            inodes.add(str(descriptor.readlink()))
    found = set()
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for line in table.read_text().splitlines()[1:] if table.exists() else []:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in inodes:
                address, port = fields[1].split(":")
                found.add((_address(address), int(port, 16)))
    return found


def _address(text: str) -> str:
    """An address as /proc/net writes it: 32-bit words, each in the machine's byte order."""
    words = [bytes.fromhex(text[i : i + 8])[::-1] for i in range(0, len(text), 8)]
    address = ipaddress.ip_address(b"".join(words))
    mapped = getattr(address, "ipv4_mapped", None)
    return str(mapped or address)
