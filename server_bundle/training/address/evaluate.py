"""Entity precision, recall and F1 (exact span and type) and area accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from server_bundle.address.entities import ENTITY_TYPES, Span
from server_bundle.address.features import CharacterTokenizer
from server_bundle.address.global_pointer import decode
from server_bundle.address.network import BertFourLevelArea
from server_bundle.training.address.dataset import IGNORE, collate
from server_bundle.training.address.writer import Address


def read_labelled(path: Path) -> list[Address]:
    """Lines ``text | type=span type=span …`` in reading order; ``#`` begins a comment.

    A space inside a span is written ␣. Raises ValueError with the line where a span is not found.
    """
    addresses = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        text, _, labels = line.partition(" | ")
        position = 0
        spans = []
        for label in labels.split(" "):
            if not label:
                continue
            type_, _, part = label.replace("␣", " ").partition("=")
            start = text.find(part, position)
            if start < 0 or type_ not in ENTITY_TYPES:
                raise ValueError(f"{label!r} does not fit {text!r}")
            position = start + len(part)
            spans.append(Span(start, position, type_))
        addresses.append(Address(text, tuple(spans), ""))
    return addresses


@dataclass(frozen=True)
class Report:
    """Figures between 0 and 1. ``per_type``: type → (precision, recall, F1, spans in the gold)."""

    precision: float
    recall: float
    f1: float
    per_type: dict[str, tuple[float, float, float, int]]
    area_accuracy: float
    city_accuracy: float
    exact: float

    def describe(self) -> str:
        head = (
            f"F1 {self.f1:.4f} (P {self.precision:.4f}, R {self.recall:.4f}), "
            f"whole addresses right {self.exact:.4f}, "
            f"area {self.area_accuracy:.4f}, its city {self.city_accuracy:.4f}"
        )
        rows = [
            f"  {name:<10} P {p:.3f} R {r:.3f} F1 {f:.3f} n {n}"
            for name, (p, r, f, n) in self.per_type.items()
        ]
        return "\n".join([head, *rows])


def _ratios(right: int, predicted: int, gold: int) -> tuple[float, float, float]:
    precision = right / predicted if predicted else 0.0
    recall = right / gold if gold else 0.0
    both = precision + recall
    return precision, recall, 2 * precision * recall / both if both else 0.0


@torch.inference_mode()
def predict(
    model: BertFourLevelArea, tokenizer: CharacterTokenizer, addresses: Sequence[Address]
) -> tuple[list[list[Span]], list[int]]:
    """Spans and the index of the best area of each address, in order."""
    model.eval()
    order = sorted(range(len(addresses)), key=lambda i: len(addresses[i].text))
    spans: dict[int, list[Span]] = {}
    areas: dict[int, int] = {}
    for start in range(0, len(order), 64):
        rows = order[start : start + 64]
        batch = collate([addresses[i] for i in rows], tokenizer, {})
        cls, ner = model(batch.ids, torch.zeros_like(batch.ids), batch.mask)
        for row, index in enumerate(rows):
            offsets = tokenizer.encode(addresses[index].text).offsets
            spans[index] = decode(ner[row].numpy(), offsets, ENTITY_TYPES)
            areas[index] = int(cls[row].argmax())
    return [spans[i] for i in range(len(addresses))], [areas[i] for i in range(len(addresses))]


def evaluate(
    model: BertFourLevelArea,
    tokenizer: CharacterTokenizer,
    addresses: Sequence[Address],
    areas: dict[str, int],
) -> Report:
    predicted, best = predict(model, tokenizer, addresses)
    right: Counter[str] = Counter()
    given: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    exact = 0
    located: list[tuple[bool, bool]] = []
    keys = list(areas)
    for address, spans, area in zip(addresses, predicted, best, strict=True):
        expected = {(s.start, s.end, s.type) for s in address.spans}
        found = {(s.start, s.end, s.type) for s in spans}
        exact += expected == found
        gold.update(type_ for *_, type_ in expected)
        given.update(type_ for *_, type_ in found)
        right.update(type_ for *_, type_ in expected & found)
        if areas.get(address.area, IGNORE) != IGNORE:
            located.append((keys[area] == address.area, keys[area][:4] == address.area[:4]))
    overall = _ratios(right.total(), given.total(), gold.total())
    per_type = {t: (*_ratios(right[t], given[t], gold[t]), gold[t]) for t in ENTITY_TYPES}
    n = max(1, len(located))
    return Report(
        *overall,
        per_type,
        sum(a for a, _ in located) / n,
        sum(b for _, b in located) / n,
        exact / max(1, len(addresses)),
    )
