"""Fixtures of the tests on a server's life and death, which use small models of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.triton.tiny import MODELS

ROOT = Path(__file__).resolve().parents[2]

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
