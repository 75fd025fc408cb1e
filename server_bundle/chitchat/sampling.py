"""From logits to a token, its confidence, its probability and the alternatives.

The order is: banned tokens removed → repetition penalty → temperature → top-k → top-p → softmax.
The chosen token's share of that last softmax is its *confidence*; *probability* and the
alternatives are read from the plain softmax of the logits as the network gave them. Temperature 0
takes the likeliest token that is not banned, with confidence 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from server_bundle.chitchat.folder import Vocabulary
from server_bundle.chitchat.parameters import SamplingParameters

# Nucleus sampling needs the probabilities in order. Nearly always the nucleus lies within the
# likeliest few hundred tokens, and a partial sort of those is many times cheaper than a full one.
_HEAD = 256


@dataclass
class RowState:
    """One reply's sampling state. Its random numbers depend on nothing but its own seed.

    ``prefix`` is what the prompt holds of the reply already: no n-gram is repeated across the seam,
    but only what is new counts as ``reply``.
    """

    parameters: SamplingParameters
    prompt: Sequence[int]
    reply: list[int] = field(default_factory=list)
    prefix: Sequence[int] = ()
    _text: list[int] = field(default_factory=list)
    _seen: set[int] = field(default_factory=set)
    _ngrams: dict[tuple[int, ...], set[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # Philox is counter-based: the same seed gives the same numbers on every platform.
        self._random = np.random.Generator(np.random.Philox(self.parameters.seed))
        if self.parameters.repetition_penalty != 1.0:
            self._seen.update(self.prompt)
        for token in self.prefix:
            self._note(token)

    def uniform(self) -> float:
        return float(self._random.random())

    def append(self, token: int) -> None:
        self.reply.append(token)
        self._note(token)

    def _note(self, token: int) -> None:
        self._text.append(token)
        n = self.parameters.no_repeat_ngram_size
        if n and len(self._text) >= n:
            gram = tuple(self._text[-n:])
            self._ngrams.setdefault(gram[:-1], set()).add(gram[-1])
        if self.parameters.repetition_penalty != 1.0:
            self._seen.add(token)

    def banned(self, vocabulary: Vocabulary) -> list[int]:
        """Token ids this row may not take now, beyond the vocabulary's own."""
        banned: list[int] = []
        if len(self.reply) < max(1, self.parameters.min_tokens):
            banned.append(vocabulary.stop)  # a reply has at least one token
        n = self.parameters.no_repeat_ngram_size
        if n == 1:
            banned.extend(self._text)
        elif n and len(self._text) >= n - 1:
            banned.extend(self._ngrams.get(tuple(self._text[-(n - 1) :]), ()))
        return banned

    def penalised(self) -> list[int]:
        return sorted(self._seen) if self.parameters.repetition_penalty != 1.0 else []


@dataclass(frozen=True)
class Sampled:
    """One token of one row.

    ``top_ids`` and ``top_probabilities`` have ``logprobs + 1`` entries: the likeliest, in order,
    and in the last place the chosen token if it is not among them (else the next likeliest).
    ``rank`` is the chosen token's place in the plain softmax, from 1.
    """

    token: int
    confidence: float
    probability: float
    rank: int
    top_ids: list[int]
    top_probabilities: list[float]


def sample(logits: Tensor, rows: Sequence[RowState], vocabulary: Vocabulary) -> list[Sampled]:
    """Choose the next token of each row. Does not append it to the row.

    Args:
        logits: FP32 ``[B, V]``, one row for each of ``rows``; not changed.
    """
    work = logits.clone()
    work[:, list(vocabulary.banned)] = -torch.inf
    for i, row in enumerate(rows):
        if banned := row.banned(vocabulary):
            work[i, banned] = -torch.inf
        if penalised := row.penalised():
            penalty = row.parameters.repetition_penalty
            values = work[i, penalised]
            work[i, penalised] = torch.where(values > 0, values / penalty, values * penalty)
    drawn = [i for i, row in enumerate(rows) if row.parameters.temperature > 0]
    confidences = [1.0] * len(rows)
    chosen = [-1] * len(rows) if len(drawn) == len(rows) else work.argmax(dim=-1).tolist()
    if drawn:
        part = work if len(drawn) == len(rows) else work[drawn]
        tokens, shares = _draw(part, [rows[i] for i in drawn])
        for i, token, share in zip(drawn, tokens, shares, strict=True):
            chosen[i] = token
            confidences[i] = share
    return _describe(logits, rows, chosen, confidences)


