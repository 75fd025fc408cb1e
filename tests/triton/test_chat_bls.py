"""``ibuddha_chitchat_bls`` on the real tritonserver: rectangles of rows, batched and ragged."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from server_bundle.chitchat.prompt import PromptLayout
from tests.support.chat import ENDLESS, MESSAGES, MODEL, rectangle, tensors, together

pytestmark = pytest.mark.triton

Reply = tuple[list[int], list[float]]


@pytest.fixture(scope="module")
def layout() -> PromptLayout:
    return PromptLayout.from_folder(MODEL)


def ask(
    server: Any, layout: PromptLayout, texts: Sequence[str], **sampling: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    prompts = [layout.encode([], text, 64) for text in texts]
    with grpcclient.InferenceServerClient(server.endpoint.grpc) as client:
        result = client.infer(
            "ibuddha_chitchat_bls",
            rectangle(prompts, layout.pad),
            parameters={"sampling_parameters": json.dumps(sampling)},
        )
    return result.as_numpy("OUTPUT__0"), result.as_numpy("OUTPUT__1")


def alone(server: Any, layout: PromptLayout, text: str, **sampling: Any) -> Reply:
    ids, shares = ask(server, layout, [text], **sampling)
    assert ids.shape == shares.shape == (1, ids.shape[1])
    return ids[0].tolist(), shares[0].tolist()


def test_rows_of_one_request_give_what_they_give_one_by_one(
    server: Any, layout: PromptLayout
) -> None:
    ids, shares = ask(server, layout, MESSAGES, temperature=0)
    assert (ids.dtype, shares.dtype) == (np.int32, np.float32)
    single = [alone(server, layout, text, temperature=0) for text in MESSAGES]
    assert len({len(s[0]) for s in single}) > 1  # rows of different lengths
    assert ids.shape == shares.shape == (len(MESSAGES), max(len(s[0]) for s in single))
    for row, (expected, confidences) in enumerate(single):
        n = len(expected)
        assert ids[row].tolist() == expected + [layout.pad] * (ids.shape[1] - n)
        assert shares[row].tolist() == pytest.approx(confidences + [0.0] * (ids.shape[1] - n))


def test_requests_batched_together_give_what_they_give_one_by_one(
    server: Any, layout: PromptLayout
) -> None:
    single = [alone(server, layout, text, seed=5) for text in MESSAGES]
    for _ in range(3):
        answers = together(
            [lambda t=text: alone(server, layout, t, seed=5) for text in MESSAGES]  # type: ignore[misc]
        )
        for (ids, shares), (expected, confidences) in zip(answers, single, strict=True):
            assert ids == expected
            assert shares == pytest.approx(confidences, abs=1e-3)


def test_the_defaults_are_the_seeds(server: Any, layout: PromptLayout) -> None:
    ids, _ = ask(server, layout, ["我最近记性很差"], seed=1, min_tokens=64)
    explicit, _ = ask(
        server,
        layout,
        ["我最近记性很差"],
        seed=1,
        min_tokens=64,
        temperature=0.7,
        top_p=0.7,
        max_tokens=64,
    )
    assert ids.tolist() == explicit.tolist()
    assert ids.shape == (1, 64)


def test_a_short_chat_does_not_wait_for_a_long_one(server: Any, layout: PromptLayout) -> None:
    done: dict[str, float] = {}
    shares = []

    def call(name: str, tokens: int) -> None:
        ids, _ = ask(
            server, layout, ["你好"], seed=1, max_tokens=tokens, min_tokens=tokens, **ENDLESS
        )
        assert ids.shape == (1, tokens)
        done[name] = time.monotonic()

    for _ in range(3):  # a busy machine may delay any one of them
        started = time.monotonic()
        together([lambda: call("long", 480), lambda: call("short", 4)])
        shares.append((done["short"] - started) / (done["long"] - started))
    assert min(shares) < 0.25, shares


def prompt(*ids: int) -> list[list[int]]:
    return [list(ids)]


@pytest.mark.parametrize(
    ("arrays", "sentence"),
    [
        ((prompt(0, 13086, 8), prompt(1, 1), prompt(0, 13086, 13086)), "same shape"),
        ((prompt(0, 8, 8), prompt(1, 1, 1), prompt(0, 13086)), "same shape"),
        ((prompt(0, 13086), prompt(0, 0), prompt(0, 13086)), "empty"),
        (([[]], [[]], [[]]), "empty"),
        ((prompt(1, 0, 8), prompt(0, 1, 1), prompt(0, 0, 13086)), "padded on the right"),
        ((prompt(0, 99999), prompt(1, 1), prompt(0, 13086)), "outside of 0 to 13087"),
        ((prompt(0, -1), prompt(1, 1), prompt(0, 13086)), "outside of 0 to 13087"),
        ((prompt(0, 8), prompt(1, 1), prompt(0, 99999)), "INPUT__2 holds an id outside"),
        ((prompt(*[8] * 600), prompt(*[1] * 600), prompt(*[13086] * 600)), "at most 511"),
        ((prompt(0, 8) * 2, [[1, 1], [0, 0]], prompt(0, 13086) * 2), "row 1: the prompt is empty"),
    ],
)
def test_wrong_tensors_are_refused_in_words(server: Any, arrays: Any, sentence: str) -> None:
    with grpcclient.InferenceServerClient(server.endpoint.grpc) as client:
        inputs = tensors(*(np.array(a, np.int64) for a in arrays))
        with pytest.raises(InferenceServerException, match=sentence) as caught:
            client.infer("ibuddha_chitchat_bls", inputs)
        assert "INVALID_ARGUMENT" in str(caught.value.status())


def test_a_wrong_type_or_a_missing_input_is_refused(server: Any, layout: PromptLayout) -> None:
    good = rectangle([layout.encode([], "你好", 64)], layout.pad)
    wrong = grpcclient.InferInput("INPUT__0", [1, 5], "INT32")
    wrong.set_data_from_numpy(np.zeros((1, 5), np.int32))
    with grpcclient.InferenceServerClient(server.endpoint.grpc) as client:
        with pytest.raises(InferenceServerException, match="INT32"):
            client.infer("ibuddha_chitchat_bls", [wrong, *good[1:]])
        with pytest.raises(InferenceServerException, match="expected 3 inputs"):
            client.infer("ibuddha_chitchat_bls", good[:2])
        with pytest.raises(InferenceServerException, match="temperature must be from 0 to 2"):
            client.infer(
                "ibuddha_chitchat_bls",
                good,
                parameters={"sampling_parameters": '{"temperature": 3}'},
            )


def test_a_wrong_row_costs_its_neighbours_in_the_batch_nothing(
    server: Any, layout: PromptLayout
) -> None:
    def wrong() -> str:
        with grpcclient.InferenceServerClient(server.endpoint.grpc) as client:
            try:
                client.infer(
                    "ibuddha_chitchat_bls", tensors(*(np.array([[9_999_999]]) for _ in range(3)))
                )
            except InferenceServerException as error:
                return str(error)
        return ""

    expected = alone(server, layout, "你好", seed=5)[0]
    good = [lambda: alone(server, layout, "你好", seed=5)[0]] * 4
    answers = together([*good, wrong, wrong])
    assert answers[:4] == [expected] * 4
    assert all("sum of the mask" in a or "INPUT__" in a for a in answers[4:])
