"""Two small models and what tests need to talk to them: ``counter`` streams, ``relay`` calls it."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tritonclient.grpc as grpcclient

MODELS = Path(__file__).parent / "models"
# The issue's own bound for what may be left after a kill.
KILL_WITHIN = 5.0


class Stream:
    """An open gRPC stream; what arrives is a number, None at its proper end, or an error."""

    def __init__(self, server: Any, model: str, count: int) -> None:
        self.events: queue.Queue[Any] = queue.Queue()
        self._client = grpcclient.InferenceServerClient(server.endpoint.grpc)
        self._client.start_stream(self._arrived, headers=server.endpoint.headers)
        self._client.async_stream_infer(model, [_count(count)], enable_empty_final_response=True)

    def _arrived(self, result: Any, error: Any) -> None:
        if error is not None:
            self.events.put(error)
            return
        number = result.as_numpy("NUMBER")
        if number is not None:
            self.events.put(int(number[0]))
        if result.get_response().parameters["triton_final_response"].bool_param:
            self.events.put(None)

    def numbers(self, timeout: float = 30.0) -> list[int]:
        """All numbers until the proper end; an error is raised."""
        found = []
        while (event := self.events.get(timeout=timeout)) is not None:
            if isinstance(event, Exception):
                raise event
            found.append(event)
        return found

    def close(self) -> None:
        self._client.stop_stream(cancel_requests=True)
        self._client.close()


def _count(number: int) -> grpcclient.InferInput:
    tensor = grpcclient.InferInput("COUNT", [1], "INT64")
    tensor.set_data_from_numpy(np.array([number], dtype=np.int64))
    return tensor


def numbers(server: Any, model: str, count: int) -> list[int]:
    stream = Stream(server, model, count)
    try:
        return stream.numbers()
    finally:
        stream.close()


def wait_for(condition: Callable[[], Any], seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"not within {seconds} seconds"
        time.sleep(0.05)
    return value