def _draw(work: Tensor, rows: Sequence[RowState]) -> tuple[list[int], list[float]]:
    """Temperature, top-k, top-p, softmax, and a draw by inverting the cumulative sum."""
    size = work.shape[1]
    device = work.device
    temperature = torch.tensor([r.parameters.temperature for r in rows], device=device)
    scaled = work / temperature.clamp_min(1e-4)[:, None]
    head = min(_HEAD, size)
    values, indices = scaled.topk(head)
    total = scaled.logsumexp(dim=-1)
    # From here on numpy, whose calls on a few hundred numbers cost half of what torch's do.
    shares = (values - total[:, None]).exp().double().cpu().numpy()
    covered = shares.sum(axis=-1)
    order_of_head = indices.cpu().numpy()
    tokens: list[int] = []
    confidences: list[float] = []
    for i, row in enumerate(rows):
        k = row.parameters.top_k or size
        p = row.parameters.top_p
        if k <= head:
            order, kept = order_of_head[i, :k], shares[i, :k]
        elif k == size and p < 1 and covered[i] >= p:
            order, kept = order_of_head[i], shares[i]
        else:
            kept = (scaled[i] - total[i]).exp().double().cpu().numpy()
            if k == size and p >= 1:  # nothing is cut, so the order does not matter
                order = np.arange(size)
            else:
                order = np.argsort(-scaled[i].cpu().numpy())[:k]
                kept = kept[order]
        mass = 1.0 if k == size else float(kept.sum())
        token, confidence = _inverse(order, kept, p * mass if p < 1 else None, row.uniform())
        tokens.append(token)
        confidences.append(confidence)
    return tokens, confidences


def _inverse(
    order: npt.NDArray[np.int64],
    shares: npt.NDArray[np.float64],
    nucleus: float | None,
    u: float,
) -> tuple[int, float]:
    """Draw from ``shares`` (descending if ``nucleus`` is given), cut where their sum reaches it."""
    cumulative = shares.cumsum()
    keep = len(cumulative)
    if nucleus is not None:  # the smallest set that reaches top_p; its first token always stays
        keep = min(keep, int(cumulative.searchsorted(nucleus)) + 1)
    kept = float(cumulative[keep - 1])
    place = min(int(cumulative[:keep].searchsorted(u * kept, side="right")), keep - 1)
    while place and float(shares[place]) == 0.0:  # u * kept may round up to kept
        place -= 1
    return int(order[place]), float(shares[place]) / kept


def _describe(
    logits: Tensor, rows: Sequence[RowState], chosen: list[int], confidences: list[float]
) -> list[Sampled]:
    width = max(row.parameters.logprobs for row in rows) + 1
    total = logits.logsumexp(dim=-1, keepdim=True)
    picked = logits.gather(1, torch.tensor(chosen, device=logits.device)[:, None])
    ranks = ((logits > picked).sum(dim=-1) + 1).tolist()
    probabilities = (picked - total).exp()[:, 0].tolist()
    top_values, top_indices = logits.topk(min(width, logits.shape[1]))
    top_shares = (top_values - total).exp().tolist()
    top_ids = top_indices.tolist()
    result = []
    for i, row in enumerate(rows):
        n = min(row.parameters.logprobs + 1, len(top_ids[i]))
        ids, shares = top_ids[i][:n], top_shares[i][:n]
        if chosen[i] not in ids:
            ids[-1], shares[-1] = chosen[i], probabilities[i]
        result.append(Sampled(chosen[i], confidences[i], probabilities[i], ranks[i], ids, shares))
    return result
