"""How tokens arrive: one event each, evenly, also with many chats at once; and how they stop.

These are the promises whose bounds the contract itself states in time; speed is measured in
tests/benchmarks instead.
"""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, Sampling, Token
from tests.support.chat import ENDLESS, http_connection, metric, timed_reply, together

pytestmark = pytest.mark.triton

CHATS = 40


@pytest.fixture(scope="module")
def client(server: Any) -> Iterator[TritonClient]:
    with TritonClient(server.endpoint) as connection:
        yield connection


def long_reply(tokens: int, seed: int = 1) -> Sampling:
    return Sampling(
        max_tokens=tokens, seed=seed, no_repeat_ngram_size=0, min_tokens=tokens, **ENDLESS
    )


def test_64_tokens_arrive_as_64_events_with_even_gaps(client: TritonClient) -> None:
    attempts = []
    for seed in range(3):  # a shared machine may stall once; it does not stall three times running
        timed = timed_reply(client, "给我讲个故事吧", long_reply(64, seed))
        assert timed.error is None
        assert len(timed.times) == 64
        assert timed.finished is not None
        assert timed.finished.finish_reason == "length"
        p95 = float(np.percentile(timed.gaps, 95))
        attempts.append(p95 / statistics.median(timed.gaps))
    assert min(attempts) <= 3, attempts


def test_40_chats_at_once_stream_evenly(client: TritonClient) -> None:
    def run() -> tuple[float, float]:
        replies = together(
            [
                lambda seed=seed: timed_reply(client, "给我讲个故事吧", long_reply(64, seed))  # type: ignore[misc]
                for seed in range(CHATS)
            ]
        )
        assert all(r.error is None and len(r.times) == 64 for r in replies)
        # While all of them run, a chat's tokens come one by one: hardly any gap is (nearly) none,
        # as in a burst, and none is many times the usual one.
        begin = max(r.times[0] for r in replies)
        end = min(r.times[-1] for r in replies)
        gaps = [
            b - a
            for r in replies
            for a, b in zip(r.times, r.times[1:], strict=False)
            if begin <= a and b <= end
        ]
        usual = statistics.median(gaps)
        burst = sum(g < usual / 10 for g in gaps) / len(gaps)
        stall = float(np.percentile(gaps, 95)) / usual
        return burst, stall

    attempts = [run() for _ in range(2)]
    assert min(burst for burst, _ in attempts) < 0.05, attempts
    assert min(stall for _, stall in attempts) <= 3, attempts


def test_no_chat_of_many_starves(client: TritonClient) -> None:
    replies = together(
        [
            lambda seed=seed: timed_reply(client, "你好", long_reply(48, seed))  # type: ignore[misc]
            for seed in range(16)
        ]
    )
    durations = [r.times[-1] - r.times[0] for r in replies]
    assert max(durations) <= 1.5 * min(durations) + 0.2


# ---- stopping ----


def tokens_made(server: Any) -> float:
    return metric(server.endpoint, "tritalk_generated_tokens")


def stands_still(server: Any) -> bool:
    """Whether the engine makes no token between 0.2 s and 0.7 s from now."""
    time.sleep(0.2)
    before = tokens_made(server)
    time.sleep(0.5)
    return tokens_made(server) == before


def wait_for_tokens(server: Any, before: float, count: int = 10) -> None:
    end = time.monotonic() + 30
    while tokens_made(server) < before + count:
        assert time.monotonic() < end, "the engine makes no tokens"
        time.sleep(0.02)


@pytest.fixture
def idle(server: Any) -> float:
    """The token counter, once the engine is idle."""
    end = time.monotonic() + 30
    while metric(server.endpoint, "tritalk_running_requests"):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert stands_still(server)
    return tokens_made(server)


def test_stop_ends_the_computation(server: Any, client: TritonClient, idle: float) -> None:
    stream = client.chat("给我讲个故事吧", sampling=long_reply(480))
    events = iter(stream)
    received = [next(events) for _ in range(10)]
    stream.cancel()
    (finished,) = [e for e in events if not isinstance(e, Token)]
    assert isinstance(finished, Finished)
    assert finished.finish_reason == "cancelled"
    assert finished.tokens >= len(received)
    assert stands_still(server)
    assert tokens_made(server) < idle + 480


def test_stop_before_the_first_token(server: Any, client: TritonClient, idle: float) -> None:
    stream = client.chat("你好", sampling=long_reply(480))
    stream.cancel()
    (finished,) = list(stream)
    assert finished == Finished("cancelled", "", 0, 0, None, None)
    assert stands_still(server)


def test_a_closed_http_connection_ends_the_computation(server: Any, idle: float) -> None:
    connection = http_connection(server.endpoint)
    sampling = json.dumps({"max_tokens": 480, "min_tokens": 480, **ENDLESS})
    body = {"text_input": "你好", "stream": True, "sampling_parameters": sampling}
    connection.request(
        "POST", "/v2/models/ibuddha_chitchat_stream/generate_stream", json.dumps(body)
    )
    response = connection.getresponse()
    assert response.status == 200
    for _ in range(10):
        assert response.readline()
    connection.sock.close()
    response.close()
    connection.close()
    assert stands_still(server)
    assert tokens_made(server) < idle + 480


CLIENT = """
import json, sys
from desktop.triton.client import TritonClient
from desktop.triton.types import Endpoint, Sampling
sampling = Sampling(**json.loads(sys.argv[2]))
with TritonClient(Endpoint(sys.argv[1])) as client:
    for event in client.chat("你好", sampling=sampling):
        print(event, flush=True)
"""


def test_a_killed_client_ends_the_computation(server: Any, idle: float) -> None:
    sampling = json.dumps(long_reply(480).to_json())
    process = subprocess.Popen(
        [sys.executable, "-c", CLIENT, server.endpoint.grpc, sampling],
        stdout=subprocess.PIPE,
        env=os.environ,
    )
    assert process.stdout is not None
    for _ in range(10):
        assert process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert stands_still(server)
    assert tokens_made(server) < idle + 480
