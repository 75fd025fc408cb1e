"""Replies that begin, end, are cut and are stopped beside each other are what each is alone.

Their tokens reach the stream model in common responses (server_bundle/chitchat/steps.py): none may
be lost, come twice, change places, or go to another reply.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest

from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, Sampling, Token
from tests.support.chat import MESSAGES, post, together

pytestmark = pytest.mark.triton

REPLIES, WORKERS, EACH = 24, 12, 20


def sampling(seed: int) -> Sampling:
    choose = random.Random(seed).choice
    return Sampling(
        temperature=1.0,
        top_p=0.95,
        seed=seed,
        max_tokens=choose([1, 5, 20, 60]),
        stop=choose([None, None, ("，",), ("的", "了")]),
        no_repeat_ngram_size=choose([0, 3]),
    )


def ask(client: TritonClient, seed: int, cut: int = 0) -> tuple[list[Token], str]:
    """The tokens and the finish reason; ``cut``: stopped when so many tokens have come."""
    history = ["嗯", "好的"] if seed % 3 == 0 else []
    stream = client.chat(MESSAGES[seed % len(MESSAGES)], history, sampling(seed))
    tokens = []
    for event in stream:
        if isinstance(event, Finished):
            return tokens, event.finish_reason
        tokens.append(event)
        if len(tokens) == cut:
            stream.cancel()
    raise AssertionError("a stream ends with Finished")


def assert_same(tokens: list[Token], alone: list[Token]) -> None:
    assert [(t.token_id, t.text) for t in tokens] == [(t.token_id, t.text) for t in alone]
    for name in ("confidence", "probability"):
        wanted = [getattr(t, name) for t in alone]
        assert [getattr(t, name) for t in tokens] == pytest.approx(wanted, abs=2e-4)


@pytest.fixture
def client(server: Any) -> Iterator[TritonClient]:
    with TritonClient(server.endpoint) as client:
        yield client


def test_each_reply_is_what_it_is_alone(server: Any, client: TritonClient) -> None:
    alone = [ask(client, seed) for seed in range(REPLIES)]
    assert {reason for _, reason in alone} == {"stop", "length"}

    def work(worker: int) -> int:
        chance = random.Random(worker)
        for _ in range(EACH):
            seed = chance.randrange(REPLIES)
            tokens, reason = alone[seed]
            way = chance.random()
            if way < 0.6:
                got, why = ask(client, seed)
                assert_same(got, tokens)
                assert why == reason
            elif way < 0.9 or seed % 3 == 0:
                cut = chance.randrange(1, 12)
                got, why = ask(client, seed, cut)
                assert len(got) >= min(cut, len(tokens))
                assert_same(got, tokens[: len(got)])
            else:
                body = {
                    "text_input": MESSAGES[seed % len(MESSAGES)],
                    "exclude_input_in_output": True,
                    "sampling_parameters": json.dumps(sampling(seed).to_json()),
                }
                path = "/v2/models/ibuddha_chitchat_stream/generate"
                status, answer = post(server.endpoint, path, body)
                assert status == 200, answer
                assert json.loads(answer)["text_output"] == "".join(t.text for t in tokens)
        return EACH

    done = together([partial(work, worker) for worker in range(WORKERS)])
    assert sum(done) == WORKERS * EACH
