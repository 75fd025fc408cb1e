"""More chats at once than the engine has slots: all are answered, in their order, and evenly."""

from __future__ import annotations

import shutil
import statistics
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from desktop.triton.client import TritonClient
from desktop.triton.types import Sampling
from server_bundle.repository import SOURCE
from tests.support.chat import ENDLESS, Timed, metric, timed_reply, together

pytestmark = pytest.mark.triton

CHATS, SLOTS, TOKENS = 64, 8, 24


def test_64_chats_on_8_slots_stream_evenly(
    tmp_path: Path, fresh_server: Callable[..., Any]
) -> None:
    for name in ("ibuddha_chitchat", "ibuddha_chitchat_stream"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SOURCE / name, tmp_path / "models" / name, ignore=ignored)
    config = tmp_path / "models" / "ibuddha_chitchat" / "config.pbtxt"
    more = f'parameters {{ key: "slots" value {{ string_value: "{SLOTS}" }} }}\n'
    config.write_text(config.read_text(encoding="utf-8") + more, encoding="utf-8")
    server = fresh_server(models_source=tmp_path / "models")

    running: list[float] = []
    waiting: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            running.append(metric(server.endpoint, "tritalk_running_requests"))
            waiting.append(metric(server.endpoint, "tritalk_waiting_requests"))

    with TritonClient(server.endpoint) as client:

        def chat(seed: int) -> Timed:
            sampling = Sampling(
                max_tokens=TOKENS, min_tokens=TOKENS, no_repeat_ngram_size=0, seed=seed, **ENDLESS
            )
            return timed_reply(client, "给我讲个故事吧", sampling)

        chat(0)
        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            replies = together([lambda seed=seed: chat(seed) for seed in range(CHATS)])  # type: ignore[misc]
        finally:
            over.set()
            watcher.join()

    assert [reply.error for reply in replies] == [None] * CHATS
    assert {len(reply.times) for reply in replies} == {TOKENS}
    assert max(running) == SLOTS
    assert max(waiting) > CHATS / 2
    # Once it has begun, a reply goes on token by token like every other.
    gaps = [gap for reply in replies for gap in reply.gaps]
    usual = statistics.median(gaps)
    assert float(np.percentile(gaps, 95)) <= 4 * usual
    assert sum(gap < usual / 10 for gap in gaps) < 0.1 * len(gaps)
    durations = [reply.times[-1] - reply.times[0] for reply in replies]
    assert max(durations) <= 1.5 * statistics.median(durations) + 0.2
    # The slots are filled again as they empty: the last reply begins no later than the sum of all
    # those before it would have it.
    begun = sorted(reply.times[0] for reply in replies)
    assert begun[-1] - begun[0] <= 1.5 * (CHATS / SLOTS) * statistics.median(durations)
