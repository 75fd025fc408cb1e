"""Tokens per second of the shipped chat model: a bare loop, transformers, and through Triton.

All in one run on one machine, since only the ratios mean anything: the bare loop over the same
network with the same sampling is the limit that serving can approach.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import torch
from transformers import GPT2LMHeadModel

from desktop.launchers import acquire
from desktop.triton.client import TritonClient
from desktop.triton.types import Sampling
from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.network import KVCache
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.prompt import Prompt, PromptLayout
from server_bundle.chitchat.sampling import RowState, sample
from tests.support.chat import MODEL, timed_reply, together

TOKENS = 128
TEXT = "最近工作压力有点大，晚上总是睡不着"
_SAMPLING = {"temperature": 1.0, "top_p": 1.0, "min_tokens": TOKENS, "max_tokens": TOKENS}


def bare_loop(layout: PromptLayout, prompt: Prompt) -> Callable[[int], float]:
    """Tokens/s of ``batch`` replies by network and sampling alone."""
    network = load_network(MODEL)
    ids, types = torch.tensor(prompt.ids), torch.tensor(prompt.types)

    def run(batch: int) -> float:
        cache = KVCache(network.config, batch)
        rows = [RowState(SamplingParameters(**_SAMPLING, seed=i), prompt.ids) for i in range(batch)]
        with torch.inference_mode():
            for slot in range(batch):
                logits = network.prefill(ids, types, cache, slot)
            started = time.perf_counter()
            last = logits.expand(batch, -1)
            for step in range(TOKENS):
                tokens = [s.token for s in sample(last, rows, layout.vocabulary)]
                for row, token in zip(rows, tokens, strict=True):
                    row.append(token)
                position = len(prompt.ids) + step
                last = network.decode(
                    torch.tensor(tokens),
                    torch.full((batch,), prompt.reply_type),
                    torch.full((batch,), position),
                    position,
                    cache,
                )
        return batch * TOKENS / (time.perf_counter() - started)

    return run


def transformers_generate(prompt: Prompt) -> Callable[[int], float]:
    """Tokens/s of transformers' ``generate`` with its cache, in this process."""
    model = GPT2LMHeadModel.from_pretrained(MODEL, dtype=torch.float32).eval()
    model.generation_config.no_repeat_ngram_size = 0

    def run(batch: int) -> float:
        ids = torch.tensor([prompt.ids] * batch)
        started = time.perf_counter()
        model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            min_new_tokens=TOKENS,
            max_new_tokens=TOKENS,
        )
        return batch * TOKENS / (time.perf_counter() - started)

    return run


def through_triton(client: TritonClient) -> Callable[[int], float]:
    """Tokens/s of ``batch`` concurrent chats, streamed over gRPC."""

    def run(batch: int) -> float:
        started = time.perf_counter()
        replies = together(
            [
                lambda seed=seed: timed_reply(  # type: ignore[misc]
                    client, TEXT, Sampling(**_SAMPLING, seed=seed, no_repeat_ngram_size=0)
                )
                for seed in range(batch)
            ]
        )
        seconds = time.perf_counter() - started
        assert all(len(r.times) == TOKENS for r in replies)
        return batch * TOKENS / seconds

    return run


def main() -> None:
    torch.set_num_threads(1)
    layout = PromptLayout.from_folder(MODEL)
    prompt = layout.encode([], TEXT, TOKENS)
    lease = acquire("embedded")
    try:
        with TritonClient(lease.wait_ready().endpoint) as client:
            ways = {
                "bare loop": bare_loop(layout, prompt),
                "transformers generate": transformers_generate(prompt),
                "through Triton, streamed": through_triton(client),
            }
            print("| tokens/s (median of 5) | 1 chat | 8 chats |\n|---|---|---|")
            rates: dict[tuple[str, int], float] = {}
            for _ in range(2):  # a first round warms everything up
                samples: dict[tuple[str, int], list[float]] = {}
                for _ in range(5):  # interleaved, so that a busy moment hits all of them
                    for name, way in ways.items():
                        for batch in (1, 8):
                            samples.setdefault((name, batch), []).append(way(batch))
                rates = {key: statistics.median(values) for key, values in samples.items()}
            for name in ways:
                print(f"| {name} | {rates[name, 1]:.0f} | {rates[name, 8]:.0f} |")
            bare, ours = "bare loop", "through Triton, streamed"
            for batch in (1, 8):
                ratio = rates[ours, batch] / rates[bare, batch]
                print(f"ratio to the bare loop, {batch}: {ratio:.2f}")
    finally:
        lease.close()


if __name__ == "__main__":
    main()
