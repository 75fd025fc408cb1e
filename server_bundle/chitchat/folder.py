"""What can be read of a checkpoint folder without torch, for models that need no weights."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from server_bundle.chitchat.parameters import SamplingParameters, from_generation_config


class CheckpointError(Exception):
    """The folder is no checkpoint this program can serve; the message says what is wrong."""


@dataclass(frozen=True)
class Vocabulary:
    """What sampling must know of a vocabulary: its size and its special ids.

    ``stop`` ends a reply; the ids in ``banned`` never occur in one.
    """

    size: int
    stop: int
    banned: tuple[int, ...]


def read_json(path: Path) -> dict[str, Any]:
    """The object in a JSON file; raises :class:`CheckpointError` if there is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CheckpointError(f"{path.name} is missing from {path.parent}") from None
    except (ValueError, OSError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise CheckpointError(f"{path} does not hold a JSON object")
    return data


def served_limits(folder: Path) -> dict[str, str]:
    """What a client may ask of the checkpoint, as the parameters of a model configuration:
    ``context_tokens``, ``vocabulary_size`` and ``sampling_defaults``, a JSON object of the sampling
    parameters that ``generation_config.json`` sets. Empty texts for what the folder does not tell.
    """
    limits = {"context_tokens": "", "vocabulary_size": "", "sampling_defaults": ""}
    try:
        config = read_json(folder / "config.json")
        limits["context_tokens"] = str(context_length(config))
        limits["vocabulary_size"] = str(int(config["vocab_size"]))
        defaults = from_generation_config(
            read_json(folder / "generation_config.json"), SamplingParameters(top_p=0.9)
        )
        names = {field.name for field in fields(defaults)} - {"seed", "logprobs", "cancel_key"}
        limits["sampling_defaults"] = json.dumps({n: getattr(defaults, n) for n in sorted(names)})
    except (CheckpointError, KeyError, TypeError, ValueError):
        pass  # loading the model says what is wrong with its folder
    return limits


def context_length(config: dict[str, Any]) -> int:
    """Longest sequence of prompt and reply that a ``config.json`` allows, in tokens."""
    return int(config.get("n_positions", config.get("n_ctx", 512)))
