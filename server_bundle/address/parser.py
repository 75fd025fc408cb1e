"""Raw texts → entities and division: validation, normalisation, windows, length buckets, network,
decoding. Network and resolver read the normalised text; what is handed out is the original."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from server_bundle.address import contacts, numbers
from server_bundle.address.divisions import Node
from server_bundle.address.entities import Span
from server_bundle.address.features import Encoding
from server_bundle.address.folder import AddressModel
from server_bundle.address.gazetteer import DIVISION_TYPES, Gazetteer
from server_bundle.address.global_pointer import decode
from server_bundle.address.normalisation import normalise_characters
from server_bundle.address.one_line import one_line
from server_bundle.address.resolver import Resolver

MAX_CHARACTERS = 2000
WINDOW = 62  # with [CLS] and [SEP] the 64 tokens the network is trained on
# No address is shorter.
SHORTEST = 6
# How far from a cut the network has seen enough to be trusted.
MARGIN = 15
BUCKET = 8
# What one call of the network costs before the first token, in tokens.
CALL = 128

Ids = npt.NDArray[np.int64]
Logits = npt.NDArray[np.float32]
# input_ids, segment_ids, input_mask [B, L] → area logits [B, N], span scores [B, types, L, L]
Network = Callable[[Ids, Ids, Ids], tuple[Logits, Logits]]

_BREAK = re.compile(r"[\n\r;；。，,、|\t ]")
_SENTENCE = re.compile(r"[\n\r;；。！!]")


class InvalidAddress(ValueError):
    """The text cannot be parsed; the message is one sentence for a person."""


@dataclass(frozen=True)
class _Window:
    """A stretch of one text. ``open_left``/``open_right``: the text was cut in the middle there;
    ``sure_from`` and ``sure_to``: the part, in offsets of the text, that is far from a cut."""

    row: int
    start: int
    open_left: bool
    open_right: bool
    text: str
    encoding: Encoding
    sure_from: int
    sure_to: int

    def certainty(self, span: Span) -> tuple[int, float]:
        """Of overlapping spans from two windows the one with more of it stays."""
        near = min(span.start - self.sure_from, self.sure_to - span.end, 0)
        return near, span.score


@dataclass(frozen=True)
class _Head:
    """The window of a text that decides about its division, with what the network said of it."""

    window: _Window
    spans: list[Span]
    logits: Logits
    scores: Logits

    @property
    def rank(self) -> tuple[int, int]:
        """The smaller the better: many levels of a division, then far to the left."""
        return -len({s.type for s in self.spans} & set(DIVISION_TYPES)), self.window.start


def check(text: str) -> InvalidAddress | None:
    """Why a text cannot be parsed, or None."""
    if not text.strip():
        return InvalidAddress("The address is empty.")
    if len(text) > MAX_CHARACTERS:
        return InvalidAddress(
            f"The address has {len(text)} characters; at most {MAX_CHARACTERS} can be parsed."
        )
    if all(c.isspace() or unicodedata.category(c).startswith("C") for c in text):
        return InvalidAddress("The address holds no readable character, only control characters.")
    return None


def cuts(text: str, size: int = WINDOW) -> list[tuple[int, int]]:
    """Windows of at most ``size`` characters over a text, each half over the one before it, so that
    an address that does not fit into one is whole in another, and one behind the end of each
    sentence, so that what stands before an address does not mislead."""
    if len(text) <= size:
        return [(0, len(text))]
    ends = [m.end() for m in _SENTENCE.finditer(text)]
    starts = {0, *(a for a, b in pairwise([*ends, len(text)]) if b - a >= SHORTEST)}
    start = 0
    while len(text) - start > size:
        low, high = start + size // 4, start + size * 2 // 3
        breaks = [m.end() for m in _BREAK.finditer(text, low, high)]
        start = (breaks or [start + size // 2])[-1]
        starts.add(start)
    return [(start, min(start + size, len(text))) for start in sorted(starts)]


def buckets(windows: Sequence[_Window]) -> dict[int, list[_Window]]:
    """Padded length (a multiple of 8) → the windows run at it, shortest first. Few short ones are
    padded to the next length where that costs less than a call of their own."""
    by_length: dict[int, list[_Window]] = defaultdict(list)
    for window in windows:
        by_length[-(-len(window.encoding.ids) // BUCKET) * BUCKET].append(window)
    found: dict[int, list[_Window]] = {}
    waiting: list[_Window] = []
    lengths = sorted(by_length)
    for i, length in enumerate(lengths):
        waiting += by_length[length]
        if i + 1 == len(lengths) or len(waiting) * (lengths[i + 1] - length) > CALL:
            found[length] = waiting
            waiting = []
    return found


class AddressParser:
    """``network`` runs a batch of at most ``max_batch`` rows; ``folder`` holds vocabulary and
    labels. Raises FileNotFoundError or ValueError when the folder lacks something."""

    def __init__(self, folder: Path, network: Network, max_batch: int) -> None:
        self.model = AddressModel.load(folder)
        self.network = network
        self.max_batch = max_batch
        self.resolver = Resolver()
        self.gazetteer = Gazetteer(self.resolver.table)
        self.set_temperature(self.model.temperature)
        self.area_rows: dict[str, list[int]] = defaultdict(list)
        for row, key in enumerate(self.model.areas):
            node = self.resolver.table.nodes.get(key)
            for above in node.chain() if node else ():
                self.area_rows[above.key].append(row)

    def set_temperature(self, temperature: float) -> None:
        """What span scores are divided by before the sigmoid, instead of the folder's own."""
        self.temperature = self.gazetteer.temperature = temperature

    def parse(self, texts: Sequence[str | bytes]) -> list[dict[str, Any] | InvalidAddress]:
        """One result a text, in order: the JSON object of ``address_parser``, or why there is none.

        Bytes are read as UTF-8. Spans count code points of the text as it was given. A text that
        occurs twice is parsed once, and its result is handed out twice.
        """
        once = {text: i for i, text in enumerate(dict.fromkeys(texts))}
        results = self._parse(list(once))
        return [results[once[text]] for text in texts]

    def _parse(self, texts: Sequence[str | bytes]) -> list[dict[str, Any] | InvalidAddress]:
        results: list[dict[str, Any] | InvalidAddress | None] = [None] * len(texts)
        decoded = [""] * len(texts)
        plain = [""] * len(texts)
        windows: list[_Window] = []
        for row, raw in enumerate(texts):
            try:
                decoded[row] = raw.decode() if isinstance(raw, bytes) else raw
            except UnicodeDecodeError:
                results[row] = InvalidAddress("The address is not valid UTF-8 text.")
                continue
            results[row] = check(decoded[row])
            if results[row] is None:
                plain[row] = normalise_characters(decoded[row])
                windows += self._windows(row, plain[row])
        spans, areas = self._run(windows)
        return [
            self._result(text, plain[row], spans[row], areas[row])
            if (failed := results[row]) is None
            else failed
            for row, text in enumerate(decoded)
        ]

    def _windows(self, row: int, text: str) -> list[_Window]:
        return [
            _Window(
                row,
                start,
                open_left=start > 0 and not _BREAK.match(text, start - 1),
                open_right=end < len(text) and not _BREAK.match(text, end),
                text=text[start:end],
                encoding=self.model.tokenizer.encode(text[start:end]),
                sure_from=0 if start == 0 or _SENTENCE.match(text, start - 1) else start + MARGIN,
                sure_to=len(text) if end == len(text) else end - MARGIN,
            )
            for start, end in cuts(text, min(WINDOW, self.model.positions - 2))
        ]

    def _run(
        self, windows: Sequence[_Window]
    ) -> tuple[dict[int, list[Span]], dict[int, npt.NDArray[np.float32]]]:
        """Spans and area shares of each text. Of a long one the window that names most levels of a
        division is amended by the table, and votes."""
        spans: dict[int, dict[Span, _Window]] = defaultdict(dict)
        heads: dict[int, _Head] = {}
        for padded, bucket in buckets(windows).items():
            length = min(padded, self.model.positions)
            for first in range(0, len(bucket), self.max_batch):
                chunk = bucket[first : first + self.max_batch]
                cls, ner = self.network(*self._tensors(chunk, length))
                for window, logits, scores in zip(chunk, cls, ner, strict=True):
                    found = self._kept(window, scores)
                    spans[window.row].update(dict.fromkeys(found, window))
                    head = _Head(window, found, logits, scores)
                    if (known := heads.get(window.row)) is None or head.rank < known.rank:
                        heads[window.row] = head
        areas = {}
        for row, head in heads.items():
            shares = np.exp(head.logits - head.logits.max())
            areas[row] = shares / shares.sum()
            for span in head.spans:
                spans[row].pop(span, None)
            spans[row].update(dict.fromkeys(self._amended(head), head.window))
        return {row: _without_overlaps(found) for row, found in spans.items()}, areas

    def _tensors(self, chunk: Sequence[_Window], length: int) -> tuple[Ids, Ids, Ids]:
        ids = np.full((len(chunk), length), self.model.tokenizer.pad_id, np.int64)
        mask = np.zeros_like(ids)
        for row, window in enumerate(chunk):
            n = len(window.encoding.ids)
            ids[row, :n] = window.encoding.ids
            mask[row, :n] = 1
        return ids, np.zeros_like(ids), mask

    def _kept(self, window: _Window, scores: Logits) -> list[Span]:
        """The spans of a window in offsets of the text, without those a cut may have maimed."""
        last = window.encoding.offsets[-1][0]
        kept = []
        for span in self._decode(window, scores):
            if (window.open_left and span.start == 0) or (window.open_right and span.end == last):
                continue
            kept.append(_moved(span, window.start))
        return kept

    def _decode(self, window: _Window, scores: Logits) -> list[Span]:
        return decode(scores, window.encoding.offsets, self.model.types, self.temperature)

    def _amended(self, head: _Head) -> list[Span]:
        """The spans of the window, and what the table adds to them."""
        rows = {type_: row for row, type_ in enumerate(self.model.types)}
        if not rows.keys() >= set(DIVISION_TYPES):
            return head.spans  # a network with other types
        window = head.window
        offsets = window.encoding.offsets
        firsts = {start: i for i, (start, _) in enumerate(offsets[:-1]) if i}
        lasts = {end: i for i, (_, end) in enumerate(offsets[:-1]) if i}

        def score(start: int, end: int, type_: str) -> float:
            if start not in firsts or end not in lasts:
                return -math.inf  # inside of a token
            return float(head.scores[rows[type_], firsts[start], lasts[end]])

        amended = self.gazetteer.amend(
            window.text,
            [_moved(span, -window.start) for span in head.spans],
            score,
            lambda found: self.resolver.locate(window.text, found),
        )
        return [_moved(span, window.start) for span in amended]

    def _result(
        self, text: str, plain: str, spans: Sequence[Span], areas: npt.NDArray[np.float32]
    ) -> dict[str, Any]:
        def vote(node: Node) -> float:
            """The share of the areas in the node; a town's is its district's."""
            for above in reversed(node.chain()):
                if rows := self.area_rows.get(above.key):
                    return float(areas[rows].sum())
            return 0.0

        spans = numbers.amend(plain, spans)
        people = contacts.find(plain, spans)
        spans = contacts.without(spans, people)
        resolution = self.resolver.resolve(plain, spans, vote)
        return {
            "text": text,
            "entities": [
                {
                    "type": span.type,
                    "text": text[span.start : span.end],
                    "start": span.start,
                    "end": span.end,
                    "score": min(round(span.score, 6), 0.999999),  # below 1, as a sigmoid is
                }
                for span in spans
            ],
            "division": dict(vars(resolution.division)),
            "candidates": [dict(vars(candidate)) for candidate in resolution.candidates],
            "contacts": [
                {
                    "type": one.type,
                    "text": text[one.start : one.end],
                    "start": one.start,
                    "end": one.end,
                }
                for one in people
            ],
            "one_line": one_line(plain, spans, resolution.division),
        }


def _moved(span: Span, by: int) -> Span:
    return span._replace(start=span.start + by, end=span.end + by)


def _without_overlaps(spans: Mapping[Span, _Window]) -> list[Span]:
    """Overlapping windows see the same span twice, or two that clash: the surer one stays."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda s: spans[s].certainty(s), reverse=True):
        if all(span.end <= other.start or other.end <= span.start for other in kept):
            kept.append(span)
    return sorted(kept)
