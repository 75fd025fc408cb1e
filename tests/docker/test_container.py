"""The container: what it serves, and how little it may do, read back from the engine."""

from __future__ import annotations

import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop import paths
from desktop import settings as stored
from desktop.launchers import docker_container
from desktop.launchers.base import ServerState
from desktop.launchers.docker_engine import Engine
from desktop.launchers.tritonserver import KEY_HEADER
from desktop.models import address
from desktop.settings import DockerSettings, Settings
from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, Sampling
from tests.conftest import Server
from tests.docker.conftest import the_container
from tests.support.address_checkpoints import seed_network, write_checkpoint
from tests.triton.tiny import numbers

pytestmark = pytest.mark.docker


@pytest.mark.slow
def test_a_chat_streams_and_an_address_is_parsed(container: Callable[..., Server]) -> None:
    status = container(models_source=None).status()
    assert status.state is ServerState.READY
    assert status.launcher == "docker"
    with TritonClient(status.endpoint) as client:
        *tokens, finished = client.chat("你好", sampling=Sampling(seed=1, max_tokens=20))
        parsed = client.parse(["杭州市余杭区文一西路969号3幢"])[0]
    assert isinstance(finished, Finished)
    assert len(tokens) == finished.tokens > 2
    assert "".join(token.text for token in tokens) == finished.reply
    assert finished.finish_reason in ("stop", "length")
    assert {"road", "roadno"} <= {entity.type for entity in parsed.entities}
    assert parsed.division.city == "杭州市"


@pytest.mark.slow
def test_a_model_of_ones_own_is_taken_up(container: Callable[..., Server], tmp_path: Path) -> None:
    endpoint = container(models_source=None).status().endpoint
    source = write_checkpoint(tmp_path / "own", seed_network(rope=True, areas=9))
    with TritonClient(endpoint) as client:
        before = client.parse(["杭州市余杭区文一西路969号3幢"])[0]
        said = address.import_model(str(source), "", lambda progress: None)
        assert said.endswith("The running server serves it now.")
        during = client.parse(["杭州市余杭区文一西路969号3幢"])[0]
        assert during.entities != before.entities  # random weights
        address.unuse("own")
        assert client.parse(["杭州市余杭区文一西路969号3幢"])[0].division == before.division


def test_restrictions(container: Callable[..., Server], engine: Engine) -> None:
    server = container()
    found = the_container(engine)
    host = found["HostConfig"]
    assert host["NetworkMode"] == "none"
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert "no-new-privileges" in host["SecurityOpt"]
    assert host["ReadonlyRootfs"] is True
    assert not host["Privileged"]
    assert host["ShmSize"] == 1 << 30
    assert host["RestartPolicy"]["Name"] == "no"
    assert not host["PortBindings"]
    limits = {each["Name"]: (each["Soft"], each["Hard"]) for each in host["Ulimits"]}
    assert limits["stack"] == (67108864, 67108864)
    assert limits.get("memlock", (-1, -1)) == (-1, -1)
    assert found["Config"]["User"] == docker_container.user_of(engine)
    writable = {m["Destination"]: m["Source"] for m in found["Mounts"] if m["RW"]}
    assert writable == {"/sockets": str(server.run / "t")}
    assert {m["Destination"] for m in found["Mounts"]} >= {"/models", "/sockets"}
    assert (server.run / "t").stat().st_mode & 0o777 == 0o700
    assert set(host["Tmpfs"]) == {"/tmp", "/run/tritalk"}
    assert host["LogConfig"]["Config"] == {"max-file": "2", "max-size": "1m"}
    labels = found["Config"]["Labels"]
    assert labels["tritalk.application"] == "tritalk"
    assert labels["tritalk.owner"] == docker_container.owner()
    assert labels["tritalk.launch"] == server.launch_id
    assert len(labels["tritalk.configuration"]) == 16


def test_what_the_restrictions_mean_inside(
    container: Callable[..., Server], engine: Engine
) -> None:
    container()
    inside = the_container(engine)["Id"]

    def run(*words: str) -> tuple[int, str]:
        made = engine.api.exec_create(inside, list(words))
        said = engine.api.exec_start(made["Id"]).decode()
        return engine.api.exec_inspect(made["Id"])["ExitCode"], said

    for path in ("/x", "/opt/tritonserver/x", "/models/x", "/opt/tritalk/server_bundle/x"):
        code, said = run("touch", path)
        assert (code, "Read-only file system" in said) == (1, True), said
    assert run("touch", "/tmp/x") == (0, "")
    code, said = run("cat", "/proc/net/dev")
    assert {line.split(":")[0].strip() for line in said.splitlines()[2:]} == {"lo"}
    capabilities = dict(
        line.split(":\t") for line in run("cat", "/proc/1/status")[1].splitlines() if ":\t" in line
    )
    assert int(capabilities["CapEff"], 16) == 0
    assert int(capabilities["CapBnd"], 16) == 0
    assert capabilities["NoNewPrivs"] == "1"
    assert capabilities["Uid"].split()[0] == docker_container.user_of(engine).split(":")[0]


def test_loopback_ports_with_a_key(container: Callable[..., Server], engine: Engine) -> None:
    server = container(listen="tcp")
    endpoint = server.endpoint
    bindings = the_container(engine)["HostConfig"]["PortBindings"]
    assert {each["HostIp"] for ports in bindings.values() for each in ports} == {"127.0.0.1"}
    assert numbers(server, "relay", 3) == [0, 1, 2]
    with pytest.raises(urllib.error.HTTPError, match=r"40[13]"):
        urllib.request.urlopen(f"{endpoint.http}/v2/health/ready", timeout=10)
    right = urllib.request.Request(f"{endpoint.http}/v2/health/ready", headers=endpoint.headers)
    assert urllib.request.urlopen(right, timeout=10).status == 200
    # Metrics cannot be restricted by Triton: they are on no port.
    assert endpoint.metrics.startswith("unix:")
    key = endpoint.headers[KEY_HEADER]
    log = (server.home / "logs" / "server.log").read_text()
    assert key not in log


def test_settings_reach_the_container(container: Callable[..., Server], engine: Engine) -> None:
    found = stored.load()
    server = container(
        Settings(
            device="cpu",
            instances={"counter": 2},
            docker=DockerSettings(**{**vars(found.docker), "memory": "2g"}),
        )
    )
    assert the_container(engine)["HostConfig"]["Memory"] == 2 << 30
    served = paths.launches_dir() / server.launch_id / "models"
    assert "kind: KIND_CPU count: 2" in (served / "counter" / "config.pbtxt").read_text()
    assert len(server.stub_pids("counter")) == 2
    assert numbers(server, "relay", 3) == [0, 1, 2]


def test_its_log_is_ours(container: Callable[..., Server]) -> None:
    server = container()
    log = (server.home / "logs" / "server.log").read_text()
    assert "successfully loaded 'counter'" in log
