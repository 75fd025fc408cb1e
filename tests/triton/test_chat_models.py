"""What the window asks of a chat model beyond a reply: its limits, an opening, an honest seam."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from desktop.store.records import DEFAULT_SETTINGS, opening_turns
from desktop.triton.client import TritonClient
from desktop.triton.models import DEFAULT, chat_models, is_ready
from desktop.triton.types import InvalidInput, Sampling, ServerUnavailable, Token
from server_bundle.chitchat.prompt import PromptLayout
from tests.support.chat import MODEL

pytestmark = pytest.mark.triton


@pytest.fixture(scope="module")
def client(server: Any) -> Iterator[TritonClient]:
    with TritonClient(server.endpoint) as one:
        yield one


def test_a_model_tells_its_limits_and_defaults(client: TritonClient, server: Any) -> None:
    layout = PromptLayout.from_folder(MODEL)
    limits = client.limits()
    assert limits is not None
    assert limits.context_tokens == layout.context
    assert limits.vocabulary_size == len(layout.tokens)
    told = {k: v for k, v in vars(limits.defaults).items() if v is not None}
    shown = {k: v for k, v in vars(DEFAULT_SETTINGS.sampling).items() if v is not None}
    assert {name: told[name] for name in shown} == shown
    with pytest.raises(ServerUnavailable):
        client.limits("nobody_stream")


def test_the_default_model_is_among_those_that_are_served(server: Any) -> None:
    models = server.status().models
    assert chat_models(models) == [DEFAULT]
    assert is_ready(models, "")


def reply(client: TritonClient, *args: Any, **more: Any) -> tuple[list[Token], int]:
    *tokens, ended = client.chat(*args, **more)
    return tokens, ended.num_input_tokens


def test_an_opening_is_read_before_the_history(client: TritonClient) -> None:
    greedy = Sampling(temperature=0.0, max_tokens=12)
    opening = opening_turns("我是一只猫\n喵")
    told = reply(client, "你好", ("累吗", "不累"), greedy, opening=opening)
    assert told == reply(client, "你好", (*opening, "累吗", "不累"), greedy)
    assert told[1] == 1 + sum(len(t) + 1 for t in (*opening, "累吗", "不累", "你好")) + 1
    long = ("好" * 260, "嗯" * 260)
    _, shortened = reply(client, "你好", long, greedy, opening=opening)
    assert shortened == 1 + sum(len(t) + 1 for t in (*opening, "你好")) + 1
    with pytest.raises(InvalidInput, match="the opening has 450 characters"):
        list(client.chat("你好" * 30, opening=("好" * 225, "嗯" * 225)))


def test_no_ngram_is_repeated_across_the_seam_of_a_continued_reply(client: TritonClient) -> None:
    begun = "好好好"
    sampling = Sampling(temperature=1.5, top_p=1.0, no_repeat_ngram_size=2, max_tokens=60)
    for seed in range(3):
        drawn = replace(sampling, seed=seed)
        tokens, _ = reply(client, "你好", (), drawn, reply_prefix=begun)
        ids = [t.token_id for t in tokens]
        whole = PromptLayout.from_folder(MODEL).encode_text(begun) + ids
        pairs = list(itertools.pairwise(whole[1:]))  # 好好 stood twice before
        assert len(set(pairs)) == len(pairs)
