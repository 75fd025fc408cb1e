"""``ibuddha_chitchat_stream`` on the real tritonserver, against transformers."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
import torch
import tritonclient.grpc as grpcclient
from transformers import GPT2LMHeadModel

from desktop.triton.client import TritonClient
from desktop.triton.types import Finished, InvalidInput, Sampling, Token
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.prompt import PromptLayout
from tests.support.chat import MESSAGES, MODEL, post, reply, stream
from tests.support.sampling import expected_distribution

pytestmark = pytest.mark.triton


@pytest.fixture(scope="module")
def layout() -> PromptLayout:
    return PromptLayout.from_folder(MODEL)


@pytest.fixture(scope="module")
def reference() -> GPT2LMHeadModel:
    return GPT2LMHeadModel.from_pretrained(MODEL, dtype=torch.float32).eval()


@pytest.fixture(scope="module")
def client(server: Any) -> Iterator[TritonClient]:
    with TritonClient(server.endpoint) as connection:
        yield connection


def reference_logits(
    reference: GPT2LMHeadModel,
    layout: PromptLayout,
    history: Sequence[str],
    text: str,
    tokens: Sequence[Token],
) -> torch.Tensor:
    """The logits each token was drawn from, ``[len(tokens), V]``, without a cache."""
    prompt = layout.encode(history, text, 64)
    assert prompt.reply_type == 13087  # the bot's speaker token
    ids = [*prompt.ids, *(t.token_id for t in tokens)]
    types = [*(prompt.types or []), *[prompt.reply_type] * len(tokens)]
    with torch.inference_mode():
        logits = reference(torch.tensor([ids]), token_type_ids=torch.tensor([types])).logits[0]
    return logits[len(prompt.ids) - 1 : -1]


@pytest.mark.parametrize(
    "history", [[], ["你好", "你好呀，很高兴见到你。"]], ids=["first turn", "second turn"]
)
def test_probabilities_and_alternatives_agree_with_transformers(
    client: TritonClient,
    layout: PromptLayout,
    reference: GPT2LMHeadModel,
    history: list[str],
) -> None:
    for text in MESSAGES:
        tokens, finished = reply(
            client, text, history, temperature=0.9, top_p=0.95, seed=3, max_tokens=40
        )
        assert finished.num_input_tokens == len(layout.encode(history, text, 64).ids)
        assert finished.reply == "".join(t.text for t in tokens)
        logits = reference_logits(reference, layout, history, text, tokens)
        for token, expected in zip(tokens, logits.softmax(-1), strict=True):
            assert token.probability == pytest.approx(float(expected[token.token_id]), abs=1e-3)
            assert len(token.alternatives) >= 5
            assert token.token_id in {a.token_id for a in token.alternatives}
            shares = [a.probability for a in token.alternatives]
            assert shares == sorted(shares, reverse=True)
            assert shares[:5] == pytest.approx(expected.topk(5).values.tolist(), abs=1e-3)
            for alternative in token.alternatives:
                share = float(expected[alternative.token_id])
                assert alternative.probability == pytest.approx(share, abs=1e-3)
                assert alternative.text == layout.text(alternative.token_id)


@pytest.mark.parametrize(
    "parameters",
    [
        SamplingParameters(temperature=0.7, top_p=0.7),
        SamplingParameters(temperature=1.5, top_p=1.0, top_k=20),
        SamplingParameters(temperature=0.8, top_p=0.95, repetition_penalty=1.3),
    ],
)
def test_confidence_is_the_share_after_temperature_top_k_and_top_p(
    client: TritonClient,
    layout: PromptLayout,
    reference: GPT2LMHeadModel,
    parameters: SamplingParameters,
) -> None:
    text = "我想聊聊我弟弟"
    tokens, _ = reply(
        client,
        text,
        temperature=parameters.temperature,
        top_p=parameters.top_p,
        top_k=parameters.top_k,
        repetition_penalty=parameters.repetition_penalty,
        no_repeat_ngram_size=0,
        max_tokens=30,
        seed=11,
    )
    prompt = layout.encode([], text, 30).ids
    made: list[int] = []
    for token, logits in zip(
        tokens, reference_logits(reference, layout, [], text, tokens), strict=True
    ):
        shares = expected_distribution(
            logits, parameters, layout.vocabulary, prompt=prompt, reply=made
        )
        assert token.confidence == pytest.approx(float(shares[token.token_id]), abs=2e-3)
        made.append(token.token_id)


def test_greedy_replies_are_those_of_transformers_without_a_cache(
    client: TritonClient, layout: PromptLayout, reference: GPT2LMHeadModel
) -> None:
    for text in MESSAGES:
        tokens, finished = reply(client, text, temperature=0, max_tokens=40, no_repeat_ngram_size=0)
        prompt = layout.encode([], text, 40)
        ids, types = list(prompt.ids), list(prompt.types or [])
        expected: list[int] = []
        while len(expected) < 40:
            with torch.no_grad():
                output = reference(torch.tensor([ids]), token_type_ids=torch.tensor([types]))
            row = output.logits[0, -1]
            row[list(layout.vocabulary.banned)] = -torch.inf
            if not expected:
                row[layout.sep] = -torch.inf
            token = int(row.argmax())
            if token == layout.sep:
                break
            expected.append(token)
            ids.append(token)
            types.append(prompt.reply_type)
        assert [t.token_id for t in tokens] == expected
        assert {t.confidence for t in tokens} == {1.0}
        assert finished.finish_reason == ("stop" if len(expected) < 40 else "length")


def test_a_seed_repeats_its_reply(client: TritonClient) -> None:
    def say(seed: int) -> str:
        return reply(client, "我有点怕打电话", temperature=1.2, top_p=1.0, seed=seed)[1].reply

    first = [say(seed) for seed in (1, 2, 3)]
    assert [say(seed) for seed in (1, 2, 3)] == first
    assert len(set(first)) > 1


def test_a_reply_goes_on_from_its_prefix_as_if_it_had_never_stopped(client: TritonClient) -> None:
    greedy = Sampling(temperature=0.0, no_repeat_ngram_size=0)
    history = ["你好", "你好呀，很高兴见到你。"]
    *whole, finished = client.chat("最近工作压力有点大", history, greedy)
    assert isinstance(finished, Finished)
    begun = finished.reply[:5]
    *rest, ended = client.chat("最近工作压力有点大", history, greedy, reply_prefix=begun)
    assert isinstance(ended, Finished)
    assert begun + ended.reply == finished.reply
    assert ended.num_input_tokens == finished.num_input_tokens + 5
    for one, other in zip(whole[5:], rest, strict=True):
        assert isinstance(one, Token)
        assert isinstance(other, Token)
        assert one.token_id == other.token_id
        assert one.probability == pytest.approx(other.probability, abs=1e-3)


def test_another_choice_changes_what_follows(
    client: TritonClient, layout: PromptLayout, reference: GPT2LMHeadModel
) -> None:
    tokens, _ = reply(client, "你喜欢猫吗", temperature=0.0)
    other = next(a for a in tokens[1].alternatives if a.token_id != tokens[1].token_id)
    begun = tokens[0].text + other.text
    *rest, _ = client.chat("你喜欢猫吗", (), Sampling(temperature=0.0), reply_prefix=begun)
    prompt = layout.encode([], "你喜欢猫吗", 64, begun)
    with torch.inference_mode():
        logits = reference(
            torch.tensor([prompt.ids]), token_type_ids=torch.tensor([prompt.types])
        ).logits[0, -1]
    assert isinstance(rest[0], Token)
    assert rest[0].probability == pytest.approx(
        float(logits.softmax(-1)[rest[0].token_id]), abs=1e-3
    )


def test_a_prefix_that_leaves_no_room_is_refused_in_words(client: TritonClient) -> None:
    with pytest.raises(InvalidInput, match="the reply has 600 characters already"):
        list(client.chat("你好", reply_prefix="好" * 600))


def test_no_special_token_is_ever_emitted(client: TritonClient, layout: PromptLayout) -> None:
    special = {layout.sep, *layout.vocabulary.banned}
    for seed in range(5):
        tokens, _ = reply(client, "嗯", temperature=2.0, top_p=1.0, seed=seed)
        assert tokens
        assert not special & {t.token_id for t in tokens}


def test_no_ngram_occurs_twice(client: TritonClient) -> None:
    tokens, _ = reply(
        client, "哈哈哈", temperature=0.3, max_tokens=120, no_repeat_ngram_size=2, seed=1
    )
    ids = [t.token_id for t in tokens]
    pairs = list(itertools.pairwise(ids))
    assert len(set(pairs)) == len(pairs)


def text_inputs(**values: Any) -> list[grpcclient.InferInput]:
    inputs = []
    for name, value in values.items():
        kind = "BOOL" if isinstance(value, bool) else "BYTES"
        array = np.array([value]) if kind == "BOOL" else np.array([value.encode()], np.object_)
        tensor = grpcclient.InferInput(name, [1], kind)
        tensor.set_data_from_numpy(array)
        inputs.append(tensor)
    return inputs


def test_a_whole_reply_as_clients_of_the_vllm_backend_ask_for_it(server: Any) -> None:
    returns = [
        "return_finish_reason",
        "return_cumulative_logprob",
        "return_logprobs",
        "return_num_input_tokens",
        "return_num_output_tokens",
    ]
    sampling = json.dumps({"temperature": "0", "max_tokens": "16"})  # numbers as strings, as there
    (response,) = stream(
        server.endpoint,
        "ibuddha_chitchat_stream",
        text_inputs(
            text_input="你好",
            stream=False,
            exclude_input_in_output=True,
            sampling_parameters=sampling,
            **dict.fromkeys(returns, True),
        ),
    )
    text = response.as_numpy("text_output")[0].decode()
    n = int(response.as_numpy("num_output_tokens")[0])
    assert text.startswith("你好")
    assert n == len(text) == len(response.as_numpy("token_id"))
    assert response.as_numpy("finish_reason")[0] in (b"stop", b"length")
    assert int(response.as_numpy("num_input_tokens")[0]) == 5
    logprobs = json.loads(response.as_numpy("logprobs")[0])
    assert len(logprobs) == n
    chosen = []
    for token, entries in zip(response.as_numpy("token_id"), logprobs, strict=True):
        assert len(entries) >= 5
        for entry in entries.values():
            assert set(entry) == {"logprob", "rank", "decoded_token"}
        best = max(entries.values(), key=lambda e: e["logprob"])
        assert best["rank"] == 1
        chosen.append(entries[str(token)]["logprob"])
    cumulative = float(response.as_numpy("cumulative_logprob")[0])
    assert cumulative == pytest.approx(sum(chosen), abs=1e-3)
    assert np.allclose(np.log(response.as_numpy("probability")), chosen, atol=1e-4)


def test_a_whole_reply_repeats_its_input_unless_told_not_to(server: Any) -> None:
    (response,) = stream(
        server.endpoint,
        "ibuddha_chitchat_stream",
        text_inputs(text_input="你好", sampling_parameters='{"max_tokens": 4, "seed": 1}'),
    )
    text = response.as_numpy("text_output")[0].decode()
    assert text.startswith("你好")
    assert len(text) == 6
    assert response.as_numpy("logprobs") is None


def test_generate_takes_parameters_by_their_names(server: Any) -> None:
    body = {
        "text_input": "你好",
        "exclude_input_in_output": True,
        "return_finish_reason": True,
        "max_tokens": 3,
        "temperature": 0.5,
        "seed": 4,
    }
    status, text = post(server.endpoint, "/v2/models/ibuddha_chitchat_stream/generate", body)
    assert status == 200, text
    answer = json.loads(text)
    assert answer["model_name"] == "ibuddha_chitchat_stream"
    assert len(answer["text_output"]) == 3
    assert answer["finish_reason"] == "length"
    assert len(answer["probability"]) == 3


def test_generate_stream_sends_an_event_a_token(server: Any) -> None:
    body = {
        "text_input": "你好",
        "stream": True,
        "sampling_parameters": '{"max_tokens": 8, "seed": 1}',
        "return_cumulative_logprob": True,
    }
    status, text = post(server.endpoint, "/v2/models/ibuddha_chitchat_stream/generate_stream", body)
    assert status == 200, text
    events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: ")]
    spoken = [e for e in events if "token_id" in e]
    assert len(spoken) == 8
    total = sum(math.log(e["probability"]) for e in spoken)
    assert events[-1]["cumulative_logprob"] == pytest.approx(total, abs=1e-3)


def test_curl_over_the_socket_streams(server: Any) -> None:
    body = {
        "text_input": "你好",
        "stream": True,
        "max_tokens": 300,
        "min_tokens": 300,
        "temperature": 1.0,
        "top_p": 1.0,
    }
    url = "http://localhost/v2/models/ibuddha_chitchat_stream/generate_stream"
    socket = server.endpoint.http.removeprefix("unix:")
    command = ["curl", "-sN", "--unix-socket", socket, url, "-d", json.dumps(body)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as curl:
        assert curl.stdout is not None
        assert curl.stdout.readline().startswith(b"data: ")
        assert curl.poll() is None  # the first token is here while the reply goes on
        rest = curl.stdout.read().decode()
    assert curl.returncode == 0
    assert rest.count("token_id") == 299


def test_generate_takes_a_history(server: Any) -> None:
    body = {"text_input": "你好", "history": ["你好", "嗨"], "return_num_input_tokens": True}
    status, text = post(server.endpoint, "/v2/models/ibuddha_chitchat_stream/generate", body)
    assert status == 200, text
    assert json.loads(text)["num_input_tokens"] == 10


def test_long_histories_lose_their_oldest_pairs(client: TritonClient) -> None:
    history = ["我" * 60, "你" * 60] * 8
    _, finished = reply(client, "你好", history, max_tokens=8, seed=1)
    assert 300 < finished.num_input_tokens <= 512 - 8
