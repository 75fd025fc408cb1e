"""``ibuddha_chitchat``, the decoupled engine model, asked directly."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from server_bundle.chitchat.prompt import PromptLayout
from tests.support.chat import MODEL, stream, tensors

pytestmark = pytest.mark.triton


@pytest.fixture(scope="module")
def layout() -> PromptLayout:
    return PromptLayout.from_folder(MODEL)


def prompt(layout: PromptLayout, text: str = "你好") -> list[grpcclient.InferInput]:
    encoded = layout.encode([], text, 64)
    n = len(encoded.ids)
    padded = [*encoded.ids, layout.pad, layout.pad]
    types = [*(encoded.types or []), 0, 0]
    return tensors(np.array(padded), np.array([1] * n + [0, 0]), np.array(types))


def test_a_response_a_token_with_probabilities_and_alternatives(
    server: Any, layout: PromptLayout
) -> None:
    sampling = json.dumps({"max_tokens": 12, "min_tokens": 12, "seed": 1, "logprobs": 7})
    responses = stream(
        server.endpoint, "ibuddha_chitchat", prompt(layout), sampling_parameters=sampling
    )
    count = 0
    for response in responses:
        ids = response.as_numpy("OUTPUT__0")
        n = len(ids)
        count += n
        assert ids.dtype == np.int32
        for name in ("OUTPUT__1", "TOKEN_PROBABILITY"):
            values = response.as_numpy(name)
            assert values.dtype == np.float32
            assert values.shape == (n,)
            assert ((values > 0) & (values <= 1)).all()
        top = response.as_numpy("TOP_IDS").reshape(n, -1)
        shares = response.as_numpy("TOP_PROBABILITIES").reshape(n, -1)
        assert top.shape == shares.shape == (n, 8)
        for i in range(n):
            place = top[i].tolist().index(ids[i])
            assert shares[i, place] == response.as_numpy("TOKEN_PROBABILITY")[i]
            assert (np.diff(shares[i, :7]) <= 0).all()
            if place < 7:
                assert response.as_numpy("TOKEN_RANK")[i] == place + 1
    assert count == 12
    assert responses[-1].as_numpy("FINISH_REASON").tolist() == [b"length"]


def test_the_defaults_are_the_seeds(server: Any, layout: PromptLayout) -> None:
    ask = '{"seed": 3, "min_tokens": 64}'
    spelled = '{"seed": 3, "min_tokens": 64, "temperature": 0.7, "top_p": 0.7, "max_tokens": 64}'
    replies = [
        [
            int(t)
            for r in stream(
                server.endpoint, "ibuddha_chitchat", prompt(layout), sampling_parameters=s
            )
            for t in r.as_numpy("OUTPUT__0")
        ]
        for s in (ask, spelled)
    ]
    assert replies[0] == replies[1]
    assert len(replies[0]) == 64


def test_a_full_context_ends_the_reply_with_length(server: Any, layout: PromptLayout) -> None:
    ids = np.array([layout.cls, *[13086] * 500, 13087])
    types = np.array([0, *[13086] * 500, 13087])
    responses = stream(
        server.endpoint,
        "ibuddha_chitchat",
        tensors(ids, np.ones_like(ids), types),
        sampling_parameters='{"max_tokens": 64, "min_tokens": 64}',
    )
    made = sum(len(r.as_numpy("OUTPUT__0")) for r in responses)
    assert made == 512 - len(ids) + 1  # the last token needs no place of its own
    assert responses[-1].as_numpy("FINISH_REASON").tolist() == [b"length"]


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"sampling_parameters": '{"temperature": -1}'}, "temperature must be from 0 to 2"),
        ({"sampling_parameters": "[1]"}, "must be a JSON object"),
        ({"sampling_parameters": '{"top_q": 1}'}, "top_q"),
        ({"wat": 1}, "wat"),
        ({"sampling_parameters": '{"cancel_key": "../../etc/passwd:0"}'}, "cancel_key"),
        ({"sampling_parameters": '{"cancel_key": "cancel-0123456789abcdef:1"}'}, "unknown"),
    ],
)
def test_wrong_parameters_are_refused_in_words(
    server: Any, layout: PromptLayout, parameters: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(InferenceServerException, match=sentence):
        stream(server.endpoint, "ibuddha_chitchat", prompt(layout), **parameters)


def test_unequal_lengths_are_refused_and_the_next_request_works(
    server: Any, layout: PromptLayout
) -> None:
    with pytest.raises(InferenceServerException, match="same shape"):
        stream(
            server.endpoint,
            "ibuddha_chitchat",
            tensors(np.array([0, 8, 8]), np.array([1, 1]), np.array([0, 13086, 13086])),
        )
    assert stream(server.endpoint, "ibuddha_chitchat", prompt(layout))
