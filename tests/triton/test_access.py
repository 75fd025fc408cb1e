"""Who may talk to a server: nobody else through its sockets, nobody without the key by TCP."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import tritonclient.grpc as grpcclient

from desktop.launchers import health
from desktop.launchers.tritonserver import KEY_HEADER, RESTRICTABLE
from tests.triton.tiny import MODELS, numbers

pytestmark = pytest.mark.triton


def curl(server: Any, socket_name: str, path: str, *more: str, user: str = "") -> int:
    """The exit status of curl on one of the server's sockets, as another user if one is named."""
    prefix = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"] if user else []
    command = ["curl", "-s", "-o", "/dev/null", "-m", "5", *more]
    command += ["--unix-socket", str(server.run / socket_name), f"http://localhost{path}"]
    return subprocess.run([*prefix, *command], check=False).returncode


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
    for name in ("h", "b", "m", "g:1", "control"):
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

    # A stranger's body is not even read.
    path, absurd = "/v2/models/counter/infer", {"COUNT": "x" * (17 << 20)}
    assert health.request(endpoint.http, "POST", path, {}, absurd)[0] == 403
    assert health.request(endpoint.http, "POST", path, endpoint.headers, absurd)[0] == 413

    # Triton's own HTTP front end is behind the supervisor's guard, on a socket.
    grpc, http = (int(address.rpartition(":")[2]) for address in (endpoint.grpc, endpoint.http))
    assert _listeners(server.status().pid) == {("127.0.0.1", grpc)}
    assert _listeners(server.supervisor_pid) == {("127.0.0.1", http)}
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
