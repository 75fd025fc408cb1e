"""The engine with the shipped network: batching changes nothing, nothing stops the others."""

from __future__ import annotations

import resource
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from server_bundle import process
from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.engine import Engine, QueueFull, Request
from server_bundle.chitchat.network import KVCache, NetworkConfig
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.prompt import PromptLayout
from tests.support.chat import MESSAGES, MODEL
from tests.support.engine import Collected

LAYOUT = PromptLayout.from_folder(MODEL)


@pytest.fixture(scope="module")
def network():  # type: ignore[no-untyped-def]
    network = load_network(MODEL)
    network.transpose_table()
    return network


@pytest.fixture
def make(network):  # type: ignore[no-untyped-def]
    engines = []

    def make(**settings: int) -> Engine:
        engine = Engine(network, LAYOUT.vocabulary, **{"slots": 4, **settings})
        engine.start()
        engines.append(engine)
        return engine

    yield make
    for engine in engines:
        engine.stop()


def request(
    text: str = "你好",
    sink: Collected | None = None,
    is_cancelled: Callable[[], bool] = lambda: False,
    **parameters: float,
) -> tuple[Request, Collected]:
    sink = sink or Collected()
    prompt = LAYOUT.encode([], text, 64)
    asked = Request(
        prompt.ids,
        prompt.types,
        prompt.reply_type,
        SamplingParameters(**parameters),  # type: ignore[arg-type]
        sink,
        is_cancelled,
    )
    return asked, sink


def endless(**parameters: float) -> dict[str, float]:
    return {"temperature": 1.0, "top_p": 1.0, "min_tokens": 400, "max_tokens": 400, **parameters}


def test_replies_do_not_depend_on_what_else_runs(make: Callable[..., Engine]) -> None:
    alone = []
    for i, text in enumerate(MESSAGES):
        asked, sink = request(text, seed=i)
        make().submit(asked)
        alone.append(sink.ids)
    engine = make(slots=3)
    sinks = []
    for i, text in enumerate(MESSAGES):
        for _ in range(3):
            asked, sink = request(text, seed=i)
            engine.submit(asked)
            sinks.append(sink)
    assert [sink.ids for sink in sinks] == [ids for ids in alone for _ in range(3)]
    assert {sink.end for sink in sinks} <= {"stop", "length"}


def test_more_requests_than_slots_come_in_their_order(make: Callable[..., Engine]) -> None:
    engine = make(slots=1)
    order: list[int] = []
    sinks = []
    for i in range(5):
        asked, sink = request(
            sink=Collected(lambda n, i=i: order.append(i) if n == 1 else None),  # type: ignore[misc]
            seed=1,
            max_tokens=5,
        )
        engine.submit(asked)
        sinks.append(sink)
    assert all(sink.ids for sink in sinks)
    assert order == sorted(order)


def test_a_cancelled_reply_ends_within_a_step_and_the_others_go_on(
    make: Callable[..., Engine],
) -> None:
    engine = make()
    stop = threading.Event()
    asked, cancelled = request(
        sink=Collected(lambda n: stop.set() if n == 5 else None),
        is_cancelled=stop.is_set,
        **endless(),
    )
    other_asked, other = request("今天好累啊", seed=3)
    engine.submit(asked)
    engine.submit(other_asked)
    assert len(cancelled.ids) == 5
    assert cancelled.end == "cancelled"
    alone_asked, alone = request("今天好累啊", seed=3)
    make().submit(alone_asked)
    assert other.ids == alone.ids


def test_a_waiting_request_can_be_cancelled(make: Callable[..., Engine]) -> None:
    engine = make(slots=1)
    stop = threading.Event()
    running, first = request(is_cancelled=stop.is_set, **endless())
    waiting, second = request(is_cancelled=lambda: True)
    engine.submit(running)
    engine.submit(waiting)
    assert second.ids == []
    assert second.end == "cancelled"
    assert not first.done.is_set()
    stop.set()
    assert first.ids


def test_one_more_than_the_queue_takes_is_refused_in_words(make: Callable[..., Engine]) -> None:
    engine = make(slots=1, queue_limit=2)
    stop = threading.Event()
    started = threading.Event()
    running, first = request(
        sink=Collected(lambda n: started.set()), is_cancelled=stop.is_set, **endless()
    )
    engine.submit(running)
    assert started.wait(30)
    for _ in range(2):
        engine.submit(request(max_tokens=1)[0])
    with pytest.raises(QueueFull, match="too many chats at once: 1 are being answered and 2 wait"):
        engine.submit(request()[0])
    stop.set()
    assert first.ids


def test_a_broken_sink_hurts_only_itself(make: Callable[..., Engine]) -> None:
    def broken(n: int) -> None:
        raise OSError("gone")

    engine = make()
    asked, _ = request(sink=Collected(broken), **endless())
    good_asked, good = request(seed=1)
    engine.submit(asked)
    engine.submit(good_asked)
    assert good.ids


