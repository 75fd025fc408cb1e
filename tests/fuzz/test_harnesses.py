"""Each harness runs on its seeds and on a few of its own mutations, here without atheris."""

from __future__ import annotations

import random

import pytest

from tests.fuzz import harness

_EACH = 12


@pytest.mark.parametrize("name", harness.names())
def test_seeds_and_some_mutations(
    name: str, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRITALK_HOME", str(tmp_path_factory.mktemp("home")))
    chosen = harness.load(name)
    seeds = list(chosen.seeds())
    assert seeds
    assert max(map(len, seeds)) <= chosen.max_len
    chance = random.Random(name)
    for seed in seeds:
        chosen.one(seed)
    if chosen.mutate is None:
        return
    for _ in range(_EACH):
        data = chosen.mutate(chance.choice(seeds), chance)
        if len(data) <= chosen.max_len:
            chosen.one(data)
