"""A real engine and the image built on it; what tests leave on the engine is an error."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from desktop import settings as stored
from desktop.launchers import acquire, docker_container, docker_engine, docker_image
from desktop.launchers.base import LaunchError
from desktop.launchers.docker_engine import Engine
from desktop.launchers.docker_image import Recipe
from desktop.launchers.docker_progress import Cancel, Progress
from desktop.launchers.lease import SupervisorLease
from desktop.launchers.supervised import stop_running
from desktop.settings import Settings
from tests.conftest import GONE_WITHIN, Server
from tests.triton.tiny import MODELS, wait_for

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def engine() -> Iterator[Engine]:
    """The engine that ``docker`` would use; without one the tests are skipped."""
    try:
        found = docker_engine.connect(timeout=60)
    except LaunchError as error:
        pytest.skip(f"no Docker engine: {error}")
    before = belongings(found.api)
    yield found
    # The engine may have been restarted by a test, so it is asked anew.
    found.close()
    found = docker_engine.connect(timeout=60)
    assert belongings(found.api) - before == set()
    found.close()


def belongings(api: Any) -> set[str]:
    """Containers, volumes and networks of the engine; on one that others may use meanwhile, only
    our containers."""
    if "TRITALK_TEST_ENGINE_PID" not in os.environ:
        label = {"label": docker_container.LABEL_APPLICATION}
        return {str(each["Names"]) for each in api.containers(all=True, filters=label)}
    names = {f"container {each['Names']}" for each in api.containers(all=True)}
    names |= {f"volume {each['Name']}" for each in api.volumes()["Volumes"] or []}
    return names | {f"network {each['Name']}" for each in api.networks()}


@dataclass
class Image:
    """The cpu image, and how its building went."""

    tag: str
    recipe: Recipe
    progress: list[Progress] = field(default_factory=list)


def recipe() -> Recipe:
    return Recipe(**stored.load().docker.recipe())


@pytest.fixture(scope="session")
def image(engine: Engine) -> Image:
    """Built now, from layers that the engine may have."""
    built = Image(recipe().tag, recipe())
    made = docker_image.build(engine.api, built.recipe, built.progress.append, Cancel())
    docker_image.remove_old(engine.api, built.tag)
    assert docker_image.exists(engine.api, built.tag) == made
    return built


@pytest.fixture
def lease(
    engine: Engine, image: Image, fresh_home: Path
) -> Iterator[Callable[..., SupervisorLease]]:
    """A factory of leases on a container with the two small models."""
    leases: list[SupervisorLease] = []

    def make(settings: Settings | None = None, **more: Any) -> SupervisorLease:
        more.setdefault("models_source", MODELS)
        made = acquire("docker", settings=settings or stored.load(), **more)
        assert isinstance(made, SupervisorLease)
        leases.append(made)
        return made

    yield make
    for each in leases:
        each.close()
    try:
        wait_for(lambda: containers(engine) == [], GONE_WITHIN)
        runs = fresh_home / "run"
        wait_for(
            lambda: not runs.exists() or {p.name for p in runs.iterdir()} <= {"lock"}, GONE_WITHIN
        )
    finally:
        for found in containers(engine):
            docker_container.remove(engine.api, found["Id"])


class ContainerServer(Server):
    """Its sockets have a folder of their own in the launch's."""

    def __init__(self, lease: SupervisorLease) -> None:
        super().__init__(lease)
        self.run = self.run.parent
        self.launch_id = self.run.name


@pytest.fixture
def container(lease: Callable[..., SupervisorLease]) -> Callable[..., Server]:
    """The same, ready: the server as other tests know it."""
    return lambda *arguments, **more: ContainerServer(lease(*arguments, **more))


def containers(engine: Engine) -> list[dict[str, Any]]:
    """The containers of this test's home."""
    return docker_container.of_owner(engine.api)


def the_container(engine: Engine) -> dict[str, Any]:
    (found,) = containers(engine)
    inspected: dict[str, Any] = engine.api.inspect_container(found["Id"])
    return inspected


HOLDER = """
import sys, time
from pathlib import Path
from desktop.launchers import acquire
lease = acquire("docker", models_source=Path(sys.argv[1]))
print(lease.wait_ready(120).pid, flush=True)
time.sleep(600)
"""


@pytest.fixture
def application(fresh_home: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts processes that lease the test's container, ready when they have printed a line."""
    started: list[subprocess.Popen[str]] = []

    def start(**environment: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(MODELS)],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        )
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().strip().isdigit()
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()
    # Only a test that failed leaves one that was to be kept.
    stop_running()


def seconds(action: Callable[[], Any]) -> float:
    begun = time.monotonic()
    action()
    return time.monotonic() - begun
