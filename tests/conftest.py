"""Fixtures every test may use: a home of the tests' own, and real servers in it."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import hypothesis
import pytest

from desktop import paths
from desktop.launchers import acquire, guardian, wire
from desktop.launchers.base import ServerStatus
from desktop.launchers.lease import SupervisorLease
from desktop.launchers.stubs import find_stubs, process_start
from desktop.triton.types import Endpoint

# Started in the background of a shell the tests would ignore Ctrl+C, and so would every program
# that they start, also those that are to be ended by it.
signal.signal(signal.SIGINT, signal.default_int_handler)

# `make soak` looks at many more examples than each run of the tests does.
hypothesis.settings.register_profile("soak", max_examples=5000, deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# How long a server may take to go where no test is about just that; a loaded machine is slow.
GONE_WITHIN = 15.0


class Server:
    """A leased server and a look behind it: its processes and whatever it keeps on the machine."""

    def __init__(self, lease: SupervisorLease) -> None:
        self.lease = lease
        self.lease.wait_ready(300)
        self.run = Path(self.endpoint.metrics.removeprefix("unix:")).parent
        self.launch_id = self.run.name
        self.home = Path(os.environ["TRITALK_HOME"])

    @property
    def endpoint(self) -> Endpoint:
        return self.lease.status().endpoint

    def status(self) -> ServerStatus:
        return self.lease.status()

    def wait_ready(self, timeout: float = 120.0) -> ServerStatus:
        return self.lease.wait_ready(timeout)

    @property
    def supervisor_pid(self) -> int:
        return int(json.loads((self.run / wire.LAUNCH_FILE).read_text())["supervisor"])

    def stub_pids(self, model: str) -> list[int]:
        return [pid for pid, name in find_stubs(self.status().pid).items() if name == model]

    def leftovers(self) -> list[str]:
        """Everything of this launch that still exists."""
        return leftovers(self.home, self.run)

    def wait_until_gone(self, seconds: float = GONE_WITHIN) -> list[str]:
        """What is left after at most ``seconds``; an empty list is what one wants."""
        return wait_until_gone(self.home, self.run, seconds)


def leftovers(home: Path, run: Path) -> list[str]:
    """Everything that still exists of the launch whose runtime folder is ``run``: processes,
    shared memory and folders."""
    found = [f"process {pid}" for pid in guardian.processes_of(run.name)]
    prefix = guardian.shm_prefix(run.name)
    found += [str(p) for p in guardian.SHARED_MEMORY.iterdir() if p.name.startswith(prefix)]
    served = home / "cache" / "launches" / run.name
    found += [str(folder) for folder in (run, served) if folder.exists()]
    return found


def wait_until_gone(home: Path, run: Path, seconds: float = GONE_WITHIN) -> list[str]:
    end = time.monotonic() + seconds
    while (found := leftovers(home, run)) and time.monotonic() < end:
        time.sleep(0.05)
    return found


@pytest.fixture(scope="session", autouse=True)
def tritalk_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """No test touches the person's own data, settings or server."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRITALK_HOME", str(home))
        yield home


@pytest.fixture(scope="session")
def server(tritalk_home: Path) -> Iterator[Server]:
    """The real server with the bundle's models, one for the whole session."""
    lease = acquire("embedded")
    assert isinstance(lease, SupervisorLease)
    running = Server(lease)
    supervisor = running.supervisor_pid
    yield running
    lease.close()
    assert running.wait_until_gone() == []
    end = time.monotonic() + GONE_WITHIN  # it ends a moment after its folders
    while process_start(supervisor) is not None and time.monotonic() < end:
        time.sleep(0.02)
    assert process_start(supervisor) is None


@pytest.fixture
def fresh_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home for this test alone, so that servers in it are no other test's."""
    home = tmp_path / "home"
    monkeypatch.setenv("TRITALK_HOME", str(home))
    assert paths.home() == home
    return home


@pytest.fixture
def fresh_server(fresh_home: Path) -> Iterator[Callable[..., Server]]:
    """A factory of leases on a server that this test may kill: ``fresh_server(listen=…,
    models_source=…)``. All servers of one test share its home, hence are the same while it runs."""
    servers: list[Server] = []

    def make(*, listen: str = "unix", models_source: Path | None = None) -> Server:
        lease = acquire("embedded", listen=listen, models_source=models_source)
        assert isinstance(lease, SupervisorLease)
        servers.append(Server(lease))
        return servers[-1]

    yield make
    for running in servers:
        running.lease.close()
    assert [running.wait_until_gone() for running in servers] == [[]] * len(servers)
