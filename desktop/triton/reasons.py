"""Triton's reasons why a model is not there, without what only programmers read."""

from __future__ import annotations

import re

# What our models raise on purpose: one sentence, before the traceback that Triton adds.
_SENTENCE = re.compile(r"CheckpointError: (.+?)(?:\s+At:\s.*|\s*;?\s*)$", re.DOTALL)


def plain(reason: str) -> str:
    """The sentence of a model that refuses its folder; any other reason as it came."""
    found = _SENTENCE.search(reason)
    return reason if found is None else " ".join(found[1].split())
