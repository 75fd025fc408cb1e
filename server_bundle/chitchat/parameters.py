"""Sampling parameters of a request: their names, bounds and defaults, checked in this one place.

The names are vLLM's, so that clients of Triton's vLLM backend work unchanged; that includes numbers
sent as strings, as its sample client does.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any


class InvalidParameter(ValueError):
    """A parameter is unknown or out of bounds; the message is one sentence for a person."""


@dataclass(frozen=True)
class SamplingParameters:
    """How the next token is chosen, see :mod:`server_bundle.chitchat.sampling`.

    Attributes:
        temperature: 0 to 2; 0 takes the likeliest token.
        top_p: share of probability kept, above 0 and at most 1.
        top_k: number of tokens kept, 0 (or -1, as vLLM writes it) for all.
        max_tokens: longest reply in tokens, 1 up to the context.
        min_tokens: the reply does not end before so many tokens.
        repetition_penalty: 0.1 to 2; 1 is none. Divides positive and multiplies negative
            logits of tokens that occurred (Keskar et al. 2019, arXiv:1909.05858, section 4.1).
        no_repeat_ngram_size: no n-gram of this length occurs twice in a reply; 0 is off.
        seed: 0 to 2**63 - 1; None draws one.
        logprobs: how many alternatives accompany each token, 5 to 20.
        stop: the reply ends before the first of these texts, at most 16 of 1 to 64 characters. For
            models that answer in text; the engine's own callers look for them themselves.
        cancel_key: where a calling model says that it wants no more of the reply (cancel.py).
    """

    temperature: float = 0.7
    top_p: float = 0.7
    top_k: int = 0
    max_tokens: int = 64
    min_tokens: int = 1
    repetition_penalty: float = 1.0
    no_repeat_ngram_size: int = 0
    seed: int | None = None
    logprobs: int = 5
    stop: tuple[str, ...] = ()
    cancel_key: str = ""


# name → (type, lowest, highest, lowest itself allowed); highest None: set by the model.
_BOUNDS: dict[str, tuple[type, float, float | None, bool]] = {
    "temperature": (float, 0.0, 2.0, True),
    "top_p": (float, 0.0, 1.0, False),
    "top_k": (int, -1, None, True),
    "max_tokens": (int, 1, None, True),
    "min_tokens": (int, 0, None, True),
    "repetition_penalty": (float, 0.1, 2.0, True),
    "no_repeat_ngram_size": (int, 0, 16, True),
    "seed": (int, 0, 2**63 - 1, True),
    "logprobs": (int, 0, 20, True),
}
NAMES = (*_BOUNDS, "stop")
#: Those that a checkpoint may have defaults of.
CHECKPOINT_NAMES = tuple(name for name in _BOUNDS if name not in ("seed", "logprobs"))
_STOP_STRINGS = 16
_STOP_LENGTH = 64


def _number(name: str, value: Any, kind: type) -> float | int:
    what = "a whole number" if kind is int else "a number"
    complaint = InvalidParameter(
        f"{name} must be {what}, not {json.dumps(value, default=str)[:60]}"
    )
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise complaint
    try:
        if kind is int and not isinstance(value, float):
            return int(value)
        number = float(value)
    except (ValueError, OverflowError):
        raise complaint from None
    if kind is int:
        if not number.is_integer():
            raise complaint
        return int(number)
    if not math.isfinite(number):
        raise complaint
    return number


def _stop_strings(value: Any) -> tuple[str, ...]:
    """One string or a list of them, as vLLM takes ``stop``."""
    values = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(values, list | tuple) or not all(isinstance(v, str) for v in values):
        raise InvalidParameter("stop must be a string or a list of strings")
    if len(values) > _STOP_STRINGS or not all(1 <= len(v) <= _STOP_LENGTH for v in values):
        raise InvalidParameter(
            f"stop takes at most {_STOP_STRINGS} strings of 1 to {_STOP_LENGTH} characters"
        )
    return tuple(values)


def without_stop(parameters: SamplingParameters) -> SamplingParameters:
    """The same for a model that answers in token ids.

    Raises:
        InvalidParameter: stop strings are given.
    """
    if parameters.stop:
        raise InvalidParameter("stop strings need a model that answers in text")
    return parameters


def parse(
    values: Mapping[str, Any],
    defaults: SamplingParameters,
    *,
    vocab_size: int,
    context: int,
) -> SamplingParameters:
    """Check ``values`` and lay them over ``defaults``.

    Raises:
        InvalidParameter: a name is unknown, or a value has the wrong type or is out of bounds.
    """
    limits = {
        "top_k": vocab_size,
        "max_tokens": context,
        "min_tokens": context,
    }
    checked: dict[str, Any] = {}
    for name, value in values.items():
        if name == "cancel_key":
            if not isinstance(value, str):
                raise InvalidParameter("cancel_key must be a string")
            checked[name] = value
            continue
        if name == "stop":
            checked[name] = _stop_strings(value)
            continue
        if name not in _BOUNDS:
            raise InvalidParameter(
                f"{json.dumps(name[:40], ensure_ascii=False)} is no sampling parameter; known are "
                + ", ".join(NAMES)
            )
        if value is None:
            continue
        kind, low, high, inclusive = _BOUNDS[name]
        high = limits.get(name, high)
        number = _number(name, value, kind)
        if (
            number < low
            or (number == low and not inclusive)
            or (high is not None and number > high)
        ):
            end = f"{high}" if kind is int else f"{high:g}"
            allowed = f"from {low:g} to {end}" if inclusive else f"above {low:g} and at most {end}"
            raise InvalidParameter(f"{name} must be {allowed}, not {number}")
        checked[name] = number
    if "top_k" in checked:
        checked["top_k"] = max(0, checked["top_k"])
    if "logprobs" in checked:
        checked["logprobs"] = max(5, checked["logprobs"])  # the contract promises five alternatives
    result = replace(defaults, **checked)
    if result.min_tokens > result.max_tokens:
        if "min_tokens" in checked and "max_tokens" in checked:
            raise InvalidParameter(
                f"min_tokens ({result.min_tokens}) must not exceed max_tokens ({result.max_tokens})"
            )
        result = replace(result, min_tokens=result.max_tokens)
    return result


def parse_json(text: str, name: str = "sampling_parameters") -> dict[str, Any]:
    """The object in a JSON string; an empty string counts as an empty object.

    Raises:
        InvalidParameter: it is no JSON object, or a name occurs twice.
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        keys = [key for key, _ in pairs]
        if len(set(keys)) < len(keys):
            raise InvalidParameter(f"{name} names a parameter twice")
        return dict(pairs)

    if not text.strip():
        return {}
    try:
        values = json.loads(text, object_pairs_hook=unique)
    except InvalidParameter:
        raise
    except (ValueError, RecursionError):
        raise InvalidParameter(
            f'{name} must be a JSON object such as {{"temperature": 0.7}}'
        ) from None
    if not isinstance(values, dict):
        raise InvalidParameter(f'{name} must be a JSON object such as {{"temperature": 0.7}}')
    return values


def generation_values(config: Mapping[str, Any]) -> dict[str, Any]:
    """What of ``generation_config.json`` we know, under our names, unchecked."""
    chosen = {name: config[name] for name in CHECKPOINT_NAMES if config.get(name) is not None}
    if config.get("max_new_tokens") is not None:
        chosen["max_tokens"] = config["max_new_tokens"]
    if config.get("do_sample") is False:
        chosen["temperature"] = 0.0
    return chosen


def from_generation_config(
    config: Mapping[str, Any], base: SamplingParameters
) -> SamplingParameters:
    """Defaults that a checkpoint's ``generation_config.json`` asks for; the rest from ``base``."""
    return replace(base, **generation_values(config))
