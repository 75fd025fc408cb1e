"""The whole engine on each device and in each precision: prefill, steps of a batch whose rows come
and go (CUDA graphs on a GPU), sampling. Judged by the probabilities it gives, against a network in
FP32 on the CPU that reads each finished reply in one go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch

from server_bundle.chitchat.causal import load_causal
from server_bundle.chitchat.checkpoint import load_network
from server_bundle.chitchat.engine import Engine, Request
from server_bundle.chitchat.folder import Vocabulary
from server_bundle.chitchat.opening import open_network
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.chitchat.sampling import Sampled
from tests.contract.test_causal_network import make
from tests.support.chat import MESSAGES, MODEL
from tests.support.engine import Collected

_GPU = (
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"),
)
PLACES = [
    pytest.param(None, "float32", 1e-3, id="cpu-float32"),
    pytest.param(None, "bfloat16", 0.05, id="cpu-bfloat16"),
    pytest.param(None, "int8", 0.1, id="cpu-int8"),
    pytest.param(0, "float32", 2e-3, id="gpu-float32", marks=_GPU),
    pytest.param(0, "bfloat16", 0.05, id="gpu-bfloat16", marks=_GPU),
    pytest.param(0, "float16", 0.02, id="gpu-float16", marks=_GPU),
]


def answer(engine: Engine, requests: Sequence[Request]) -> list[list[Sampled]]:
    """The replies of requests that come at once."""
    engine.start()
    try:
        for each in requests:
            engine.submit(each)
        return [each.sink.reply for each in requests]  # type: ignore[attr-defined]
    finally:
        engine.stop()


def assert_probabilities(reply: list[Sampled], logits: torch.Tensor, tolerance: float) -> None:
    """``logits`` ``[tokens, V]``: what each token of the reply was drawn from."""
    shares = logits.float().softmax(-1)
    for token, expected in zip(reply, shares, strict=True):
        assert token.probability == pytest.approx(float(expected[token.token]), abs=tolerance)
        told = dict(zip(token.top_ids, token.top_probabilities, strict=True))
        for i, share in told.items():
            assert share == pytest.approx(float(expected[i]), abs=tolerance)


@pytest.mark.parametrize(("gpu", "precision", "tolerance"), PLACES)
def test_the_shipped_model(gpu: int | None, precision: str, tolerance: float) -> None:
    layout = PromptLayout.from_folder(MODEL)
    network = open_network(MODEL, layout, precision, gpu)
    # Fewer slots than chats, lengths that differ: rows are filled, moved and left while others run.
    engine = Engine(network, layout.vocabulary, slots=3, context=layout.context)
    prompts = [layout.encode([], text, 64) for text in MESSAGES * 2]
    requests = [
        Request(
            prompt.ids,
            prompt.types,
            prompt.reply_type,
            SamplingParameters(seed=i, max_tokens=8 + 5 * i, temperature=0.9 if i % 2 else 0.0),
            Collected(),
        )
        for i, prompt in enumerate(prompts)
    ]
    reference = load_network(MODEL).eval()
    for prompt, reply in zip(prompts, answer(engine, requests), strict=True):
        ids = [*prompt.ids, *(t.token for t in reply)]
        types = [*(prompt.types or ()), *[prompt.reply_type] * len(reply)]
        assert reply
        with torch.inference_mode():
            logits = reference(torch.tensor([ids]), torch.tensor([types]))[0]
        assert_probabilities(reply, logits[len(prompt.ids) - 1 : -1], tolerance)


@pytest.mark.parametrize("kind", ["qwen3", "gemma3"])
@pytest.mark.parametrize(
    ("gpu", "precision", "tolerance"), [p for p in PLACES if "int8" not in p.id]
)
def test_a_model_of_transformers(
    kind: str, gpu: int | None, precision: str, tolerance: float, tmp_path: Path
) -> None:
    reference: Any = make(kind, tmp_path)
    device = "cpu" if gpu is None else f"cuda:{gpu}"
    network = load_causal(tmp_path, (2,), context=128, precision=precision, device=device)
    engine = Engine(
        network,  # type: ignore[arg-type]
        Vocabulary(211, 2, (0, 1)),
        slots=3,
        context=128,
        with_types=False,
    )
    generator = torch.Generator().manual_seed(5)
    prompts = [torch.randint(3, 211, (n,), generator=generator).tolist() for n in (3, 40, 17, 9)]
    requests = [
        Request(ids, None, 0, SamplingParameters(seed=i, max_tokens=6 + 7 * i), Collected())
        for i, ids in enumerate(prompts)
    ]
    for ids, reply in zip(prompts, answer(engine, requests), strict=True):
        assert reply
        with torch.inference_mode():
            logits = reference(torch.tensor([[*ids, *(t.token for t in reply)]])).logits[0]
        assert_probabilities(reply, logits[len(ids) - 1 : -1], tolerance)
