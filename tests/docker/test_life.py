"""A container's life: reused, replaced, removed, adopted, and what comes after sudden deaths."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop import settings as stored
from desktop.cli.main import main
from desktop.launchers import acquire, current, docker_container, wire
from desktop.launchers.base import LaunchError, ServerState
from desktop.launchers.docker_engine import Engine
from desktop.launchers.lease import SupervisorLease
from desktop.settings import DockerSettings, Settings
from tests.conftest import Server
from tests.docker.conftest import Image, containers, seconds, the_container
from tests.triton.tiny import MODELS, Stream, numbers, wait_for

pytestmark = pytest.mark.docker

# The issue's own bound for a second start.
REUSED_WITHIN = 2.0


def supervisor_of(home: Path) -> int:
    (file,) = (home / "run").glob(f"*/{wire.LAUNCH_FILE}")
    return int(json.loads(file.read_text())["supervisor"])


def guardian_of(supervisor: int) -> int:
    found = subprocess.run(
        ["pgrep", "-P", str(supervisor), "-f", "guardian.py"],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(found.stdout.split()[0])


def with_docker(**more: str) -> Settings:
    return Settings(docker=DockerSettings(**{**vars(stored.load().docker), **more}))


def test_a_second_start_reuses_it(
    container: Callable[..., Server], lease: Callable[..., SupervisorLease], engine: Engine
) -> None:
    first = container()
    before = the_container(engine)["Id"]
    assert seconds(lambda: lease().wait_ready(60)) < REUSED_WITHIN
    assert the_container(engine)["Id"] == before
    assert numbers(first, "relay", 2) == [0, 1]


def test_other_settings_do_not_take_a_server_from_its_users(
    container: Callable[..., Server], lease: Callable[..., SupervisorLease]
) -> None:
    first = container()
    with pytest.raises(LaunchError, match=r"other settings is in use.*tritalk server stop"):
        lease(with_docker(memory="3g")).wait_ready(60)
    assert numbers(first, "relay", 2) == [0, 1]


def test_changed_settings_replace_a_kept_one(
    container: Callable[..., Server], engine: Engine
) -> None:
    first = container()
    first.lease.keep()
    first.lease.close()
    before = the_container(engine)
    second = container(with_docker(memory="3g"))
    after = the_container(engine)
    assert after["Id"] != before["Id"]
    assert after["HostConfig"]["Memory"] == 3 << 30
    assert after["Name"] == before["Name"]
    labels = [each["Config"]["Labels"]["tritalk.configuration"] for each in (before, after)]
    assert labels[0] != labels[1]
    assert numbers(second, "relay", 2) == [0, 1]


def test_kill_9_of_the_application_removes_it(
    application: Callable[..., subprocess.Popen[str]], engine: Engine, image: Image
) -> None:
    holder = application()
    assert the_container(engine)["State"]["Running"]
    holder.kill()
    wait_for(lambda: containers(engine) == [], 15)


def test_kept_running_it_is_adopted_after_kill_9_of_everything(
    application: Callable[..., subprocess.Popen[str]],
    engine: Engine,
    fresh_home: Path,
    image: Image,
    capsys: pytest.CaptureFixture[str],
) -> None:
    holder = application(TRITALK_KEEP_RUNNING="true")
    before = the_container(engine)["Id"]
    supervisor = supervisor_of(fresh_home)
    holder.kill()
    time.sleep(1)
    # The supervisor goes on, and so does the server.
    found = current()
    assert found is not None
    assert found.state is ServerState.READY
    os.kill(supervisor, signal.SIGKILL)
    time.sleep(2)
    assert the_container(engine)["Id"] == before
    assert the_container(engine)["State"]["Running"]
    assert main(["server", "status"]) == 1
    assert "waits to be taken over" in capsys.readouterr().out
    # Without a launcher being asked for, it is found all the same.
    adopted = acquire(models_source=MODELS)
    assert isinstance(adopted, SupervisorLease)
    assert seconds(lambda: adopted.wait_ready(60)) < REUSED_WITHIN
    assert adopted.status().launcher == "docker"
    assert the_container(engine)["Id"] == before
    stream = Stream(adopted, "relay", 3)
    assert stream.numbers() == [0, 1, 2]
    stream.close()
    adopted.close()
    time.sleep(1)
    # Once kept, always kept, until it is stopped.
    assert the_container(engine)["Id"] == before
    assert main(["server", "stop"]) == 0
    assert containers(engine) == []
    assert "stopped" in capsys.readouterr().out


def test_stop_removes_a_kept_one_without_supervisor(
    container: Callable[..., Server], engine: Engine, capsys: pytest.CaptureFixture[str]
) -> None:
    server = container()
    server.lease.keep()
    supervisor = server.supervisor_pid
    os.kill(supervisor, signal.SIGKILL)
    time.sleep(1)
    assert len(containers(engine)) == 1
    assert main(["server", "stop"]) == 0
    assert containers(engine) == []
    assert main(["server", "stop"]) == 1
    assert "no server is running" in capsys.readouterr().err


def test_kill_9_of_the_supervisor_removes_it(
    container: Callable[..., Server], engine: Engine
) -> None:
    server = container()
    os.kill(server.supervisor_pid, signal.SIGKILL)
    wait_for(lambda: containers(engine) == [], 15)
    wait_for(lambda: server.leftovers() == [], 15)
    assert server.status().state is ServerState.STOPPED


def test_the_next_start_removes_what_nobody_could_and_only_its_own(
    container: Callable[..., Server], engine: Engine, image: Image
) -> None:
    server = container()
    before = the_container(engine)["Id"]
    supervisor = server.supervisor_pid
    guardian = guardian_of(supervisor)
    # Stopped first, so that neither sees the other die.
    for number in (signal.SIGSTOP, signal.SIGKILL):
        os.kill(guardian, number)
        os.kill(supervisor, number)
    time.sleep(1)
    assert the_container(engine)["Id"] == before
    labels = {"tritalk.application": "tritalk", "tritalk.owner": "4242-somebody-else"}
    stranger = engine.api.create_container(image.tag, ["sleep", "1"], labels=labels)["Id"]
    try:
        again = container()
        assert the_container(engine)["Id"] != before
        assert server.leftovers() == []
        assert numbers(again, "relay", 2) == [0, 1]
        assert engine.api.inspect_container(stranger)["Id"] == stranger
    finally:
        engine.api.remove_container(stranger, force=True)


def test_a_container_killed_in_the_middle_of_a_stream(
    container: Callable[..., Server], engine: Engine
) -> None:
    server = container()
    stream = Stream(server, "relay", 1_000_000)
    assert stream.events.get(timeout=30) == 0
    engine.api.kill(the_container(engine)["Id"])
    with pytest.raises(Exception, match=r"Socket closed|failed to connect|reset"):
        stream.numbers()
    stream.close()
    wait_for(lambda: server.status().state is ServerState.STARTING)
    assert server.status().message == "restarting Triton: the container was killed"
    server.wait_ready()
    assert numbers(server, "relay", 2) == [0, 1]


def test_a_killed_model_process_inside_is_seen(container: Callable[..., Server]) -> None:
    server = container()
    (stub,) = server.stub_pids("counter")
    os.kill(stub, signal.SIGKILL)
    wait_for(lambda: "counter was killed" in server.status().message)
    server.wait_ready()
    assert numbers(server, "relay", 2) == [0, 1]


def test_a_container_removed_by_hand_comes_back(
    container: Callable[..., Server], engine: Engine
) -> None:
    server = container()
    engine.api.remove_container(the_container(engine)["Id"], force=True)
    wait_for(lambda: server.status().state is ServerState.STARTING)
    server.wait_ready()
    assert numbers(server, "relay", 2) == [0, 1]


@pytest.fixture
def dying_image(engine: Engine, image: Image) -> Iterator[str]:
    """An image whose tritonserver says something and ends."""
    script = "printf '#!/bin/sh\\necho error: out of order\\nexit 3\\n' > /tmp/t; chmod 755 /tmp/t"
    moved = f"{script}; cp /tmp/t /opt/tritonserver/bin/tritonserver"
    made = engine.api.create_container(image.tag, ["sh", "-c", moved], user="0:0")["Id"]
    engine.api.start(made)
    assert engine.api.wait(made)["StatusCode"] == 0
    engine.api.commit(made, "tritalk-test", "dying")
    engine.api.remove_container(made, force=True)
    yield "tritalk-test:dying"
    engine.api.remove_image("tritalk-test:dying")


def test_a_server_that_dies_during_its_start(
    lease: Callable[..., SupervisorLease], dying_image: str
) -> None:
    made = lease(with_docker(image=dying_image))
    with pytest.raises(
        LaunchError, match=r"failed 3 times in a row: .* exit status 3 \(error: out of order\)"
    ):
        made.wait_ready(60)


def test_an_image_without_a_server(lease: Callable[..., SupervisorLease], image: Image) -> None:
    made = lease(with_docker(image=image.recipe.base_image or "debian:bookworm-slim"))
    with pytest.raises(LaunchError, match=r"holds no Triton server.*tritalk server build"):
        made.wait_ready(60)


def test_embedded_takes_the_place_of_a_kept_container(
    container: Callable[..., Server], engine: Engine
) -> None:
    server = container()
    server.lease.keep()
    server.lease.close()
    with acquire("embedded", models_source=MODELS) as other:  # type: ignore[attr-defined]
        assert other.wait_ready(60).launcher == "embedded"
        assert containers(engine) == []
    wait_for(lambda: current() is None, 15)
    assert docker_container.owner()
