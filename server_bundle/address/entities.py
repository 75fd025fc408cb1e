"""The 13 entity types of the address network, in the order of its GlobalPointer heads."""

from __future__ import annotations

from typing import NamedTuple

ENTITY_TYPES = (
    "prov",
    "city",
    "district",
    "town",
    "community",
    "road",
    "roadno",
    "poi",
    "subpoi",
    "houseno",
    "cellno",
    "floorno",
    "roomno",
)


class Span(NamedTuple):
    """``text[start:end]`` in Unicode code points, with its type and its score in (0, 1]."""

    start: int
    end: int
    type: str
    score: float = 1.0
