"""The guardian kills its own launch and nothing else; killed stubs are told from unloaded ones."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from desktop.launchers import guardian
from desktop.launchers.stubs import StubWatch, find_stubs, process_start, process_state
from desktop.launchers.tritonserver import outcome


@pytest.fixture
def sleeper() -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Starts processes that carry a launch id and sleep."""
    started: list[subprocess.Popen[bytes]] = []

    def start(launch_id: str, *command: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, guardian.LAUNCH_ID_VARIABLE: launch_id}
        started.append(subprocess.Popen(command or ("sleep", "300"), env=environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def region(launch_id: str, name: str) -> Path:
    path = guardian.SHARED_MEMORY / (guardian.shm_prefix(launch_id) + name)
    path.write_bytes(b"x")
    return path


def test_sweep_touches_only_its_own_launch(
    sleeper: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    mine, mine_too, other = (sleeper(i) for i in ("test0001", "test0001", "test00012"))
    wait_for(lambda: len(guardian.processes_of("test0001")) == 2)
    kept = region("test00012", "a")
    gone = region("test0001", "b")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "h").touch()
    try:
        guardian.sweep("test0001", [tmp_path / "run", tmp_path / "never there"])
        assert mine.wait(5) == mine_too.wait(5) == -signal.SIGKILL
        assert other.poll() is None
        assert not gone.exists()
        assert kept.exists()
        assert not (tmp_path / "run").exists()
    finally:
        kept.unlink()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_users_process_is_not_touched(
    sleeper: Callable[..., subprocess.Popen[bytes]],
) -> None:
    command = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "sleep", "300")
    theirs = sleeper("test0002", *command)
    wait_for(lambda: Path(f"/proc/{theirs.pid}").stat().st_uid == 65534)
    assert guardian.processes_of("test0002") == []


def ignores(pid: int, number: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigIgn"))
    return bool(int(mask, 16) >> (number - 1) & 1)


def test_guardian_acts_when_the_other_end_of_its_pipe_dies(
    sleeper: Callable[..., subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    victim = sleeper("test0003")
    (tmp_path / "run").mkdir()
    reading, writing = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", guardian.__file__, str(reading), "test0003", tmp_path / "run"],
        pass_fds=[reading],
    )
    os.close(reading)
    try:
        wait_for(lambda: ignores(process.pid, signal.SIGTERM))
        process.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        # Blocked, and not to be interrupted: the supervisor lives.
        assert victim.poll() is None
    finally:
        os.close(writing)
    assert victim.wait(5) == -signal.SIGKILL
    assert process.wait(5) == 0
    assert not (tmp_path / "run").exists()


@pytest.fixture
def stub(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A child that looks like a model's stub in the process list."""
    program = tmp_path / "triton_python_backend_stub"
    shutil.copy2(shutil.which("bash") or "/bin/bash", program)
    words = ["model.py", "region", "1", "1", "1", "dir", "336", "some_model_0_1", "DEFAULT"]
    process = subprocess.Popen([program, "-c", "sleep 300; true", *words])
    wait_for(lambda: find_stubs(os.getpid()) == {process.pid: "some_model"})
    yield process
    subprocess.run(["pkill", "-P", str(process.pid)], check=False)
    process.kill()
    process.wait()


def test_a_killed_stub_is_a_zombie_that_stays(stub: subprocess.Popen[bytes]) -> None:
    watch = StubWatch(os.getpid())
    watch.look_for_new()
    assert watch.killed() == []
    os.kill(stub.pid, signal.SIGKILL)
    wait_for(lambda: (process_state(stub.pid) or ("",))[0] == "Z")
    # The first look may have met a model that is being unloaded.
    assert watch.killed() == []
    assert watch.killed() == ["some_model"]
    assert process_start(stub.pid) is None


def test_a_stub_that_was_waited_for_is_no_dead_one(stub: subprocess.Popen[bytes]) -> None:
    watch = StubWatch(os.getpid())
    watch.look_for_new()
    os.kill(stub.pid, signal.SIGKILL)
    wait_for(lambda: (process_state(stub.pid) or ("",))[0] == "Z")
    assert watch.killed() == []
    stub.wait()
    assert watch.killed() == []
    assert watch.killed() == []


def test_a_process_is_named_by_its_number_and_start() -> None:
    assert process_start(os.getpid()) == process_start(os.getpid())
    assert process_start(2**22 + 1) is None
    assert process_state(2**22 + 1) is None


@pytest.mark.parametrize(
    ("returncode", "words"),
    [(-9, "was killed by SIGKILL"), (1, "ended with exit status 1"), (-99, "by signal 99")],
)
def test_ends_are_told_in_words(returncode: int, words: str) -> None:
    assert words in outcome(returncode)