def test_a_network_that_fails_fails_the_running_and_serves_the_next(
    make: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = make()
    decode = engine.network.decode
    calls = []

    def failing(*arguments: object) -> object:
        calls.append(1)
        if len(calls) == 3:
            raise RuntimeError("out of memory")
        return decode(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(engine.network, "decode", failing)
    asked, sink = request(**endless())
    engine.submit(asked)
    assert sink.done.wait(30)
    assert "out of memory" in sink.error
    asked, sink = request(max_tokens=3, min_tokens=3, seed=1)
    engine.submit(asked)
    assert len(sink.ids) == 3


def test_the_context_is_filled_to_its_end_and_no_further(make: Callable[..., Engine]) -> None:
    asked, sink = request("好" * 480, **endless())
    make().submit(asked)
    assert len(asked.ids) + len(sink.ids) == LAYOUT.context + 1  # the last one is not read again
    assert sink.end == "length"


def test_stopping_ends_what_runs_and_waits(network) -> None:  # type: ignore[no-untyped-def]
    engine = Engine(network, LAYOUT.vocabulary, slots=1)
    engine.start()
    sinks = []
    for _ in range(3):
        asked, sink = request(**endless())
        engine.submit(asked)
        sinks.append(sink)
    engine.stop()
    assert all(sink.done.is_set() and sink.end == "cancelled" for sink in sinks)
    with pytest.raises(QueueFull, match="unloaded"):
        engine.submit(request()[0])


def test_the_figures_add_up(make: Callable[..., Engine]) -> None:
    engine = make()
    sinks = []
    for i in range(6):
        asked, sink = request(seed=i, max_tokens=10)
        engine.submit(asked)
        sinks.append(sink)
    tokens = sum(len(sink.ids) for sink in sinks)
    engine.stop()
    assert engine.figures.tokens == tokens
    assert engine.figures.requests == engine.figures.first_tokens == 6
    assert engine.figures.prompt_tokens == 6 * 5
    assert engine.figures.running == engine.figures.waiting == engine.figures.cancelled == 0


def test_reserved_slots_cost_no_memory_until_they_are_used() -> None:
    def resident() -> int:
        words = Path("/proc/self/statm").read_text().split()
        return int(words[1]) * resource.getpagesize()

    config = NetworkConfig(99, 512, 256, 6, 4, 1024, 1e-5, False)
    before = resident()
    cache = KVCache(config, 64)
    assert len(cache.keys) * cache.keys[0].nbytes * 2 > 300 * 2**20
    assert resident() - before < 50 * 2**20
    assert not cache.keys[0].any()


def test_a_turn_admits_short_prompts_together_and_long_ones_one_by_one(network) -> None:  # type: ignore[no-untyped-def]
    """So many prompt tokens a turn: who streams already waits for no more."""
    for text, steps in (("你好", 1), ("好" * 150, 4)):
        engine = Engine(network, LAYOUT.vocabulary, slots=4)
        sinks = []
        for _ in range(4):
            asked, sink = request(text, **endless(max_tokens=2, min_tokens=2))
            engine.submit(asked)
            sinks.append(sink)
        engine.start()
        assert [len(sink.ids) for sink in sinks] == [2] * 4
        engine.stop()
        # The first token comes with the prompt, the second with a step.
        assert engine.figures.steps == steps


@pytest.mark.parametrize("everything", [True, False])
def test_first_tokens_are_sent_before_a_step_takes_every_core(
    network,  # type: ignore[no-untyped-def]
    everything: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []

    class Watched:
        config, wte, compute = network.config, network.wte, network.compute
        prefill = staticmethod(network.prefill)

        def decode(self, *arguments: object) -> torch.Tensor:
            order.append("step")
            return network.decode(*arguments)  # type: ignore[no-any-return]

    monkeypatch.setattr(process, "cores", lambda: 2)
    engine = Engine(
        Watched(),  # type: ignore[arg-type]
        LAYOUT.vocabulary,
        slots=2,
        threads=2 if everything else 1,
        pace=lambda: order.append("sent"),
    )
    engine.start()
    one, sink = request(sink=Collected(lambda n: order.append("token")), max_tokens=2, min_tokens=2)
    engine.submit(one)
    assert len(sink.ids) == 2
    engine.stop()
    first = ["token", "sent"] if everything else ["token"]
    assert order == [*first, "step", "sent", "token"]


def test_threads_are_those_of_the_engine_alone(make: Callable[..., Engine]) -> None:
    before = torch.get_num_threads()
    seen: list[int] = []
    asked, sink = request(sink=Collected(lambda n: seen.append(torch.get_num_threads())), seed=1)
    make(threads=3).submit(asked)
    assert sink.ids
    assert set(seen) == {3}
    torch.set_num_threads(before)
