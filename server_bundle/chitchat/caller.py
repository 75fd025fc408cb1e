"""Calls the engine from another Triton model (BLS) and passes a client's cancel on to it.

Imported inside a stub only.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from server_bundle.chitchat.cancel import CancelFlags
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.steps import Inbox, Step, unpack
from server_bundle.chitchat.triton_io import Client

# Each look at a client is a round trip that stalls the engine; who takes a request back by
# ``cancel_request_id`` does not wait for it. Of many clients only a few are looked at in one go.
_POLL_SECONDS = 0.1
_AT_LEAST = 2
_ROUNDS = 8
_KEEP_SECONDS = 2.0
# How long the end of a reply may wait for steps that came with other replies' responses.
_STRAGGLERS_SECONDS = 30.0


class EngineFailed(Exception):
    """The engine answered with an error, or cannot be reached."""


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
        self._replies: dict[int, tuple[Client, Inbox]] = {}  # by flag index
        self._looked = 0  # at so many clients
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
            for index, (client, _) in self._replies.items():
                if client in found:
                    self._flags.cancel(index)
        return bool(found)

    def reply(
        self,
        ids: list[int],
        types: list[int],
        parameters: SamplingParameters,
        client: Client,
        take: Callable[[Step], object],
    ) -> None:
        """Have the engine make one reply; returns when it has ended.

        Args:
            client: on whose behalf this is; when it goes away, the reply ends with ``cancelled``.
            take: gets the steps in their order, the last of which has a finish reason, from this
                thread or another that brings them; true when it wants no more.

        Raises:
            EngineFailed: the engine refused the request or broke off.
            Exception: what ``take`` raised.
        """
        request = partial(self._request, ids, types, parameters)
        try:
            self._reply(request, client, take)
        except EngineFailed as error:
            if "is not ready" not in str(error):
                raise
            self._load_engine()  # somebody unloaded it: nothing was answered yet
            self._reply(request, client, take)

    def _reply(
        self, request: Callable[[str], Any], client: Client, take: Callable[[Step], object]
    ) -> None:
        """:meth:`reply` once; ``request`` makes the request of a cancel key."""
        index, key = self._flags.take()
        inbox = Inbox(take, enough=lambda: self._flags.cancel(index))
        with self._lock:
            self._replies[index] = client, inbox
        responses = None
        refused = ""
        ended = False
        try:
            responses = request(key).exec(decoupled=True)
            # To the end in any case, since they bring other replies' steps as well.
            for response in responses:
                if response.has_error():
                    refused = refused or response.error().message()
                else:
                    ended = self._hand_out(response) or ended
            if ended and not refused:
                ended = inbox.wait(_STRAGGLERS_SECONDS)
        except pb_utils.TritonModelException as error:
            refused = str(error)
        finally:
            with self._lock:
                self._replies.pop(index, None)
            self._flags.cancel(index)
            if responses is not None:
                self._spent.append((time.monotonic(), responses))
            self._flags.give_back(index)
        if inbox.error is not None:
            raise inbox.error
        if refused:
            raise EngineFailed(refused)
        if not ended:
            raise EngineFailed(f"{self.engine} broke off in the middle of a reply")

    def _hand_out(self, response: Any) -> bool:
        """Give the steps in a response of the engine to whom they belong; whether it was the end of
        the reply that it answers."""
        outputs = {t.name(): t.as_numpy() for t in response.output_tensors()}
        reason = ""
        if "FINISH_REASON" in outputs:
            reason = bytes(outputs["FINISH_REASON"][0]).decode()
        if "STEPS" in outputs:
            for index, place, step in unpack(outputs["STEPS"].tolist(), reason):
                if (reply := self._replies.get(index)) is not None:
                    reply[1].put(place, step)
        return bool(reason)

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
            for index in self._replies:
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
            replies = list(self._replies.items())
        count = min(len(replies), max(_AT_LEAST, math.ceil(len(replies) / _ROUNDS)))
        due = [replies[(self._looked + i) % len(replies)] for i in range(count)]
        self._looked += count
        for index, reply in due:
            if reply[0].is_cancelled():
                with self._lock:
                    if self._replies.get(index) is reply:
                        self._flags.cancel(index)
