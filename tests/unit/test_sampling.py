"""Sampling against transformers' logits processors, and the promises of its parameters."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from server_bundle.chitchat.folder import Vocabulary
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.sampling import RowState, Sampled, sample
from tests.support.sampling import expected_distribution

V = 1000
VOCABULARY = Vocabulary(size=V, stop=2, banned=(0, 1, 3, 998, 999))


def logits(seed: int, spread: float = 3.0) -> torch.Tensor:
    return torch.randn(1, V, generator=torch.Generator().manual_seed(seed)) * spread


def draws(
    raw: torch.Tensor, parameters: SamplingParameters, reply: list[int], n: int
) -> list[Sampled]:
    rows = []
    for seed in range(n):
        row = RowState(
            SamplingParameters(**{**vars(parameters), "seed": seed}), prompt=[5, 6, 7, 8]
        )
        for token in reply:
            row.append(token)
        rows.append(row)
    return sample(raw.expand(n, V).contiguous(), rows, VOCABULARY)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    spread=st.sampled_from([0.3, 1.0, 4.0]),
    temperature=st.floats(0.2, 2.0),
    top_p=st.sampled_from([0.1, 0.5, 0.7, 0.9, 0.999, 1.0]),
    top_k=st.sampled_from([0, 1, 5, 200, 256, 300, 999, V]),
    penalty=st.sampled_from([1.0, 1.3]),
    ngram=st.sampled_from([0, 1, 2, 3]),
    min_tokens=st.sampled_from([1, 9]),
    reply=st.lists(st.sampled_from([10, 11, 12]), max_size=8),
)
def test_distribution_agrees_with_transformers(
    seed: int,
    spread: float,
    temperature: float,
    top_p: float,
    top_k: int,
    penalty: float,
    ngram: int,
    min_tokens: int,
    reply: list[int],
) -> None:
    raw = logits(seed, spread)
    parameters = SamplingParameters(
        temperature=temperature,
        top_p=top_p,
        top_k=top_k,
        repetition_penalty=penalty,
        no_repeat_ngram_size=ngram,
        min_tokens=min_tokens,
    )
    result = draws(raw, parameters, reply, 8)
    expected = expected_distribution(raw, parameters, VOCABULARY, prompt=[5, 6, 7, 8], reply=reply)
    plain = raw.softmax(-1)[0]
    for sampled in result:
        assert expected[sampled.token] > 0
        assert sampled.confidence == pytest.approx(float(expected[sampled.token]), abs=1e-4)
        assert sampled.probability == pytest.approx(float(plain[sampled.token]), rel=1e-4)
        assert sampled.rank == int((plain > plain[sampled.token]).sum()) + 1
        assert sampled.token in sampled.top_ids
        assert len(set(sampled.top_ids)) == len(sampled.top_ids) == 6
        assert sampled.top_ids[:5] == plain.topk(5).indices.tolist()
        for token, share in zip(sampled.top_ids, sampled.top_probabilities, strict=True):
            assert share == pytest.approx(float(plain[token]), rel=1e-4)


@pytest.mark.parametrize("top_p", [0.8, 1.0])
def test_frequencies_follow_the_distribution(top_p: float) -> None:
    raw = logits(1, spread=2.0)
    parameters = SamplingParameters(temperature=0.9, top_p=top_p, top_k=30)
    expected = expected_distribution(raw, parameters, VOCABULARY)
    n = 4000
    counts = Counter(s.token for s in draws(raw, parameters, [], n))
    for token in expected.topk(10).indices.tolist():
        share = float(expected[token])
        assert abs(counts[token] / n - share) < 5 * (share * (1 - share) / n) ** 0.5 + 1e-9


def test_greedy_takes_the_likeliest_that_is_not_banned() -> None:
    raw = logits(3)
    raw[0, 999] = 100.0
    raw[0, 2] = 90.0  # the stop token may not be the first
    row = RowState(SamplingParameters(temperature=0.0), prompt=[])
    (first,) = sample(raw, [row], VOCABULARY)
    assert first.token not in (2, 999)
    assert first.confidence == 1.0
    assert first.probability < 1e-30
    row.append(first.token)
    (second,) = sample(raw, [row], VOCABULARY)
    assert second.token == 2


def test_a_seed_decides_alone_whatever_else_is_in_the_batch() -> None:
    raw = torch.cat([logits(s) for s in range(6)])
    rows = [RowState(SamplingParameters(seed=s, top_p=0.95), prompt=[]) for s in range(6)]
    together = [s.token for s in sample(raw, rows, VOCABULARY)]
    alone = []
    for s in range(6):
        row = RowState(SamplingParameters(seed=s, top_p=0.95), prompt=[])
        alone.append(sample(raw[s : s + 1], [row], VOCABULARY)[0].token)
    assert together == alone


def test_the_logits_handed_in_stay_as_they_are() -> None:
    raw = logits(4)
    before = raw.clone()
    sample(raw, [RowState(SamplingParameters(repetition_penalty=1.5), prompt=[9])], VOCABULARY)
    assert torch.equal(raw, before)


def test_ngrams_are_not_repeated_across_the_seam_of_a_continued_reply() -> None:
    parameters = SamplingParameters(no_repeat_ngram_size=2, min_tokens=3)
    whole = RowState(parameters, prompt=[])
    for token in (5, 6, 7, 5):
        whole.append(token)
    begun = RowState(parameters, prompt=[1, 5, 6, 7, 5], prefix=[5, 6, 7, 5])
    assert 6 in whole.banned(VOCABULARY)
    assert 6 in begun.banned(VOCABULARY)
    assert begun.reply == []  # its length and its end count from here
    assert VOCABULARY.stop in begun.banned(VOCABULARY)
    single = RowState(SamplingParameters(no_repeat_ngram_size=1), prompt=[], prefix=[8, 9])
    assert {8, 9} <= set(single.banned(VOCABULARY))
    assert 4 not in RowState(parameters, prompt=[4, 4], prefix=[]).banned(VOCABULARY)
