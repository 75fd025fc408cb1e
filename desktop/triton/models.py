"""The chat models that a server has, and what may be asked of each."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from desktop.triton.types import NOT_UNDERSTOOD, Sampling

#: The model that answers where nobody chose another.
DEFAULT = "ibuddha_chitchat"
# A chat model called NAME takes text under this name.
_STREAM = "_stream"


@dataclass(frozen=True)
class ModelLimits:
    """``context_tokens``: longest prompt and reply together. ``defaults``: how the checkpoint
    itself wants its replies drawn."""

    context_tokens: int
    vocabulary_size: int
    defaults: Sampling = field(default_factory=Sampling)


def stream_model(name: str) -> str:
    """The Triton model that a chat model's text goes to."""
    return f"{name or DEFAULT}{_STREAM}"


def chat_models(states: Mapping[str, str]) -> list[str]:
    """The chat models among those of a repository index, the default first."""
    names = {model.removesuffix(_STREAM) for model in states if model.endswith(_STREAM)}
    return sorted(names, key=lambda name: (name != DEFAULT, name))


def is_ready(states: Mapping[str, str], name: str) -> bool:
    """Whether a chat model can be asked, its engine included."""
    return states.get(stream_model(name)) == "READY" == states.get(name or DEFAULT, "READY")


def read_limits(config: Mapping[str, Any]) -> ModelLimits | None:
    """The limits in a model's configuration (Triton's, as JSON); None where it tells none."""
    parameters = config.get("parameters", {})

    def told(name: str) -> str:
        return str(parameters.get(name, {}).get("string_value", ""))

    try:
        defaults = json.loads(told("sampling_defaults") or "{}")
        known = {n: v for n, v in defaults.items() if n in vars(Sampling()) and _fits(n, v)}
        return ModelLimits(
            int(told("context_tokens")), int(told("vocabulary_size")), Sampling(**known)
        )
    except NOT_UNDERSTOOD:
        return None


def _fits(name: str, value: Any) -> bool:
    """Whether a default is of the kind that the window can show."""
    if name == "stop":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    kinds = (int, float) if name in ("temperature", "top_p", "repetition_penalty") else (int,)
    return type(value) in kinds and math.isfinite(value)
