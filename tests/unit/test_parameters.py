"""Sampling parameters: bounds, types and the sentences that name what is wrong."""

from __future__ import annotations

from typing import Any

import pytest

from server_bundle.chitchat.parameters import (
    InvalidParameter,
    SamplingParameters,
    from_generation_config,
    parse,
    parse_json,
)

DEFAULTS = SamplingParameters()


def check(**values: Any) -> SamplingParameters:
    return parse(values, DEFAULTS, vocab_size=13088, context=512)


def test_nothing_given_is_the_seeds_contract() -> None:
    assert check() == SamplingParameters(temperature=0.7, top_p=0.7, max_tokens=64)


def test_numbers_may_come_as_strings_as_vllms_sample_client_sends_them() -> None:
    got = check(temperature="0.1", top_p="0.95", max_tokens="100", top_k="-1")
    assert (got.temperature, got.top_p, got.max_tokens, got.top_k) == (0.1, 0.95, 100, 0)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", 0),
        ("temperature", 2),
        ("top_p", 1),
        ("top_k", 13088),
        ("max_tokens", 512),
        ("max_tokens", 5.0),
        ("seed", 2**63 - 1),
        ("no_repeat_ngram_size", 16),
    ],
)
def test_bounds_themselves_are_allowed(name: str, value: float) -> None:
    assert getattr(check(**{name: value}), name) == value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", 2.1),
        ("temperature", float("nan")),
        ("temperature", float("inf")),
        ("temperature", "warm"),
        ("temperature", True),
        ("temperature", [0.7]),
        ("top_p", 0),
        ("top_p", 1.01),
        ("top_k", 13089),
        ("top_k", -2),
        ("top_k", 1.5),
        ("max_tokens", 0),
        ("max_tokens", 513),
        ("max_tokens", 10**400),
        ("max_tokens", "1e3"),
        ("min_tokens", -1),
        ("repetition_penalty", 0),
        ("repetition_penalty", 2.5),
        ("no_repeat_ngram_size", 17),
        ("seed", -1),
        ("seed", 2**63),
        ("logprobs", 21),
        ("cancel_key", 3),
    ],
)
def test_what_is_wrong_is_named(name: str, value: object) -> None:
    with pytest.raises(InvalidParameter, match=name):
        check(**{name: value})


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidParameter, match=r"temprature.*temperature, top_p"):
        check(temprature=0.7)


def test_min_tokens_above_max_tokens() -> None:
    with pytest.raises(InvalidParameter, match="min_tokens"):
        check(min_tokens=9, max_tokens=3)
    assert check(max_tokens=1).min_tokens == 1


@pytest.mark.parametrize("text", ["[]", "1", "{", '"x"', "{'a': 1}", "[" * 100_000])
def test_json_that_is_no_object(text: str) -> None:
    with pytest.raises(InvalidParameter, match="JSON object"):
        parse_json(text)


def test_json_with_a_name_twice() -> None:
    with pytest.raises(InvalidParameter, match="twice"):
        parse_json('{"seed": 1, "seed": 2}')


def test_empty_json_is_an_empty_object() -> None:
    assert parse_json("") == parse_json("{}") == {}


def test_defaults_of_a_checkpoint() -> None:
    config = {"temperature": 0.7, "top_p": 0.9, "max_new_tokens": 80, "no_repeat_ngram_size": 4}
    got = from_generation_config({**config, "do_sample": True, "suppress_tokens": [1]}, DEFAULTS)
    assert (got.top_p, got.max_tokens, got.no_repeat_ngram_size) == (0.9, 80, 4)
    assert from_generation_config({"do_sample": False}, DEFAULTS).temperature == 0.0
