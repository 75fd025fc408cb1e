"""The image by itself, as compose and Kubernetes run it, used as a remote server."""

from __future__ import annotations

import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from desktop import paths
from desktop.launchers import acquire
from desktop.launchers.base import ServerState
from desktop.launchers.docker_engine import Engine
from desktop.launchers.tritonserver import KEY_HEADER, free_ports
from desktop.settings import RemoteSettings, Settings
from desktop.triton.client import TritonClient
from desktop.triton.types import Finished
from tests.docker.conftest import ROOT, Image
from tests.triton.tiny import wait_for

pytestmark = [pytest.mark.docker, pytest.mark.slow]

KEY = "a-key-of-the-test"


def substituted(environment: dict[str, str]) -> dict[str, str]:
    """Values as compose gives them where nobody has set their variables: ``${NAME:-default}``."""
    return {
        name: re.sub(r"\$\{\w+:-([^}]*)\}", r"\1", str(value))
        for name, value in environment.items()
    }


@pytest.fixture
def deployed(engine: Engine, image: Image) -> Iterator[tuple[int, int, int, str]]:
    """Ports (HTTP, gRPC, metrics) and id of a container with the compose file's restrictions."""
    if not engine.shares_sockets:
        pytest.skip("the engine does not see this machine's folders")
    text = (ROOT / "server_bundle" / "deploy" / "compose.yaml").read_text()
    service = yaml.safe_load(text)["services"]["cpu"]
    ports = free_ports(3)
    models = paths.resources_dir() / "models"
    made = engine.api.create_container(
        image.tag,
        environment={**substituted(service["environment"]), "TRITALK_KEY": KEY},
        ports=[8000, 8001, 8002],
        user="1000:1000",
        host_config=engine.api.create_host_config(
            port_bindings={
                inside: ("127.0.0.1", port)
                for inside, port in zip((8000, 8001, 8002), ports, strict=True)
            },
            binds=[
                f"{models / 'chitchat-tiny'}:/weights/chat:ro",
                f"{models / 'address-tiny'}:/weights/address:ro",
            ],
            read_only=service["read_only"],
            cap_drop=service["cap_drop"],
            security_opt=["no-new-privileges"],
            tmpfs=dict(each.split(":") for each in service["tmpfs"]),
            shm_size=service["shm_size"],
        ),
    )["Id"]
    try:
        engine.api.start(made)
        yield (*ports, made)
    finally:
        print(engine.api.logs(made, tail=20).decode())
        engine.api.remove_container(made, force=True)


def ready(port: int) -> bool:
    try:
        address = f"http://127.0.0.1:{port}/v2/health/ready"
        return bool(urllib.request.urlopen(address, timeout=5).status == 200)
    except OSError:
        return False


def test_it_serves_the_same_models(
    deployed: tuple[int, int, int, str], engine: Engine, fresh_home: Path
) -> None:
    http, grpc, metrics, container = deployed
    # The probes of Kubernetes and compose send no key.
    wait_for(lambda: ready(http), 120)
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(f"http://127.0.0.1:{http}/v2/models/address_parser", timeout=5)
    remote = RemoteSettings(url=f"grpc://127.0.0.1:{grpc}", token=KEY, header=KEY_HEADER)
    with acquire("remote", settings=Settings(remote=remote)) as lease:  # type: ignore[attr-defined]
        status = lease.wait_ready(30)
        assert status.state is ServerState.READY
        assert len(status.models) == 5
        with TritonClient(status.endpoint) as client:
            *_, finished = client.chat("你好")
            parsed = client.parse(["杭州市余杭区文一西路969号3幢"])[0]
    assert isinstance(finished, Finished)
    assert finished.reply
    assert parsed.division.city == "杭州市"
    page = urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=5).read().decode()
    # What the autoscaler is fed with.
    for name in ("nv_inference_queue_duration_us", "nv_inference_request_success"):
        assert f'{name}{{model="address_parser"' in page
    assert "tritalk_waiting_requests{" in page
    # SIGTERM, as from a pod's end, is a proper end.
    engine.api.stop(container, timeout=30)
    assert engine.api.inspect_container(container)["State"]["ExitCode"] == 0
