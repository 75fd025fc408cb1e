"""Processes that are killed, suspended or interrupted at any stage: nothing is left behind."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop.launchers import guardian
from desktop.launchers.base import ServerState
from desktop.launchers.stubs import find_stubs
from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, Sampling, TritalkError
from tests.conftest import leftovers

pytestmark = pytest.mark.triton

ROOT = Path(__file__).resolve().parents[2]
ADDRESS = "杭州市西湖区文三路90号"


def works(server: Any, seconds: float = 90.0) -> None:
    """Waits until both a chat and an address are answered."""
    end = time.monotonic() + seconds
    while True:
        try:
            with TritonClient(server.wait_ready(seconds).endpoint) as client:
                *_, last = client.chat("你好", sampling=Sampling(max_tokens=4))
                assert isinstance(last, Finished)
                assert client.parse([ADDRESS])[0].division.city == "杭州市"
            return
        except TritalkError:
            if time.monotonic() > end:
                raise
            time.sleep(0.3)


def test_each_models_process_may_be_killed(fresh_server: Callable[..., Any]) -> None:
    """The engine's and the stream model's in mid-stream are in tests/triton/test_kills.py."""
    server = fresh_server()
    for model in ("address_parser", "multitask_model", "ibuddha_chitchat_bls"):
        works(server)
        (stub,) = server.stub_pids(model)
        os.kill(stub, signal.SIGKILL)
        works(server)
    assert server.status().state is ServerState.READY


def test_a_suspended_machine_goes_on_where_it_was(fresh_server: Callable[..., Any]) -> None:
    """Everything of the server stopped for a quarter of a minute in mid-reply, as suspend does."""
    server = fresh_server()
    pid = server.status().pid
    with TritonClient(server.endpoint) as client:
        stream = iter(
            client.chat(
                "你好",
                sampling=Sampling(min_tokens=200, max_tokens=200, temperature=1.0, top_p=1.0),
            )
        )
        tokens = [next(stream) for _ in range(5)]
        processes = [server.supervisor_pid, *guardian.processes_of(server.launch_id)]
        assert set(find_stubs(pid)) < set(processes)
        for process in processes:
            os.kill(process, signal.SIGSTOP)
        time.sleep(15)
        for process in processes:
            os.kill(process, signal.SIGCONT)
        *rest, finished = stream
        assert isinstance(finished, Finished)
        assert finished.tokens == 200 == len(tokens) + len(rest)
    works(server)
    assert server.status().pid == pid


@pytest.fixture
def command(fresh_home: Path) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "desktop", *words],
                cwd=ROOT,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )
        return started[-1]

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.wait()


def all_leftovers(home: Path) -> list[str]:
    runs = [path for path in (home / "run").glob("*") if path.is_dir()]
    served = [path.name for path in (home / "cache" / "launches").glob("*")]
    found = [each for run in runs for each in leftovers(home, run)]
    return found + served


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_launch_interrupted_at_any_stage_leaves_nothing(
    command: Callable[..., subprocess.Popen[bytes]], fresh_home: Path, number: signal.Signals
) -> None:
    """From before the supervisor is there until the models load."""
    for seconds in (0.2, 0.7, 1.5, 3.0):
        process = command("chat", "你好")
        time.sleep(seconds)
        process.send_signal(number)
        process.wait(15)
        end = time.monotonic() + 20
        while all_leftovers(fresh_home) and time.monotonic() < end:
            time.sleep(0.1)
        assert all_leftovers(fresh_home) == [], f"after {seconds} s"


def test_two_commands_at_once_share_one_server(
    command: Callable[..., subprocess.Popen[bytes]], fresh_home: Path
) -> None:
    both = [command("chat", "--max-tokens", "4", "你好"), command("parse", ADDRESS)]
    seen: set[str] = set()
    while any(process.poll() is None for process in both):
        seen |= {path.name for path in (fresh_home / "run").glob("*") if path.is_dir()}
        time.sleep(0.05)
    assert [process.returncode for process in both] == [0, 0]
    assert len(seen) == 1
    end = time.monotonic() + 20
    while all_leftovers(fresh_home) and time.monotonic() < end:
        time.sleep(0.1)
    assert all_leftovers(fresh_home) == []
