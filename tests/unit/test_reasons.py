"""What a person reads of why a model did not load."""

from __future__ import annotations

import pytest

from desktop.triton.reasons import plain

FULL = (
    "load failed for model 'mine': version 1 is at UNAVAILABLE state: Internal: CheckpointError: "
    "/data/mine/prompt.toml: context must be a whole number from 32 to 64, not 9999\n\nAt:\n"
    "  /opt/tritalk/server_bundle/chitchat/prompt_file.py(145): _whole\n"
    "  /models/mine/1/model.py(27): initialize\n;"
)
SENTENCE = "/data/mine/prompt.toml: context must be a whole number from 32 to 64, not 9999"


@pytest.mark.parametrize("reason", [FULL, " ".join(FULL.split()), FULL.partition("\n")[0]])
def test_a_refusal_is_its_sentence(reason: str) -> None:
    assert plain(reason) == SENTENCE


@pytest.mark.parametrize("reason", ["", "unloaded", "Internal: RuntimeError: x\n\nAt:\n  y(1): z"])
def test_other_reasons_stay(reason: str) -> None:
    assert plain(reason) == reason
