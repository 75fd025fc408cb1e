"""A Triton that somebody else runs: its address, TLS, access token, and what goes wrong."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop import settings as stored
from desktop.cli.main import main
from desktop.launchers import acquire, health, remote, tritonserver
from desktop.launchers.base import LaunchError, ServerState
from desktop.launchers.prerequisites import find_triton
from desktop.launchers.tritonserver import KEY_HEADER, Folders, free_ports, install_backends
from desktop.settings import RemoteSettings, Settings
from desktop.triton.client import TritonClient
from desktop.triton.types import Endpoint, Finished
from server_bundle import repository
from tests.triton.tiny import MODELS, wait_for

pytestmark = pytest.mark.triton


def settings(**more: str) -> Settings:
    return Settings(launcher="remote", remote=RemoteSettings(**more))


@pytest.mark.parametrize(
    ("url", "grpc", "http", "tls"),
    [
        ("host", "host:8001", "", False),
        ("host:9", "host:9", "", False),
        ("grpc://host:9", "host:9", "", False),
        ("grpcs://host", "host:8001", "", True),
        ("http://host", "host:8001", "http://host:8000", False),
        ("https://host:9000/", "host:9001", "https://host:9000", True),
        ("grpc://[::1]:5", "[::1]:5", "", False),
    ],
)
def test_addresses(url: str, grpc: str, http: str, tls: bool) -> None:
    assert remote.endpoint_of(RemoteSettings(url=url)) == Endpoint(grpc, http, "", {}, tls, "")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({}, "No address of a remote Triton"),
        ({"url": "ftp://host"}, "no address of a Triton server"),
        ({"url": "grpc://host:eighty"}, "no address of a Triton server"),
        ({"url": "http://host/v2"}, "without a path"),
        ({"url": "grpc://"}, "no address of a Triton server"),
        ({"url": "grpcs://host", "ca_file": "/nowhere.pem"}, "/nowhere.pem does not exist"),
        ({"url": "grpc://host", "ca_file": __file__}, "without TLS"),
    ],
)
def test_wrong_addresses(wrong: dict[str, str], words: str) -> None:
    with pytest.raises(LaunchError, match=words):
        remote.endpoint_of(RemoteSettings(**wrong))


def test_tokens() -> None:
    def headers(**more: str) -> dict[str, str]:
        return remote.endpoint_of(RemoteSettings(url="host", **more)).headers

    assert headers() == {}
    assert headers(token="abc") == {"authorization": "Bearer abc"}
    assert headers(token="Basic abc") == {"authorization": "Basic abc"}
    assert headers(token="abc", header="X-Key") == {"x-key": "abc"}


@pytest.fixture
def shared(fresh_server: Callable[..., Any]) -> Any:
    """A server on loopback ports that demands a key: another user's, as it were."""
    return fresh_server(listen="tcp", models_source=MODELS)


def test_with_the_right_token(shared: Any) -> None:
    key = shared.endpoint.headers[KEY_HEADER]
    chosen = settings(url=shared.endpoint.grpc, token=key, header=KEY_HEADER)
    seen: list[str] = []
    with acquire(settings=chosen) as lease:  # type: ignore[attr-defined]
        lease.subscribe(lambda status: seen.append(str(status.state)))
        status = lease.wait_ready(30)
        assert status.models == {"counter": "READY", "relay": "READY"}
        assert status.endpoint.grpc == shared.endpoint.grpc
        with TritonClient(status.endpoint) as client:
            assert client.is_ready()
        # It goes away, and that is told.
        shared.lease.close()
        wait_for(lambda: lease.status().state is ServerState.FAILED, 30)
        assert "does not answer" in lease.status().message
    assert seen[0] == "ready"


def test_with_a_wrong_token(shared: Any) -> None:
    for more in ({}, {"token": "guess", "header": KEY_HEADER}):
        with (
            acquire(settings=settings(url=shared.endpoint.grpc, **more)) as lease,  # type: ignore[attr-defined]
            pytest.raises(LaunchError, match="refuses the access token"),
        ):
            lease.wait_ready(30)


