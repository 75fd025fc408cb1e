"""The client when the server is not there, or goes away in the middle."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from desktop.triton.client import TritonClient
from desktop.triton.types import Endpoint, Sampling, ServerUnavailable, Token

pytestmark = pytest.mark.triton


def test_no_server_at_all(tmp_path: Path) -> None:
    with TritonClient(Endpoint(f"unix:{tmp_path}/g:1")) as client:
        assert not client.is_ready()
        with pytest.raises(ServerUnavailable, match="does not answer; it may be restarting"):
            list(client.chat("你好"))
        with pytest.raises(ServerUnavailable, match="does not answer; it may be restarting"):
            client.parse(["杭州市"])


def test_a_server_killed_in_the_middle_of_a_reply(fresh_server: Callable[..., Any]) -> None:
    running = fresh_server()
    status = running.lease.wait_ready()
    sampling = Sampling(max_tokens=480, min_tokens=480, temperature=1.0, top_p=1.0)
    with TritonClient(status.endpoint) as client:
        received = []
        with pytest.raises(ServerUnavailable):  # noqa: PT012 - the error comes out of the loop
            for event in client.chat("你好", sampling=sampling):
                received.append(event)
                if len(received) == 10:
                    os.kill(status.pid, signal.SIGKILL)
        assert len(received) >= 10
        assert all(isinstance(event, Token) for event in received)
    end = time.monotonic() + 60
    while True:  # it is restarted; the next request works
        status = running.lease.wait_ready()
        try:
            with TritonClient(status.endpoint) as client:
                assert list(client.chat("你好", sampling=Sampling(max_tokens=2)))
                break
        except ServerUnavailable:
            assert time.monotonic() < end
            time.sleep(0.2)
