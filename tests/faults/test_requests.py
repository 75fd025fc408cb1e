"""Requests by a stranger's hand, of any shape, type and size: an error, and the server stays up."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from desktop.triton.client import TritonClient
from tests.support.chat import reply, stream

pytestmark = pytest.mark.triton

REQUESTS = 150
MODELS = {
    "ibuddha_chitchat": ("INPUT__0", "INPUT__1", "INPUT__2"),
    "ibuddha_chitchat_bls": ("INPUT__0", "INPUT__1", "INPUT__2"),
    "ibuddha_chitchat_stream": ("text_input", "history", "sampling_parameters", "stream"),
    "address_parser": ("text_input",),
    "multitask_model": ("input_ids", "segment_ids", "input_mask"),
}
TYPES: dict[str, type[np.generic]] = {
    "INT64": np.int64,
    "INT32": np.int32,
    "FP32": np.float32,
    "UINT8": np.uint8,
    "BOOL": np.bool_,
}
TEXTS = (b"", b"\xff\xfe", "你好".encode(), b"x" * 5000, b'{"temperature": 1e999}', b"[" * 400)
PARAMETERS: tuple[dict[str, Any], ...] = (
    {},
    {"temperature": "hot"},
    {"max_tokens": -1},
    {"sampling_parameters": "[1"},
    {"unknown": 7},
    {"cancel_key": "../../etc/passwd"},
)


def tensor(chance: random.Random, name: str) -> grpcclient.InferInput:
    shape = [chance.choice((0, 1, 2, 7, 600)) for _ in range(chance.choice((1, 1, 2, 2, 3)))]
    if np.prod(shape) > 5000:
        shape = shape[:1]
    if chance.random() < 0.35 or (name in ("text_input", "history") and chance.random() < 0.8):
        made = grpcclient.InferInput(name, shape, "BYTES")
        values = [chance.choice(TEXTS) for _ in range(int(np.prod(shape)))]
        made.set_data_from_numpy(np.array(values, np.object_).reshape(shape))
        return made
    kind = chance.choice(list(TYPES))
    made = grpcclient.InferInput(name, shape, kind)
    numbers = np.array(
        [chance.choice((0, 1, -1, 5, 13087, 13088, 2**31 - 1)) for _ in range(int(np.prod(shape)))]
    )
    made.set_data_from_numpy(numbers.astype(TYPES[kind]).reshape(shape))
    return made


def test_whatever_is_sent_the_server_stays_up(server: Any) -> None:
    chance = random.Random(5)
    pid, words, answered = server.status().pid, [], 0
    for _ in range(REQUESTS):
        model = chance.choice(list(MODELS))
        names = [name for name in MODELS[model] if chance.random() < 0.85]
        if chance.random() < 0.1:
            names.append("INPUT__9")
        chance.shuffle(names)  # the order is nobody's business
        try:
            stream(
                server.endpoint,
                model,
                [tensor(chance, name) for name in names],
                **chance.choice(PARAMETERS),
            )
            answered += 1
        except InferenceServerException as error:
            words.append(str(error.message()).strip())
    assert len(words) > REQUESTS / 2
    assert all(words), "an error without words"
    assert answered + len(words) == REQUESTS
    assert server.status().pid == pid, "the server went down and was started again"
    with TritonClient(server.endpoint) as client:
        assert reply(client, "你好", max_tokens=8)[1].tokens > 0
        assert client.parse(["杭州市西湖区文三路90号"])[0].division.city == "杭州市"
