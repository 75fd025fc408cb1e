"""A labelled address, and the writer that puts one together from typed pieces."""

from __future__ import annotations

from dataclasses import dataclass

from server_bundle.address.entities import Span


@dataclass(frozen=True)
class Address:
    """One labelled example. ``area``: key of its district, "" where the text names none."""

    text: str
    spans: tuple[Span, ...]
    area: str


class Writer:
    """Collects pieces of text and the type of each."""

    def __init__(self) -> None:
        self.pieces: list[tuple[str, str]] = []

    def add(self, text: str, type_: str = "") -> None:
        if text:
            self.pieces.append((text, type_))

    def finish(self, area: str) -> Address:
        spans = []
        position = 0
        for text, type_ in self.pieces:
            if type_:
                spans.append(Span(position, position + len(text), type_))
            position += len(text)
        return Address("".join(text for text, _ in self.pieces), tuple(spans), area)
