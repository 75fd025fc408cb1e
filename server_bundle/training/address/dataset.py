"""Endless batches of generated addresses, bucketed by length, resumable at any batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import torch
from torch import Tensor

from server_bundle.address.divisions import DivisionTable
from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.features import SPECIAL_TOKENS, CharacterTokenizer
from server_bundle.training.address import lexicon
from server_bundle.training.address.grammar import Grammar
from server_bundle.training.address.writer import Address

POOL = 4096
UNKNOWN_RATE = 0.004
IGNORE = -100


def vocabulary(table: DivisionTable) -> list[str]:
    """Special tokens, ASCII, punctuation, then every Han character of GB 2312 and the tables."""
    characters = set(lexicon.han_characters())
    characters.update("".join(lexicon.place_names()))
    characters.update("".join(table.names))
    punctuation = "，。、；：！？（）【】《》“”‘’·—－～…＃＆＋〇°№※→／＿｜棟號樓層座單門"
    ascii_ = [chr(c) for c in range(0x21, 0x7F)]
    known = {*ascii_, *SPECIAL_TOKENS}
    ordered = list(dict.fromkeys(punctuation + "".join(sorted(characters))))
    return [*SPECIAL_TOKENS, *ascii_, *(c for c in ordered if c not in known and not c.isspace())]


@dataclass(frozen=True)
class Batch:
    """``ids``, ``mask`` INT64 [B, L]; ``spans`` FP32 [B, 13, L, L] of 0/1; ``areas`` INT64 [B]."""

    ids: Tensor
    mask: Tensor
    spans: Tensor
    areas: Tensor


def collate(
    addresses: Sequence[Address],
    tokenizer: CharacterTokenizer,
    areas: dict[str, int],
    rng: Random | None = None,
) -> Batch:
    """Pads to the longest; with ``rng`` a few characters become [UNK], as unseen ones will be."""
    encoded = [tokenizer.encode(a.text).ids for a in addresses]
    length = max(map(len, encoded))
    ids = torch.full((len(encoded), length), tokenizer.pad_id)
    mask = torch.zeros_like(ids)
    spans = torch.zeros(len(encoded), len(ENTITY_TYPES), length, length)
    for row, (tokens, address) in enumerate(zip(encoded, addresses, strict=True)):
        for i in range(1, len(tokens) - 1):
            if rng is not None and rng.random() < UNKNOWN_RATE:
                tokens[i] = tokenizer.unk_id
        ids[row, : len(tokens)] = torch.tensor(tokens)
        mask[row, : len(tokens)] = 1
        for span in address.spans:
            # Token 0 is [CLS]; the end of a span is inclusive in the score matrix.
            spans[row, ENTITY_TYPES.index(span.type), span.start + 1, span.end] = 1
    labels = torch.tensor([areas.get(a.area, IGNORE) for a in addresses])
    return Batch(ids, mask, spans, labels)


def batches(
    table: DivisionTable,
    tokenizer: CharacterTokenizer,
    areas: dict[str, int],
    *,
    seed: int,
    tokens_per_batch: int,
    max_characters: int = 62,
    skip: int = 0,
) -> Iterator[Batch]:
    """Pools of addresses, each pool from its own seed, so that ``skip`` batches cost little."""
    pool_number = 0
    done = 0
    while True:
        rng = Random(f"{seed}/{pool_number}")
        pool_number += 1
        grammar = Grammar(table, rng)
        pool = [grammar.draw() for _ in range(POOL)]
        pool = sorted((a for a in pool if len(a.text) <= max_characters), key=lambda a: len(a.text))
        groups: list[list[Address]] = [[]]
        for address in pool:
            if (len(groups[-1]) + 1) * (len(address.text) + 2) > tokens_per_batch:
                groups.append([])
            groups[-1].append(address)
        rng.shuffle(groups)
        for group in groups:
            done += 1
            if done > skip:
                yield collate(group, tokenizer, areas, rng)
