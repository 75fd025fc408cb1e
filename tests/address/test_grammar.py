"""The corpus generator: deterministic, and its labels keep the rules."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from random import Random

import torch

from server_bundle.address.divisions import default_table
from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.features import CharacterTokenizer
from server_bundle.training.address.dataset import batches, vocabulary
from server_bundle.training.address.evaluate import read_labelled
from server_bundle.training.address.grammar import Grammar
from server_bundle.training.address.writer import Address

TABLE = default_table()
HAND_WRITTEN = Path(__file__).parent / "data" / "handwritten.txt"


def draw(seed: int, n: int) -> list[Address]:
    grammar = Grammar(TABLE, Random(seed))
    return [grammar.draw() for _ in range(n)]


def test_the_same_seed_gives_the_same_corpus() -> None:
    assert draw(5, 300) == draw(5, 300)
    assert draw(5, 50) != draw(6, 50)


def test_spans_are_ordered_typed_and_filled() -> None:
    seen: Counter[str] = Counter()
    for address in draw(7, 5000):
        for span in address.spans:
            part = address.text[span.start : span.end]
            assert span.type in ENTITY_TYPES
            assert part
            assert part == part.strip()
            # Brackets stay outside, but for the branch in a shop's own name: 优衣库(柏庄店).
            assert not re.search(r"[，。（）()|]", re.sub(r"\([^()]+店\)", "", part))
        for one, two in pairwise(address.spans):
            assert one.end <= two.start
        seen.update(span.type for span in address.spans)
    assert all(seen[type_] > 100 for type_ in ENTITY_TYPES)


def test_a_repeated_level_is_labelled_once() -> None:
    for address in draw(8, 3000):
        for type_ in ("prov", "city", "district", "town"):
            assert sum(span.type == type_ for span in address.spans) <= 1


def test_the_area_is_where_the_written_district_lies() -> None:
    for address in draw(9, 3000):
        for span in address.spans:
            if span.type == "district" and address.area:
                written = address.text[span.start : span.end]
                node = TABLE.nodes[address.area]
                assert written in {node.name, *node.short}


def test_the_hand_written_addresses_are_not_in_the_corpus() -> None:
    held_out = {address.text for address in read_labelled(HAND_WRITTEN)}
    assert len(held_out) >= 60
    assert not held_out & {address.text for address in draw(10, 20000)}


def test_batches_resume_where_they_stopped() -> None:
    tokenizer = CharacterTokenizer(vocabulary(TABLE))
    areas = {node.key: i for i, node in enumerate(TABLE.areas())}
    stream = batches(TABLE, tokenizer, areas, seed=3, tokens_per_batch=512)
    for _ in range(5):
        next(stream)
    resumed = batches(TABLE, tokenizer, areas, seed=3, tokens_per_batch=512, skip=5)
    one, two = next(stream), next(resumed)
    assert one.ids.shape == two.ids.shape
    assert torch.equal(one.ids[:, 0], two.ids[:, 0])
    assert torch.equal(one.spans, two.spans)
    assert torch.equal(one.areas, two.areas)
    assert one.ids.numel() <= 512


def test_labels_in_a_batch_are_the_spans() -> None:
    tokenizer = CharacterTokenizer(vocabulary(TABLE))
    stream = batches(TABLE, tokenizer, {}, seed=4, tokens_per_batch=512)
    batch = next(stream)
    assert batch.spans.shape == (len(batch.ids), 13, batch.ids.size(1), batch.ids.size(1))
    rows, _, first, last = batch.spans.nonzero(as_tuple=True)
    lengths = batch.mask.sum(1)
    assert (first >= 1).all()
    assert (last >= first).all()
    assert (last < lengths[rows] - 1).all()  # never [SEP]
