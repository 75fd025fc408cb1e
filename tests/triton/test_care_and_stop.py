"""On the real server: the fixed answer of care, stop strings, turns that did not fit."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

import pytest

from desktop.triton.client import TritonClient
from desktop.triton.types import InvalidInput
from server_bundle.chitchat import care
from tests.support.chat import post, reply

pytestmark = pytest.mark.triton

MODEL = "ibuddha_chitchat_stream"


@pytest.fixture(scope="module")
def client(server: Any) -> Iterator[TritonClient]:
    with TritonClient(server.endpoint) as connection:
        yield connection


def generate(server: Any, **body: Any) -> dict[str, Any]:
    status, answer = post(server.endpoint, f"/v2/models/{MODEL}/generate", body)
    assert status == 200, answer
    return cast(dict[str, Any], json.loads(answer))


def test_a_message_about_suicide_gets_the_fixed_answer(client: TritonClient) -> None:
    for seed in (1, 2):
        tokens, finished = reply(client, "我不想活了", ["你好", "你好呀"], seed=seed)
        assert finished.reply == care.ANSWER
        assert finished.finish_reason == "care"
        assert [t.token_id for t in tokens] == [-1]
        assert tokens[0].alternatives == ()
    assert reply(client, "笑死我了", max_tokens=5)[1].finish_reason in ("stop", "length")


def test_a_whole_reply_over_http_says_so_too(server: Any) -> None:
    answer = generate(server, text_input="I want to die", return_finish_reason=True)
    assert answer["text_output"] == "I want to die" + care.ANSWER_ENGLISH
    assert answer["finish_reason"] == "care"


def test_a_reply_ends_before_a_stop_string(client: TritonClient) -> None:
    tokens, whole = reply(client, "你好", temperature=0.0)
    assert len(tokens) > 6
    stop = whole.reply[3:5]
    assert whole.reply.index(stop) == 3
    tokens, finished = reply(client, "你好", temperature=0.0, stop=(stop,))
    assert finished.reply == whole.reply[:3] == "".join(t.text for t in tokens)
    assert finished.finish_reason == "stop"
    # A beginning that comes to nothing is held back and then sent, a token a response.
    tokens, finished = reply(client, "你好", temperature=0.0, stop=(whole.reply[3] + "〇",))
    assert finished.reply == whole.reply
    assert len(tokens) == whole.tokens


def test_stop_works_on_whole_replies_and_as_one_string(server: Any, client: TritonClient) -> None:
    whole = reply(client, "你好", temperature=0.0)[1].reply
    answer = generate(
        server,
        text_input="你好",
        exclude_input_in_output=True,
        return_finish_reason=True,
        sampling_parameters=json.dumps({"temperature": 0, "stop": whole[2]}),
    )
    assert answer["text_output"] == whole[: whole.index(whole[2])]
    assert answer["finish_reason"] == "stop"


@pytest.mark.parametrize("stop", [("",), ("x" * 65,), ("a",) * 17])
def test_wrong_stop_strings_are_refused(client: TritonClient, stop: tuple[str, ...]) -> None:
    with pytest.raises(InvalidInput, match="stop takes at most 16 strings of 1 to 64 characters"):
        reply(client, "你好", stop=stop)


def test_turns_that_do_not_fit_are_told(client: TritonClient) -> None:
    assert reply(client, "你好", ["在吗", "在的"], max_tokens=4)[1].dropped_turns == 0
    history = ["很长的一句话" * 20, "很长的回答" * 20] * 3
    assert reply(client, "你好", history, max_tokens=4)[1].dropped_turns == 2
