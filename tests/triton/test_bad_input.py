"""What is sent that is wrong or odd: one clear sentence, and the server goes on."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from desktop.triton.client import TritonClient
from desktop.triton.types import InvalidInput, Sampling
from tests.support.chat import post, reply, stream

pytestmark = pytest.mark.triton

STREAM = "ibuddha_chitchat_stream"


@pytest.fixture(scope="module")
def client(server: Any) -> Iterator[TritonClient]:
    with TritonClient(server.endpoint) as connection:
        yield connection


@pytest.fixture(autouse=True)
def the_next_request_works(client: TritonClient) -> Iterator[None]:
    yield
    assert reply(client, "你好", max_tokens=2, seed=1)[1].tokens == 2


@pytest.mark.parametrize("text", ["", " ", "\n\t  \u3000", "\x00\x01\x1b", "\u200b\ufeff"])
def test_text_with_nothing_to_read(client: TritonClient, text: str) -> None:
    with pytest.raises(InvalidInput, match="the message is empty; write something first"):
        reply(client, text)


def test_10_000_characters(client: TritonClient) -> None:
    with pytest.raises(InvalidInput, match=r"10,000 characters; this model reads at most \d+"):
        reply(client, "好" * 10_000)


@pytest.mark.parametrize(
    "text",
    ["😀", "你好👋🏽再见", "\x07你\x1b[31m好\x00", "ﷺ𠮷☃", "<script>alert(1)</script>", "A" * 300],
)
def test_odd_text_gets_a_reply(client: TritonClient, text: str) -> None:
    tokens, finished = reply(client, text, seed=1, max_tokens=20)
    assert tokens
    assert "[UNK]" not in finished.reply


def test_text_that_is_no_utf8(client: TritonClient) -> None:
    with pytest.raises(InvalidInput, match="text_input is not valid UTF-8"):
        reply(client, "\ud800")


@pytest.mark.parametrize("turns", [1, 3])
def test_a_history_of_odd_length(client: TritonClient, turns: int) -> None:
    with pytest.raises(InvalidInput, match=f"in pairs, but it has {turns} turns"):
        reply(client, "你好", ["嗯"] * turns)


def test_a_history_with_an_empty_turn(client: TritonClient) -> None:
    with pytest.raises(InvalidInput, match="turn 2 of the history is empty"):
        reply(client, "你好", ["嗯", " "])


@pytest.mark.parametrize(
    ("sampling", "sentence"),
    [
        (Sampling(temperature=-0.1), "temperature must be from 0 to 2, not -0.1"),
        (Sampling(temperature=float("nan")), "temperature must be a number"),
        (Sampling(top_p=0), "top_p must be above 0 and at most 1, not 0"),
        (Sampling(top_k=-5), "top_k must be from -1 to 13088"),
        (Sampling(max_tokens=0), "max_tokens must be from 1 to 512"),
        (Sampling(max_tokens=100_000), "max_tokens must be from 1 to 512"),
        (Sampling(seed=-1), "seed must be from 0"),
        (Sampling(repetition_penalty=9), "repetition_penalty must be from 0.1 to 2"),
        (Sampling(no_repeat_ngram_size=99), "no_repeat_ngram_size must be from 0 to 16"),
    ],
)
def test_sampling_values_out_of_bounds(
    client: TritonClient, sampling: Sampling, sentence: str
) -> None:
    with pytest.raises(InvalidInput, match=sentence):
        list(client.chat("你好", sampling=sampling))


def tensor(name: str, kind: str, array: Any) -> grpcclient.InferInput:
    made = grpcclient.InferInput(name, list(array.shape), kind)
    made.set_data_from_numpy(array)
    return made


def string(name: str, *values: str) -> grpcclient.InferInput:
    return tensor(name, "BYTES", np.array([v.encode() for v in values], np.object_))


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ([], r"missing required input\(s\) \['text_input'\]"),
        ([string("text_input", "a", "b")], "shape"),
        ([tensor("text_input", "INT64", np.array([1]))], "INT64"),
        ([string("text_input", "好"), string("image", "x")], "reads text only"),
        ([string("text_input", "好"), string("sampling_parameters", "hot")], "JSON object"),
        ([string("text_input", "好"), string("sampling_parameters", '{"n": 2}')], '"n" is no'),
        (
            [
                string("text_input", "好"),
                tensor("stream", "BOOL", np.array([True])),
                tensor("exclude_input_in_output", "BOOL", np.array([False])),
            ],
            "exclude_input_in_output = false is not allowed",
        ),
        ([string("text_input", "好"), string("nonsense", "x")], "nonsense"),
        (
            [string("text_input", "好"), string("sampling_parameters", '{"cancel_key": "x:1"}')],
            "cancel_key",
        ),
    ],
)
def test_wrong_tensors(server: Any, inputs: list[Any], sentence: str) -> None:
    with pytest.raises(InferenceServerException, match=sentence):
        stream(server.endpoint, STREAM, inputs)


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "text_input"),
        ({"text_input": ""}, "empty"),
        ({"text_input": "好", "temprature": 1}, "temprature"),
        ({"text_input": "好", "temperature": "hot"}, "temperature must be a number"),
        ({"text_input": "好", "max_tokens": -1}, "max_tokens must be from 1"),
    ],
)
def test_wrong_json_over_http(server: Any, body: Any, sentence: str) -> None:
    status, text = post(server.endpoint, f"/v2/models/{STREAM}/generate", body)
    assert status == 400, text
    assert sentence in json.loads(text)["error"]
