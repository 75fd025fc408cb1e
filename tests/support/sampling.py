"""The distribution a token is drawn from, computed by transformers' own processors."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from transformers import (
    NoRepeatNGramLogitsProcessor,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

from server_bundle.chitchat.folder import Vocabulary
from server_bundle.chitchat.parameters import SamplingParameters


def expected_distribution(
    logits: torch.Tensor,
    parameters: SamplingParameters,
    vocabulary: Vocabulary,
    *,
    prompt: Sequence[int] = (),
    reply: Sequence[int] = (),
) -> torch.Tensor:
    """``[V]`` after banning, penalties, temperature, top-k and top-p, in design.md's order."""
    work = logits.reshape(1, -1).clone()
    work[:, list(vocabulary.banned)] = -torch.inf
    if len(reply) < max(1, parameters.min_tokens):
        work[:, vocabulary.stop] = -torch.inf
    made = torch.tensor([list(reply)], dtype=torch.long)
    if parameters.no_repeat_ngram_size and len(reply):
        work = NoRepeatNGramLogitsProcessor(parameters.no_repeat_ngram_size)(made, work)
    if parameters.repetition_penalty != 1.0:
        everything = torch.tensor([[*prompt, *reply]], dtype=torch.long)
        work = RepetitionPenaltyLogitsProcessor(parameters.repetition_penalty)(everything, work)
    work = TemperatureLogitsWarper(parameters.temperature)(None, work)
    if parameters.top_k:
        work = TopKLogitsWarper(parameters.top_k)(None, work)
    if parameters.top_p < 1:
        work = TopPLogitsWarper(parameters.top_p)(None, work)
    return work.softmax(-1)[0]
