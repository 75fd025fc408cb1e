"""Entities that the division table makes likelier than the network alone finds them.

The network knows how addresses are written, the table knows which names exist: right behind 昆山市
the characters 花桥 are far likelier to be the town 花桥镇 than anywhere else. Such a name gets a
bonus on the network's score (both are log-odds, so evidence adds up) and is taken when the sum is
positive and beats what overlaps it. A name that the network plainly reads as a road or as part of
an estate keeps a negative sum.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from server_bundle.address.divisions import ABBREVIATIONS, MUNICIPALITIES, DivisionTable, Node
from server_bundle.address.entities import Span

DIVISION_TYPES = ("prov", "city", "district", "town")

# Added to the network's score of a span, in log-odds.
OFFICIAL = 12.0  # a full name that fits the divisions before it
BARE_TOWN = 4.0  # a town without its suffix right behind the division that it lies in
LONE_TOWN = 2.0  # one at the start of the text whose name occurs once in the country
SURE = 0.95  # the score of what is found by an abbreviation, which the network never saw

_BETWEEN = re.compile(r"[\s\-_/,，、|.·:：]*")
_NO_DIVISION = re.compile(r"[路街道巷弄桥]|大道")

Scores = Callable[[int, int, str], float]
"""The network's score of ``text[start:end]`` being of a type."""


class Gazetteer:
    """``temperature``: as for the network's own scores."""

    def __init__(self, table: DivisionTable, temperature: float = 1.0) -> None:
        self.table = table
        self.temperature = temperature
        self.longest_town = max(len(n.name) for n in table.nodes.values() if n.level == 4)

    def amend(
        self,
        text: str,
        spans: Sequence[Span],
        scores: Scores,
        locate: Callable[[Sequence[Span]], Node | None],
    ) -> list[Span]:
        """``spans`` of the normalised ``text`` and what the table adds; in reading order.

        ``locate``: the one division that some spans determine, or None.
        """
        found = list(spans)
        for added in self._abbreviation(text):
            found = _insert(found, added)
        found = sorted([*self._lone_prefix(text, found), *found])
        covered = [False] * len(text)
        for span in found:
            covered[span.start : span.end] = [True] * (span.end - span.start)
        for start, end, nodes in self.table.official_names(text, covered):
            found = self._offer(found, start, end, self._type(nodes[0], found), OFFICIAL, scores)
        if any(span.type == "town" for span in found):
            return found
        divisions = [span for span in found if span.type in DIVISION_TYPES]
        if not divisions:
            return self._lone_town(text, found, scores)
        located = locate(found)
        if located is None:
            return found
        for start, end, bonus in self._towns(text, located, divisions):
            found = self._offer(found, start, end, "town", bonus, scores)
            if any(span.type == "town" for span in found):
                break
        return found

    # -- what the table proposes -----------------------------------------------------------------

    def _abbreviation(self, text: str) -> list[Span]:
        """沪闵行… : the province's abbreviation right before one of its cities or districts."""
        start = len(text) - len(text.lstrip())
        province = ABBREVIATIONS.get(text[start : start + 1])
        if province is None:
            return []
        for end in range(min(len(text), start + 1 + self.table.longest), start + 2, -1):
            for node in self.table.names.get(text[start + 1 : end], ()):
                inside = node.level in (2, 3) and node.chain()[0].name == province
                # 城区, 郊区 and the like are no proof; 沪松江路 is a road.
                if inside and node.short and not _NO_DIVISION.match(text, end):
                    kind = DIVISION_TYPES[node.level - 1]
                    return [
                        Span(start, start + 1, "prov", SURE),
                        Span(start + 1, end, kind, SURE),
                    ]
        return []

    def _lone_prefix(self, text: str, spans: Sequence[Span]) -> list[Span]:
        """杭州 of 杭州经济技术开发区: a province or city that is all there is before a span."""
        if not spans:
            return []
        start = len(text) - len(text.lstrip())
        end = len(text[: spans[0].start].rstrip())
        nodes = self.table.names.get(text[start:end], ())
        if not nodes or nodes[0].level > 2 or self._type(nodes[0], spans) == "":
            return []
        return [Span(start, end, DIVISION_TYPES[nodes[0].level - 1], SURE)]

    @staticmethod
    def _type(node: Node, spans: Sequence[Span]) -> str:
        """The entity type of a node, empty where the level is there already (a repetition)."""
        there = {span.type for span in spans}
        kind = DIVISION_TYPES[node.level - 1]
        if node.key in MUNICIPALITIES and kind in there:
            kind = "city"
        return "" if kind in there else kind

    def _towns(
        self, text: str, node: Node, divisions: Sequence[Span]
    ) -> Iterator[tuple[int, int, float]]:
        """Towns of the node right behind one of the divisions, bare or with their suffix."""
        starts = {self._behind(text, span.end, node) for span in divisions}
        for start in sorted(starts):
            for end in range(min(len(text), start + self.longest_town), start + 1, -1):
                name = text[start:end]
                inside = [n for n in self.table.names.get(name, ()) if n.level == 4]
                inside = [n for n in inside if n.within(node)]
                if len(inside) == 1:
                    yield start, end, OFFICIAL if inside[0].name == name else BARE_TOWN
                    break

    def _behind(self, text: str, position: int, node: Node) -> int:
        """Where the text goes on behind separators and repeated names of the node's chain."""
        names = sorted(
            {name for above in node.chain() for name in (above.name, *above.short)},
            key=len,
            reverse=True,
        )
        while True:
            between = _BETWEEN.match(text, position)
            position = between.end() if between else position
            again = next((name for name in names if text.startswith(name, position)), None)
            if again is None:
                return position
            position += len(again)

    def _lone_town(self, text: str, spans: list[Span], scores: Scores) -> list[Span]:
        start = len(text) - len(text.lstrip())
        for end in range(min(len(text), start + self.longest_town), start + 1, -1):
            nodes = self.table.names.get(text[start:end], ())
            if len(nodes) == 1 and nodes[0].level == 4:
                return self._offer(spans, start, end, "town", LONE_TOWN, scores)
        return spans

    # -- what the network says to it -------------------------------------------------------------

    def _offer(
        self, spans: list[Span], start: int, end: int, type_: str, bonus: float, scores: Scores
    ) -> list[Span]:
        if not type_:
            return spans
        value = scores(start, end, type_) + bonus
        rivals = [s for s in spans if s.start < end and start < s.end]
        # 椒江区白云山南路: a road may begin like a town.
        if value <= 0 or any(s.type in (*DIVISION_TYPES, "road") for s in rivals):
            return spans
        if any(s.start < start or scores(s.start, s.end, s.type) >= value for s in rivals):
            return spans
        share = 1.0 / (1.0 + math.exp(-value / self.temperature))
        return _insert(spans, Span(start, end, type_, share))


def _insert(spans: Sequence[Span], new: Span) -> list[Span]:
    """With ``new``; what overlaps it keeps its part behind it, if that is two characters at
    least."""
    kept = [new]
    for span in spans:
        if span.end <= new.start or new.end <= span.start:
            kept.append(span)
        elif span.end - new.end >= 2 and span.type not in DIVISION_TYPES:
            kept.append(span._replace(start=new.end))
    return sorted(kept)
