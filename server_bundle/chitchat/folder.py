"""What can be read of a checkpoint folder without torch, for models that need no weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The largest sizes of a ``config.json``. Nothing published comes near these; what does is broken
#: or an attack.
MOST = {
    "n_layer": 1024,
    "num_hidden_layers": 1024,
    "n_embd": 1 << 16,
    "hidden_size": 1 << 16,
    "intermediate_size": 1 << 19,
    "n_inner": 1 << 19,
    "n_head": 1024,
    "num_attention_heads": 1024,
    "vocab_size": 1 << 22,
    "n_positions": 1 << 24,
    "n_ctx": 1 << 24,
    "max_position_embeddings": 1 << 24,
    "num_local_experts": 4096,
    "num_experts": 4096,
    "n_routed_experts": 4096,
}


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
    except (ValueError, OSError, RecursionError) as error:
        raise CheckpointError(f"{path} cannot be read: {error}") from None
    if not isinstance(data, dict):
        raise CheckpointError(f"{path} does not hold a JSON object")
    return data


def text_config(config: dict[str, Any]) -> dict[str, Any]:
    """The language model's part of a ``config.json``: all of it, or where a model also sees or
    hears, its ``text_config``."""
    inner = config.get("text_config")
    return inner if isinstance(inner, dict) else config


def context_length(config: dict[str, Any]) -> int:
    """Longest sequence of prompt and reply that a ``config.json`` allows, in tokens; raises
    :class:`CheckpointError`."""
    words = text_config(config)
    for name in ("n_positions", "n_ctx", "max_position_embeddings", "max_sequence_length"):
        if words.get(name):
            return size(words, name, MOST["n_positions"])
    return 512


def vocabulary_size(config: dict[str, Any]) -> int:
    """Number of ids; raises :class:`CheckpointError`."""
    return size(text_config(config), "vocab_size", MOST["vocab_size"])


def size(config: Mapping[str, Any], name: str, most: int) -> int:
    """A whole number from 1 to ``most``; raises :class:`CheckpointError`."""
    value = config.get(name)
    if value is None:
        raise CheckpointError(f"config.json does not tell its {name}")
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
        raise CheckpointError(f"config.json: {name} must be a whole number from 1 to {most:,}")
    return value
