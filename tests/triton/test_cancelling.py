"""Taking requests back: by their ids, which is how the client does it, and without traces."""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import tritonclient.grpc as grpcclient
from tritonclient.grpc._infer_stream import _InferStream

from desktop.triton.chat_stream import _rate
from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, InvalidInput, Sampling, Token
from tests.support.chat import ENDLESS, http_connection, metric, post, stream, together
from tests.triton.test_chat_stream import text_inputs
from tests.triton.tiny import wait_for

pytestmark = pytest.mark.triton

MODEL = "ibuddha_chitchat_stream"
GENERATE = f"/v2/models/{MODEL}/generate"
LONG = Sampling(max_tokens=480, min_tokens=480, no_repeat_ngram_size=0, **ENDLESS)


@pytest.fixture(scope="module")
def client(server: Any) -> Iterator[TritonClient]:
    with TritonClient(server.endpoint) as connection:
        yield connection


def idle(server: Any) -> bool:
    return metric(server.endpoint, "tritalk_running_requests") == 0


def cancel(server: Any, request_id: Any) -> str:
    body = {"text_input": "", "cancel_request_id": request_id}
    status, text = post(server.endpoint, GENERATE, body)
    assert status == 200, text
    return str(json.loads(text)["finish_reason"])


def test_a_stream_is_taken_back_by_its_id(server: Any) -> None:
    arrived: queue.Queue[Any] = queue.Queue()
    with grpcclient.InferenceServerClient(server.endpoint.grpc) as connection:
        connection.start_stream(lambda result, error: arrived.put(error or result))
        inputs = text_inputs(
            text_input="给我讲个故事吧",
            stream=True,
            return_finish_reason=True,
            sampling_parameters=json.dumps(LONG.to_json()),
        )
        connection.async_stream_infer(MODEL, inputs, request_id="story-1")
        for _ in range(5):
            assert arrived.get(timeout=30).as_numpy("finish_reason")[0] == b"None"
        assert cancel(server, "story-2") == "not_found"
        assert cancel(server, "story-1") == "cancelled"
        seen = 5
        while (response := arrived.get(timeout=30)).as_numpy("finish_reason")[0] == b"None":
            seen += 1
        assert response.as_numpy("finish_reason")[0] == b"cancelled"
        assert seen < 400
        assert cancel(server, "story-1") == "not_found"  # it has ended
        connection.stop_stream()
    wait_for(lambda: idle(server), 10)


def test_over_http_too(server: Any) -> None:
    connection = http_connection(server.endpoint)
    body = {
        "id": "by-http",
        "text_input": "你好",
        "stream": True,
        "return_finish_reason": True,
        "sampling_parameters": json.dumps(LONG.to_json()),
    }
    connection.request("POST", f"{GENERATE}_stream", json.dumps(body))
    response = connection.getresponse()
    assert response.readline().startswith(b"data: ")
    assert cancel(server, "by-http") == "cancelled"
    events = [json.loads(line[6:]) for line in response if line.startswith(b"data: ")]
    assert events[-1]["finish_reason"] == "cancelled"
    assert len(events) < 400
    connection.close()


def test_all_requests_of_one_id_are_taken_back_also_those_that_wait(server: Any) -> None:
    def ask(_: int) -> str:
        inputs = text_inputs(
            text_input="你好",
            stream=False,
            return_finish_reason=True,
            sampling_parameters=json.dumps(LONG.to_json()),
        )
        with grpcclient.InferenceServerClient(server.endpoint.grpc) as connection:
            answer: queue.Queue[Any] = queue.Queue()
            connection.start_stream(lambda result, error: answer.put(error or result))
            connection.async_stream_infer(MODEL, inputs, request_id="many")
            (reason,) = answer.get(timeout=60).as_numpy("finish_reason")
            connection.stop_stream()
            return str(reason.decode())

    before = metric(server.endpoint, "tritalk_requests")

    def take_back(_: int) -> str:
        wait_for(lambda: metric(server.endpoint, "tritalk_requests") >= before + 60, 30)
        return cancel(server, "many")

    calls = [lambda: ask(0)] * 60  # more than the engine has slots
    reasons = together([*calls, lambda: take_back(0)])
    assert reasons.count("cancelled") == 61


