"""Each way makes ``TOKENS`` tokens for a number of chats at once and says when each token came."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import torch
import tritonclient.grpc as grpcclient
from transformers import GPT2LMHeadModel
from transformers.generation.streamers import BaseStreamer

from desktop.triton.client import TritonClient
from desktop.triton.types import Endpoint, Sampling
from server_bundle.chitchat.network import KVCache
from server_bundle.chitchat.opening import open_network
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.prompt import Prompt, PromptLayout
from server_bundle.chitchat.sampling import RowState, sample
from tests.support.chat import rectangle, timed_reply, together

TOKENS = 64
#: 38 characters: with [CLS] and two speakers a history of about 40 tokens.
TEXT = "最近工作压力有点大，晚上总是睡不着，白天又没有精神，不知道该怎么办才好，你说呢？"
_SAMPLING: dict[str, Any] = {
    "temperature": 0.7,
    "top_p": 0.7,
    "min_tokens": TOKENS,
    "max_tokens": TOKENS,
}


@dataclass
class Run:
    """``times[i]``: when the tokens of chat ``i`` came, in seconds after it was begun."""

    times: list[list[float]] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def rate(self) -> float:
        """Tokens/s of all chats together."""
        return sum(map(len, self.times)) / self.seconds


Way = Callable[[int], Run]


def bare_loop(folder: Path, kind: str, layout: PromptLayout, prompt: Prompt) -> Way:
    """The network and the sampling alone, in this process: what serving can approach."""
    network = open_network(folder, layout, kind, None)
    ids, types = torch.tensor(prompt.ids), torch.tensor(prompt.types)

    def run(batch: int) -> Run:
        cache = KVCache(network.config, batch, dtype=network.compute)
        rows = [RowState(SamplingParameters(**_SAMPLING, seed=i), prompt.ids) for i in range(batch)]
        started = time.perf_counter()
        times = []
        with torch.inference_mode():
            logits = torch.stack(
                [network.prefill(ids, types, cache, slot) for slot in range(batch)]
            )
            for step in range(TOKENS):
                tokens = [s.token for s in sample(logits, rows, layout.vocabulary)]
                times.append(time.perf_counter() - started)
                for row, token in zip(rows, tokens, strict=True):
                    row.append(token)
                if step == TOKENS - 1:
                    break
                position = len(prompt.ids) + step
                logits = network.decode(
                    torch.tensor(tokens),
                    torch.full((batch,), prompt.reply_type),
                    torch.full((batch,), position),
                    position,
                    cache,
                )
        return Run([times] * batch, times[-1])

    return run


class _Clock(BaseStreamer):
    """Told of every step of ``generate``; the first call brings the prompt."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def put(self, value: torch.Tensor) -> None:
        self.times.append(time.perf_counter())

    def end(self) -> None:
        pass


def transformers_generate(folder: Path, dtype: torch.dtype, prompt: Prompt) -> Way:
    """transformers' ``generate`` with its cache, in this process, all chats as one batch."""
    model = GPT2LMHeadModel.from_pretrained(folder, dtype=dtype).eval()
    model.generation_config.no_repeat_ngram_size = 0

    def run(batch: int) -> Run:
        ids = torch.tensor([prompt.ids] * batch)
        clock = _Clock()
        started = time.perf_counter()
        model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=True,
            temperature=0.7,
            top_k=0,
            top_p=0.7,
            min_new_tokens=TOKENS,
            max_new_tokens=TOKENS,
            pad_token_id=1,
            streamer=clock if batch == 1 else None,  # it refuses batches
        )
        seconds = time.perf_counter() - started
        times = [t - started for t in clock.times[1:]] or [seconds] * TOKENS
        return Run([times] * batch, seconds)

    return run


def through_triton(client: TritonClient) -> Way:
    """Concurrent chats, each streamed over gRPC on a connection of its own."""

    def run(batch: int) -> Run:
        started = time.monotonic()
        sampling = [Sampling(**_SAMPLING, seed=i, no_repeat_ngram_size=0) for i in range(batch)]
        replies = together([partial(timed_reply, client, TEXT, s) for s in sampling])
        seconds = time.monotonic() - started
        for reply in replies:
            if reply.error is not None:
                raise reply.error
            assert len(reply.times) == TOKENS
        return Run([[t - reply.started for t in reply.times] for reply in replies], seconds)

    return run


def seed_loop(endpoint: Endpoint, prompt: Prompt) -> Way:
    """The original application's way: whole replies from a BLS loop without a cache."""

    def reply() -> float:
        with grpcclient.InferenceServerClient(endpoint.grpc) as connection:
            answer = connection.infer(
                "seed_chitchat_bls", rectangle([prompt], 1), headers=endpoint.headers or None
            )
        assert answer.as_numpy("OUTPUT__0").size == TOKENS
        return time.monotonic()

    def run(batch: int) -> Run:
        started = time.monotonic()
        ends = together([reply] * batch)
        return Run([[end - started] * TOKENS for end in ends], max(ends) - started)

    return run
