"""Helpers of the chat tests: the shipped model, requests by hand, events with their times."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tritonclient.grpc as grpcclient

from desktop.launchers.health import UnixConnection, request
from desktop.triton.chat_stream import ChatStream
from desktop.triton.client import TritonClient
from desktop.triton.types import Endpoint, Finished, Sampling, Token
from server_bundle.chitchat.prompt import Prompt

MODEL = Path(__file__).parents[2] / "resources" / "models" / "chitchat-tiny"
MESSAGES = ("你好", "今天好累啊", "我最近记性很差，怎么办呢？", "给我讲个笑话吧")
# Replies of exactly as many tokens as wanted, for tests of time: none of them stops early.
ENDLESS = {"temperature": 1.0, "top_p": 1.0}


def rectangle(prompts: Sequence[Prompt], pad: int) -> list[grpcclient.InferInput]:
    """Prompts as the three INT64 ``[B, L]`` inputs of the BLS model, padded on the right."""
    longest = max(len(p.ids) for p in prompts)
    arrays = [np.full((len(prompts), longest), pad, np.int64)]
    arrays += [np.zeros((len(prompts), longest), np.int64) for _ in range(2)]
    for i, prompt in enumerate(prompts):
        n = len(prompt.ids)
        arrays[0][i, :n] = prompt.ids
        arrays[1][i, :n] = 1
        arrays[2][i, :n] = prompt.types or 0
    return tensors(*arrays)


def tensors(*arrays: Any) -> list[grpcclient.InferInput]:
    """INT64 arrays as ``INPUT__0`` and so on."""
    inputs = []
    for i, array in enumerate(arrays):
        tensor = grpcclient.InferInput(f"INPUT__{i}", list(array.shape), "INT64")
        tensor.set_data_from_numpy(np.asarray(array, np.int64))
        inputs.append(tensor)
    return inputs


def stream(
    endpoint: Endpoint, model: str, inputs: list[grpcclient.InferInput], **parameters: Any
) -> list[Any]:
    """All responses of a decoupled model; raises what it answers as an error."""
    responses: queue.Queue[Any] = queue.Queue()
    with grpcclient.InferenceServerClient(endpoint.grpc) as client:
        client.start_stream(
            lambda result, error: responses.put(error or result),
            headers=endpoint.headers or None,
        )
        client.async_stream_infer(model, inputs, parameters=parameters or None)
        results = []
        while True:
            response = responses.get(timeout=60)
            if isinstance(response, Exception):
                raise response
            results.append(response)
            parameters_ = response.get_response().parameters
            if parameters_["triton_final_response"].bool_param:
                return results


def reply(
    client: TritonClient, text: str, history: Sequence[str] = (), **sampling: Any
) -> tuple[list[Token], Finished]:
    """A whole reply: its tokens and its end."""
    *tokens, finished = client.chat(text, history, Sampling(**sampling))
    assert isinstance(finished, Finished)
    return [t for t in tokens if isinstance(t, Token)], finished


@dataclass
class Timed:
    """When a reply was asked for and each of its tokens came, in seconds of the monotonic clock."""

    times: list[float]
    started: float = 0.0
    finished: Finished | None = None
    error: Exception | None = None

    @property
    def gaps(self) -> list[float]:
        return [b - a for a, b in zip(self.times, self.times[1:], strict=False)]


def timed_reply(client: TritonClient, text: str, sampling: Sampling) -> Timed:
    timed = Timed([], time.monotonic())
    try:
        for event in client.chat(text, sampling=sampling):
            if isinstance(event, Token):
                timed.times.append(time.monotonic())
            else:
                timed.finished = event
    except Exception as error:
        timed.error = error
    return timed


def cancel_at_once(stream: ChatStream) -> None:
    """Take a reply back at its first token; it must end as cancelled."""
    events = []
    for event in stream:
        events.append(event)
        stream.cancel()
    assert isinstance(events[-1], Finished)
    assert events[-1].finish_reason == "cancelled"


def together(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run calls at once, each in a thread; their results in order. Raises what a call raises."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [each.result() for each in [pool.submit(call) for call in calls]]


def http_connection(endpoint: Endpoint) -> UnixConnection:
    """A connection of one's own, for streams that are read or broken off by hand."""
    return UnixConnection(endpoint.http.removeprefix("unix:"), timeout=60)


def post(endpoint: Endpoint, path: str, body: Any) -> tuple[int, str]:
    """A JSON call over HTTP: status and body."""
    status, answer = request(endpoint.http, "POST", path, body=body, timeout=60)
    return status, answer.decode()


def metric(endpoint: Endpoint, name: str, model: str = "ibuddha_chitchat") -> float:
    """The value of one of the engine's metrics."""
    _, page = request(endpoint.metrics, "GET", "/metrics", timeout=60)
    text = page.decode()
    for line in text.splitlines():
        if line.startswith(f"{name}{{") and f'model="{model}"' in line:
            return float(line.rpartition(" ")[2])
    raise AssertionError(f"no metric {name}")