@pytest.mark.parametrize("wrong", [5, "", True])
def test_what_is_no_id_is_refused(server: Any, wrong: Any) -> None:
    status, text = post(server.endpoint, GENERATE, {"text_input": "", "cancel_request_id": wrong})
    assert status >= 400
    assert "cancel_request_id must be the id of a request" in text


def test_an_answer_of_its_own_even_where_the_id_is_its_own(server: Any) -> None:
    (response,) = stream(
        server.endpoint, MODEL, text_inputs(text_input="你好"), cancel_request_id="nobody"
    )
    assert response.as_numpy("finish_reason")[0] == b"not_found"
    assert response.as_numpy("text_output")[0] == b""


def test_the_client_never_breaks_a_call_off_and_leaves_no_thread(
    client: TritonClient, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Triton 24.10 may die of a call that is broken off, and tritonclient leaves a thread then."""
    broken_off = []
    close = _InferStream.close

    def record(self: Any, cancel_requests: bool = False) -> None:
        # It is also called for a stream that ended and is forgotten.
        broken_off.append(cancel_requests and self._response_iterator.is_active())
        close(self, cancel_requests)

    monkeypatch.setattr(_InferStream, "close", record)
    list(client.chat("你好", sampling=Sampling(max_tokens=4)))
    threads = threading.active_count()
    for after in range(1, 13):
        # To the end, cancelled, and left without a word, by turns.
        way = after % 3
        answer = client.chat("给我讲个故事吧", sampling=LONG if way else Sampling(max_tokens=4))
        events = iter(answer)
        received = [next(events) for _ in range(1 if way else 4)]
        assert all(isinstance(event, Token) for event in received)
        if way == 1:
            answer.cancel()
        if way == 2:
            events.close()  # type: ignore[attr-defined]
            continue
        *_, finished = events
        assert isinstance(finished, Finished)
        assert finished.finish_reason == ("cancelled" if way else "length")
    with pytest.raises(InvalidInput):
        list(client.chat(""))
    assert broken_off
    assert not any(broken_off)
    wait_for(lambda: threading.active_count() <= threads, 10)
    wait_for(lambda: idle(server), 10)


@pytest.mark.parametrize("taken", [3, 7, 8])
def test_cancelling_what_has_ended_takes_no_time(client: TritonClient, taken: int) -> None:
    """The final response waits in the client's queue, or was taken a moment ago."""
    eight = Sampling(max_tokens=8, min_tokens=8, no_repeat_ngram_size=0, seed=1, **ENDLESS)
    answer = client.chat("给我讲个故事吧", sampling=eight)
    events = iter(answer)
    for _ in range(taken):
        next(events)
    time.sleep(0.5)  # somebody slow, such as a busy window
    started = time.monotonic()
    answer.cancel()
    *_, finished = events
    assert isinstance(finished, Finished)
    assert time.monotonic() - started < 1


@pytest.mark.parametrize(
    ("tokens", "wait", "rest", "rate"),
    [(11, 0.1, 0.5, 20.0), (12, 0.127, 0.005, None), (1, 0.1, 0.0, None), (2, 0.0, 0.0, None)],
)
def test_the_rate_is_that_of_the_model(
    tokens: int, wait: float, rest: float, rate: float | None
) -> None:
    """On a busy machine all tokens may come at once, which is no 22,000 tokens a second."""
    assert _rate(tokens, wait, rest) == rate


def test_a_server_that_knows_no_taking_back_is_left_all_the_same(
    client: TritonClient, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    infer = grpcclient.InferenceServerClient.async_stream_infer

    def older(self: Any, *arguments: Any, **named: Any) -> None:
        if named.get("parameters"):
            named["parameters"] = {"unheard_of": 1}
        infer(self, *arguments, **named)

    monkeypatch.setattr(grpcclient.InferenceServerClient, "async_stream_infer", older)
    answer = client.chat("给我讲个故事吧", sampling=LONG)
    events = iter(answer)
    next(events)
    started = time.monotonic()
    answer.cancel()
    *_, finished = events
    assert isinstance(finished, Finished)
    assert finished.finish_reason == "cancelled"
    assert time.monotonic() - started < 10
    wait_for(lambda: idle(server), 10)
