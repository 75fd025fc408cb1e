"""Sampling parameters: the JSON object of a request, and a checkpoint's own defaults."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable

from server_bundle.chitchat.parameters import (
    InvalidParameter,
    SamplingParameters,
    generation_values,
    parse,
    parse_json,
)
from tests.fuzz.harness import allowed, json_or_deep, text

VOCABULARY, CONTEXT = 13088, 512
mutate = json_or_deep


def seeds() -> Iterable[bytes]:
    every = {
        "temperature": 0.7, "top_p": 0.9, "top_k": 40, "max_tokens": 64, "min_tokens": 2,
        "repetition_penalty": 1.1, "no_repeat_ngram_size": 4, "seed": 7, "logprobs": 5,
        "stop": ["。", "\n"], "cancel_key": "k",
    }  # fmt: skip
    yield b""
    yield json.dumps(every).encode()
    yield json.dumps({name: str(value) for name, value in every.items()}).encode()
    yield b'{"temperature": 0, "temperature": 1}'
    yield b'{"max_new_tokens": 30, "do_sample": false, "eos_token_id": [1, 2], "top_k": -1}'


def one(data: bytes) -> None:
    with allowed(InvalidParameter):
        values = parse_json(text(data))
        check(parse(values, SamplingParameters(), vocab_size=VOCABULARY, context=CONTEXT))
        told = generation_values(values)
        check(parse(told, SamplingParameters(), vocab_size=VOCABULARY, context=CONTEXT))


def check(found: SamplingParameters) -> None:
    assert 0 <= found.temperature <= 2
    assert 0 < found.top_p <= 1
    assert 0 <= found.top_k <= VOCABULARY
    assert 1 <= found.max_tokens <= CONTEXT
    assert 0 <= found.min_tokens <= found.max_tokens
    assert 0.1 <= found.repetition_penalty <= 2
    assert 0 <= found.no_repeat_ngram_size <= 16
    assert found.seed is None or 0 <= found.seed < 2**63
    assert 5 <= found.logprobs <= 20
    assert len(found.stop) <= 16
    assert all(1 <= len(stop) <= 64 for stop in found.stop)
    numbers = [value for value in vars(found).values() if isinstance(value, int | float)]
    assert all(math.isfinite(number) for number in numbers)
