"""``multitask_model`` and ``address_parser`` on the real server."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from server_bundle.address.features import CharacterTokenizer
from tests.conftest import Server

pytestmark = [
    pytest.mark.triton,
    pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning"),
]

WEIGHTS = Path(__file__).parents[2] / "resources" / "models" / "address-tiny"
INPUTS = ("input_ids", "segment_ids", "input_mask")
ADDRESS = "浙江省杭州市余杭区仓前街道文一西路969号"


@pytest.fixture(scope="module")
def client(server: Server) -> Iterator[grpcclient.InferenceServerClient]:
    connection = grpcclient.InferenceServerClient(server.endpoint.grpc)
    yield connection
    connection.close()


@pytest.fixture(scope="module")
def tokenizer() -> CharacterTokenizer:
    return CharacterTokenizer.load(WEIGHTS / "vocab.txt")


# -- multitask_model -----------------------------------------------------------------------------


def rows(tokenizer: CharacterTokenizer, texts: list[str], length: int) -> list[np.ndarray]:
    ids = np.full((len(texts), length), tokenizer.pad_id, np.int64)
    mask = np.zeros_like(ids)
    for i, text in enumerate(texts):
        tokens = tokenizer.encode(text).ids
        ids[i, : len(tokens)], mask[i, : len(tokens)] = tokens, 1
    return [ids, np.zeros_like(ids), mask]


def infer_network(
    client: grpcclient.InferenceServerClient, arrays: list[np.ndarray], precision: str = ""
) -> tuple[np.ndarray, np.ndarray]:
    inputs = []
    for name, array in zip(INPUTS, arrays, strict=True):
        tensor = grpcclient.InferInput(name, list(array.shape), "INT64")
        tensor.set_data_from_numpy(array)
        inputs.append(tensor)
    parameters = {"precision": precision} if precision else None
    result = client.infer("multitask_model", inputs, parameters=parameters)
    return result.as_numpy("cls_logits"), result.as_numpy("ner_logits")


def test_the_contract_of_the_network(client: grpcclient.InferenceServerClient) -> None:
    config = client.get_model_config("multitask_model", as_json=True)["config"]
    assert config["platform"] == "pytorch_libtorch"
    assert [i["name"] for i in config["input"]] == list(INPUTS)
    assert all(i["data_type"] == "TYPE_INT64" and i["dims"] == ["-1"] for i in config["input"])
    with (WEIGHTS / "label_cls.csv").open(encoding="utf-8") as stream:
        areas = len(list(csv.DictReader(stream)))
    assert [(o["name"], o["dims"]) for o in config["output"]] == [
        ("cls_logits", [str(areas)]),
        ("ner_logits", ["13", "-1", "-1"]),
    ]


@pytest.mark.parametrize(("batch", "length"), [(1, 24), (3, 33), (8, 64), (32, 25)])
def test_the_network_is_the_torchscript_file(
    client: grpcclient.InferenceServerClient,
    tokenizer: CharacterTokenizer,
    batch: int,
    length: int,
) -> None:
    arrays = rows(tokenizer, [ADDRESS[: 23 - i % 9] for i in range(batch)], length)
    cls, ner = infer_network(client, arrays)
    module = torch.jit.load(str(WEIGHTS / "model.pt"))
    with torch.inference_mode():
        expected = module(*map(torch.from_numpy, arrays))
    np.testing.assert_allclose(cls, expected[0].numpy(), atol=1e-3)
    np.testing.assert_allclose(ner, expected[1].numpy(), atol=1e-3)
    assert ner.shape == (batch, 13, length, length)


def test_low_precision_is_for_those_who_ask(
    client: grpcclient.InferenceServerClient, tokenizer: CharacterTokenizer
) -> None:
    arrays = rows(tokenizer, [ADDRESS[: 23 - i] for i in range(5)], 32)  # five: padded to eight
    exact = infer_network(client, arrays)
    with ThreadPoolExecutor(8) as pool:
        futures = [
            pool.submit(infer_network, client, arrays, "bf16" if i % 2 else "") for i in range(8)
        ]
    for i, future in enumerate(futures):
        for one, other in zip(future.result(), exact, strict=True):
            assert one.dtype == np.float32
            atol, rtol = (0.5, 0.03) if i % 2 else (1e-3, 0.0)
            np.testing.assert_allclose(one, other, atol=atol, rtol=rtol)


def test_requests_of_different_lengths_at_once(
    client: grpcclient.InferenceServerClient, tokenizer: CharacterTokenizer
) -> None:
    texts = [ADDRESS[: 5 + i % 15] for i in range(40)]
    arrays = [rows(tokenizer, [text], len(text) + 2 + i % 3) for i, text in enumerate(texts)]
    alone = [infer_network(client, a) for a in arrays[:8]]
    with ThreadPoolExecutor(16) as pool:
        together = list(pool.map(lambda a: infer_network(client, a), arrays))
    for one, other in zip(alone, together[:8], strict=True):
        np.testing.assert_allclose(one[0], other[0], atol=1e-3)
        np.testing.assert_allclose(one[1], other[1], atol=1e-3)


def test_a_bad_request_does_not_hurt_its_neighbours(
    client: grpcclient.InferenceServerClient, tokenizer: CharacterTokenizer
) -> None:
    good = rows(tokenizer, [ADDRESS], 40)
    bad = [array.copy() for array in good]
    bad[0][0, 3] = 10**6  # no such token
    with ThreadPoolExecutor(12) as pool:
        futures = [
            pool.submit(infer_network, client, bad if i % 3 == 0 else good) for i in range(12)
        ]
    expected = infer_network(client, good)
    for i, future in enumerate(futures):
        if i % 3 == 0:
            with pytest.raises(InferenceServerException, match="index out of range"):
                future.result()
        else:
            np.testing.assert_allclose(future.result()[1], expected[1], atol=1e-3)


def test_inputs_of_unequal_lengths_are_refused(
    client: grpcclient.InferenceServerClient, tokenizer: CharacterTokenizer
) -> None:
    arrays = rows(tokenizer, [ADDRESS], 40)
    arrays[2] = arrays[2][:, :30]
    with pytest.raises(InferenceServerException):
        infer_network(client, arrays)


def test_longer_than_the_positions_is_refused(
    client: grpcclient.InferenceServerClient, tokenizer: CharacterTokenizer
) -> None:
    with pytest.raises(InferenceServerException, match="128"):
        infer_network(client, rows(tokenizer, [ADDRESS], 200))


# -- address_parser ------------------------------------------------------------------------------


def parse(client: grpcclient.InferenceServerClient, *texts: str) -> list[dict[str, Any]]:
    tensor = grpcclient.InferInput("text_input", [len(texts), 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[t.encode()] for t in texts], dtype=np.object_))
    result = client.infer("address_parser", [tensor]).as_numpy("result")
    assert result.shape == (len(texts), 1)
    return [json.loads(r) for r in result.flat]


def test_an_ordinary_full_address(client: grpcclient.InferenceServerClient) -> None:
    (result,) = parse(client, ADDRESS)
    keys = {"text", "entities", "division", "candidates", "contacts", "one_line"}
    assert set(result) == keys
    assert result["contacts"] == []
    assert result["one_line"] == ADDRESS
    assert result["text"] == ADDRESS
    assert [(e["type"], e["text"]) for e in result["entities"]] == [
        ("prov", "浙江省"),
        ("city", "杭州市"),
        ("district", "余杭区"),
        ("town", "仓前街道"),
        ("road", "文一西路"),
        ("roadno", "969号"),
    ]
    assert all(0.5 < e["score"] < 1 for e in result["entities"])
    division = dict(result["division"])
    assert 0.5 < division.pop("confidence") <= 1
    assert division == {
        "province": "浙江省",
        "city": "杭州市",
        "district": "余杭区",
        "town": "仓前街道",
        "code": "330110014",
    }
    assert result["candidates"] == [result["division"]]


def test_offsets_count_code_points(client: grpcclient.InferenceServerClient) -> None:
    text = "🏠 " + ADDRESS
    (result,) = parse(client, text)
    assert result["text"] == text
    for entity in result["entities"]:
        assert text[entity["start"] : entity["end"]] == entity["text"]
    assert ("prov", 2, 5) in [(e["type"], e["start"], e["end"]) for e in result["entities"]]


def test_an_ambiguous_name_answers_candidates(client: grpcclient.InferenceServerClient) -> None:
    (result,) = parse(client, "朝阳区建国路88号")
    assert result["division"]["province"] == ""
    assert {c["province"] for c in result["candidates"]} == {"北京市", "吉林省"}


def test_rows_are_answered_in_order(client: grpcclient.InferenceServerClient) -> None:
    texts = [f"{ADDRESS[: 12 + i % 9]}{i}号" for i in range(64)]
    results = parse(client, *texts)
    assert [r["text"] for r in results] == texts
    (alone,) = parse(client, texts[5])
    assert results[5]["division"] == pytest.approx(alone["division"], abs=0.05)
    for one, other in zip(results[5]["entities"], alone["entities"], strict=True):
        # Another batch, another order of sums: in bfloat16 the third digit may differ.
        assert one == pytest.approx(other, abs=0.05)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "The address is empty."),
        (" \t\n", "The address is empty."),
        ("\x01\x02", "only control characters"),
        ("杭" * 10_000, "10000 characters; at most 2000"),
    ],
)
def test_bad_text_gets_one_clear_sentence(
    client: grpcclient.InferenceServerClient, text: str, reason: str
) -> None:
    with pytest.raises(InferenceServerException, match=reason) as caught:
        parse(client, text)
    assert caught.value.status() == "StatusCode.INVALID_ARGUMENT"
    assert "\n" not in caught.value.message()


def test_the_bad_row_of_a_request_is_named(client: grpcclient.InferenceServerClient) -> None:
    with pytest.raises(InferenceServerException, match=r"Row 2: The address is empty\."):
        parse(client, ADDRESS, " ", ADDRESS)


def test_bad_rows_do_not_hurt_other_requests(client: grpcclient.InferenceServerClient) -> None:
    with ThreadPoolExecutor(16) as pool:
        futures = [pool.submit(parse, client, "" if i % 4 == 0 else ADDRESS) for i in range(48)]
    for i, future in enumerate(futures):
        if i % 4 == 0:
            with pytest.raises(InferenceServerException, match="empty"):
                future.result()
        else:
            assert future.result()[0]["division"]["town"] == "仓前街道"


@pytest.mark.parametrize(
    "text", ["😀" * 30, "abc DEF 123", "�", "路" * 2000, "ＡＢＣ", "\u202e杭州"]
)
def test_odd_text_is_answered(client: grpcclient.InferenceServerClient, text: str) -> None:
    (result,) = parse(client, text)
    assert result["text"] == text


def test_a_wrong_input_name_is_refused(client: grpcclient.InferenceServerClient) -> None:
    tensor = grpcclient.InferInput("text", [1, 1], "BYTES")
    tensor.set_data_from_numpy(np.array([[b"x"]], dtype=np.object_))
    with pytest.raises(InferenceServerException, match="unexpected inference input"):
        client.infer("address_parser", [tensor])
