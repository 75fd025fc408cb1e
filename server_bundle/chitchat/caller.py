"""Calls the engine from another Triton model (BLS) and passes a client's cancel on to it.

Imported inside a stub only.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from server_bundle.chitchat.cancel import CancelFlags
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.triton_io import Client

_POLL_SECONDS = 0.04
_KEEP_SECONDS = 2.0


class EngineFailed(Exception):
    """The engine answered with an error, or cannot be reached."""


@dataclass(frozen=True)
class Step:
    """One token as the engine sent it, or, in the last step, only the finish reason."""

    token: int | None
    confidence: float = 0.0
    probability: float = 0.0
    rank: int = 0
    top_ids: tuple[int, ...] = ()
    top_probabilities: tuple[float, ...] = ()
    finish_reason: str = ""


class EngineCaller:
    """Calls of one engine model, each in a worker thread of its own.

    Args:
        engine: the engine's model name.
        run_dir: the directory of the cancel flags, shared with the engine.
        workers: how many replies are fetched at once; further ones wait for a worker.
    """

    def __init__(self, engine: str, run_dir: Path, workers: int = 128) -> None:
        self.engine = engine
        self._flags = CancelFlags(run_dir)
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="reply")
        self._under_way: list[Client] = []  # once for each piece of work
        self._watched: dict[int, Client] = {}  # by flag index
        # Finished response iterators, kept for a while. A thread of the stub forgets an iterator a
        # moment after its last response; if it then holds the last reference, it frees Python's
        # tensors without the interpreter lock (Triton 24.10), and the stub dies some time later.
        self._spent: deque[tuple[float, Any]] = deque()
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._watcher = threading.Thread(target=self._watch, name="cancel-watch", daemon=True)
        self._watcher.start()

    def submit(self, client: Client, work: Callable[..., None], *arguments: Any) -> None:
        """Have a worker do ``work(client, *arguments)``, the answer to one request."""
        with self._lock:
            self._under_way.append(client)

        def answer() -> None:
            try:
                work(client, *arguments)
            finally:
                with self._lock:
                    self._under_way.remove(client)

        self._pool.submit(answer)

    def cancel(self, request_id: str) -> bool:
        """Take back the requests of that id, waiting or running; whether there was one."""
        with self._lock:
            found = [
                client
                for client in self._under_way
                if client.request_id == request_id and not client.has_ended
            ]
            for client in found:
                client.cancel()
            for index, client in self._watched.items():
                if client in found:
                    self._flags.cancel(index)
        return bool(found)

    def reply(
        self, ids: list[int], types: list[int], parameters: SamplingParameters, client: Client
    ) -> Iterator[Step]:
        """The steps of one reply, as the engine sends them; the last has a finish reason.

        Args:
            client: on whose behalf this is; when it goes away, the reply ends with ``cancelled``.

        Raises:
            EngineFailed: the engine refused the request or broke off.
        """
        try:
            yield from self._reply(ids, types, parameters, client)
        except EngineFailed as error:
            if "is not ready" not in str(error):
                raise
            self._load_engine()  # somebody unloaded it: nothing was answered yet
            yield from self._reply(ids, types, parameters, client)

    def _reply(
        self, ids: list[int], types: list[int], parameters: SamplingParameters, client: Client
    ) -> Iterator[Step]:
        index, key = self._flags.take()
        with self._lock:
            self._watched[index] = client
        responses = None
        exhausted = False
        ended = False
        try:
            responses = self._request(ids, types, parameters, key).exec(decoupled=True)
            for response in responses:
                if response.has_error():
                    raise EngineFailed(response.error().message())
                for step in _steps(response):
                    ended = ended or bool(step.finish_reason)
                    yield step
            exhausted = True
            if not ended:
                raise EngineFailed(f"{self.engine} broke off in the middle of a reply")
        except pb_utils.TritonModelException as error:
            raise EngineFailed(str(error)) from None
        finally:
            with self._lock:
                self._watched.pop(index, None)
            self._flags.cancel(index)  # whoever stops reading early does not want the rest
            if responses is not None:
                if not exhausted:
                    for _ in responses:
                        pass
                self._spent.append((time.monotonic(), responses))
            self._flags.give_back(index)

    def _request(
        self, ids: list[int], types: list[int], parameters: SamplingParameters, key: str
    ) -> Any:
        # Stop strings are looked for here, in text; the engine knows token ids only.
        values = {k: v for k, v in asdict(parameters).items() if v is not None and k != "stop"}
        values["cancel_key"] = key
        return pb_utils.InferenceRequest(
            model_name=self.engine,
            requested_output_names=[],
            inputs=[
                pb_utils.Tensor("INPUT__0", np.array(ids, np.int64)),
                pb_utils.Tensor("INPUT__1", np.ones(len(ids), np.int64)),
                pb_utils.Tensor("INPUT__2", np.array(types, np.int64)),
            ],
            parameters={"sampling_parameters": json.dumps(values)},
        )

    def _load_engine(self) -> None:
        try:
            if not pb_utils.is_model_ready(self.engine):
                pb_utils.load_model(self.engine)
        except Exception as error:
            raise EngineFailed(f"{self.engine} is not loaded and cannot be: {error}") from None

    def close(self) -> None:
        """Cancel everything under way and wait for the workers."""
        with self._lock:
            for index in self._watched:
                self._flags.cancel(index)
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._under_way.clear()  # of what no worker had begun
        self._stopped.set()
        self._watcher.join(timeout=5)
        self._flags.close()

    def _watch(self) -> None:
        while not self._stopped.wait(_POLL_SECONDS):
            self._look()

    def _look(self) -> None:
        # A function of its own: a client that a waiting loop still held in a variable would keep
        # its request, and with it this model, from being unloaded.
        while self._spent and self._spent[0][0] < time.monotonic() - _KEEP_SECONDS:
            self._spent.popleft()
        with self._lock:
            watched = list(self._watched.items())
        for index, client in watched:
            if client.is_cancelled():
                with self._lock:
                    if self._watched.get(index) is client:
                        self._flags.cancel(index)


def _steps(response: Any) -> Iterator[Step]:
    outputs = {t.name(): t.as_numpy() for t in response.output_tensors()}
    reason = ""
    if "FINISH_REASON" in outputs:
        reason = bytes(outputs["FINISH_REASON"][0]).decode()
    tokens = outputs.get("OUTPUT__0")
    n = 0 if tokens is None else len(tokens)
    if tokens is not None and n:
        top_ids = outputs["TOP_IDS"].reshape(n, -1).tolist()
        top_probabilities = outputs["TOP_PROBABILITIES"].reshape(n, -1).tolist()
        for i in range(n):
            yield Step(
                int(tokens[i]),
                float(outputs["OUTPUT__1"][i]),
                float(outputs["TOKEN_PROBABILITY"][i]),
                int(outputs["TOKEN_RANK"][i]),
                tuple(top_ids[i]),
                tuple(top_probabilities[i]),
                reason if i == n - 1 else "",
            )
    elif reason:
        yield Step(None, finish_reason=reason)