def test_nobody_there(fresh_home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (port,) = free_ports(1)
    stored.save(settings(url=f"grpc://127.0.0.1:{port}"))
    assert main(["server", "start"]) == 1
    assert "does not answer; is it running" in capsys.readouterr().err
    assert main(["server", "status"]) == 1
    assert "failed: The Triton server at" in capsys.readouterr().out
    assert main(["chat", "你好"]) == 1


@pytest.fixture
def certificates(tmp_path: Path) -> Path:
    """``ca.pem``, and ``server.pem`` with ``server.key`` signed by it, for 127.0.0.1."""

    def openssl(*words: str) -> None:
        subprocess.run(["openssl", *words], cwd=tmp_path, check=True, capture_output=True)

    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=A test CA")
    openssl("req", *key, "-keyout", "server.key", "-out", "server.csr", "-subj", "/CN=localhost")
    (tmp_path / "names").write_text("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    sign = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-extfile", "names")
    openssl("x509", "-req", "-in", "server.csr", *sign, "-out", "server.pem")
    return tmp_path


@pytest.fixture
def tls_server(certificates: Path, tmp_path: Path) -> Iterator[Endpoint]:
    """A tritonserver with TLS on its gRPC port, started by hand."""
    folders = Folders(tmp_path / "run", tmp_path / "served")
    folders.run.mkdir()
    repository.render(
        folders.models,
        chat_model=tmp_path,
        address_model=tmp_path,
        run_dir=folders.run,
        source=MODELS,
    )
    wheel = find_triton()
    install_backends(wheel, folders)
    (port,) = free_ports(1)
    endpoint = Endpoint(f"127.0.0.1:{port}", f"unix:{folders.run}/h")
    command = tritonserver.arguments(
        str(wheel.binary), str(folders.models), str(folders.backends), endpoint, "test0008"
    )
    command += [
        "--grpc-use-ssl=true",
        f"--grpc-server-cert={certificates / 'server.pem'}",
        f"--grpc-server-key={certificates / 'server.key'}",
        # Read only without mutual TLS, and yet it must be there.
        f"--grpc-root-cert={certificates / 'ca.pem'}",
    ]
    with subprocess.Popen(
        command,
        cwd=folders.work,
        env=tritonserver.environment(wheel, "test0008"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        wait_for(lambda: health.is_live(endpoint), 60)
        for name in ("counter", "relay"):
            assert health.load_model(endpoint, name) == ""
        yield endpoint
        process.terminate()


def test_tls(tls_server: Endpoint, certificates: Path) -> None:
    url = f"grpcs://{tls_server.grpc}"
    ca_file = str(certificates / "ca.pem")
    with acquire(settings=settings(url=url, ca_file=ca_file)) as lease:  # type: ignore[attr-defined]
        status = lease.wait_ready(30)
        assert status.state is ServerState.READY
        with TritonClient(status.endpoint) as client:
            assert client.is_ready()
        assert status.to_json()["tls"] is True
    with (
        acquire(settings=settings(url=url)) as lease,  # type: ignore[attr-defined]
        pytest.raises(LaunchError, match=r"cannot be trusted.*CA file"),
    ):
        lease.wait_ready(30)
    with (
        acquire(settings=settings(url=f"grpc://{tls_server.grpc}")) as lease,  # type: ignore[attr-defined]
        pytest.raises(LaunchError, match=r"does not answer|speaks TLS"),
    ):
        lease.wait_ready(30)


def test_chat_through_a_remote_server(server: Any) -> None:
    """The application's own client, through the lease of a server it did not start."""
    with (
        acquire(settings=settings(url=server.endpoint.grpc)) as lease,  # type: ignore[attr-defined]
        TritonClient(lease.wait_ready(30).endpoint) as client,
    ):
        *_, finished = client.chat("你好")
    assert isinstance(finished, Finished)
    assert finished.reply
