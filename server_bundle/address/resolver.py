"""Entities and text → the official division, with ranked candidates where it is ambiguous.

Names are looked up in the table, never guessed: each division entity of the network gives a few
possible nodes, and the deepest node whose chain of parents explains most of them is the answer. The
area head's vote ranks nodes that explain the text equally well; it never fills in a level that the
text leaves open.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from server_bundle.address.divisions import (
    ABBREVIATIONS,
    MUNICIPALITIES,
    DivisionTable,
    Node,
    default_table,
)
from server_bundle.address.entities import Span

LEVEL_OF_TYPE = {"prov": 1, "city": 2, "district": 3, "town": 4}
# All of them: 城关镇, the most frequent name, occurs 82 times.
MAX_CANDIDATES = 100

# How much a match tells: an exact official name at the level the network saw counts 1.
SHORT_NAME = 0.8
FORMER = 0.9
FORMER_SUFFIX = 0.5
OTHER_LEVEL = 0.6
# One wrong character in a name that does not exist: 余抗区, 海定区.
MISSPELT = 0.6
# Town names repeat all over the country: against a district that is written out they weigh less.
TOWN = 0.8

# 西安高新区, 昆山开发区: a zone that is called after the city or county it lies in.
_ZONE = re.compile(r"(?:高新|经济|经开|综合|保税|开发).*区$")
_OFFICE = re.compile(r"(?:街道办事处|街道办|街办事处|街办|街)$")
_SUFFIX = re.compile(r"(?:街道|地区|镇|乡|市|区|县)$")

SHORTEST_MISSPELT = 3

Vote = Callable[[Node], float]


@dataclass(frozen=True)
class Division:
    """Four names (empty where the text leaves the level open), the deepest official code and a
    confidence in [0, 1].

    The confidence is the mean score of the names that the division explains, times the share of
    all names in the text that it explains; for an only answer times 0.85 + 0.15 × the network's
    own share for the area, for one of several times its share among them. It ranks; it is no
    calibrated probability.
    """

    province: str = ""
    city: str = ""
    district: str = ""
    town: str = ""
    code: str = ""
    confidence: float = 0.0


@dataclass(frozen=True)
class Resolution:
    division: Division
    candidates: tuple[Division, ...]


@dataclass(frozen=True)
class _Mention:
    """A division name in the text with what it may mean: node → weight in (0, 1]."""

    name: str
    score: float
    meanings: dict[Node, float]


def describe(node: Node | None, confidence: float) -> Division:
    """The four levels of a node. A municipality is its own city."""
    if node is None:
        return Division()
    names = {n.level: n.name for n in node.chain()}
    city = names.get(2, "")
    if node.chain()[0].key in MUNICIPALITIES:
        city = names[1]
    return Division(
        names[1], city, names.get(3, ""), names.get(4, ""), node.code, round(confidence, 4)
    )


def normalise(name: str) -> str:
    """Full-width forms made plain, white space dropped."""
    return "".join(unicodedata.normalize("NFKC", name).split())


class Resolver:
    def __init__(self, table: DivisionTable | None = None) -> None:
        self.table = table or default_table()
        # 余?区 → the divisions of levels 1 to 3 that are called so but for one character.
        self._patterns: dict[str, list[Node]] = {}
        for node in self.table.nodes.values():
            if node.level < 4 and len(node.name) >= SHORTEST_MISSPELT:
                for pattern in _patterns(node.name):
                    self._patterns.setdefault(pattern, []).append(node)

    def resolve(self, text: str, spans: Sequence[Span], vote: Vote | None = None) -> Resolution:
        """``spans``: the entities of ``text``; ``vote``: the share the network gives to the area
        of a node (in [0, 1]), None when there is no network."""
        mentions = self._mentions(text, spans)
        tied = self._best(mentions)
        if not tied:
            return Resolution(Division(), ())
        certainty = self._certainty(mentions, tied[0])
        if len(tied) == 1:
            moved = self._moved_town(mentions, tied[0])
            nodes = [moved, tied[0]] if moved else tied
            answers = tuple(
                describe(
                    node,
                    self._certainty(mentions, node) * (0.85 + 0.15 * (vote(node) if vote else 1)),
                )
                for node in nodes
            )
            return Resolution(answers[0], answers)
        weights = [(vote(node) if vote else 0.0) + 0.02 for node in tied]
        total = sum(weights)
        ranked = sorted(zip(weights, tied, strict=True), key=lambda pair: -pair[0])
        candidates = tuple(
            describe(node, certainty * weight / total) for weight, node in ranked[:MAX_CANDIDATES]
        )
        return Resolution(describe(_common(tied), certainty), candidates)

    def locate(self, text: str, spans: Sequence[Span]) -> Node | None:
        """The one node that explains the text best, None where several do or none does."""
        best = self._best(self._mentions(text, spans))
        return best[0] if len(best) == 1 else None

    def _best(self, mentions: Sequence[_Mention]) -> list[Node]:
        """The deepest nodes that explain most, by key; several where the text is ambiguous."""
        leaves = {node for mention in mentions for node in mention.meanings}
        support = {node: self._support(node, mentions) for node in leaves}
        best = max(support.values(), default=0.0)
        tied = [node for node, value in support.items() if value > best - 1e-6]
        # A node that explains no more than one above it was not named: 吉林 is not 吉林市.
        tied = [n for n in tied if not any(o is not n and n.within(o) for o in tied)]
        # 香港九龙 is not 九龙县 in 四川: a name that can only be a province outweighs a lower one.
        provinces = {
            node
            for mention in mentions
            for node in mention.meanings
            if node.level == 1 and len({n.chain()[0] for n in mention.meanings}) == 1
        }
        if len(provinces) == 1:
            tied = [n for n in tied if n.chain()[0] in provinces] or tied
        return sorted(tied, key=lambda n: n.key)

    @staticmethod
    def _moved_town(mentions: Sequence[_Mention], district: Node) -> Node | None:
        """The town that a text names together with a district that it has left: 余杭区临平街道
        lies in 临平区 since 2021. Its full name must occur once in the city, and not in the
        district."""
        city = district.parent
        if district.level != 3 or city is None:
            return None
        for mention in mentions:
            named = [n for n, weight in mention.meanings.items() if n.level == 4 and weight >= TOWN]
            there = [n for n in named if n.within(city)]
            if len(there) == 1 and not there[0].within(district):
                return there[0]
        return None

    # -- what the text names ---------------------------------------------------------------------

    def _mentions(self, text: str, spans: Sequence[Span]) -> list[_Mention]:
        found: dict[str, _Mention] = {}
        unknown: dict[str, _Mention] = {}
        covered = [False] * len(text)
        for span in spans:
            covered[span.start : span.end] = [True] * (span.end - span.start)
            level = LEVEL_OF_TYPE.get(span.type)
            if level is None:
                continue
            name = normalise(text[span.start : span.end])
            for part in self._parts(name, level):
                meanings = self._meanings(part, level)
                if meanings and part not in found:
                    found[part] = _Mention(part, span.score, meanings)
                if not meanings and (meanings := self._misspelt(part, level)):
                    unknown[part] = _Mention(part, span.score, meanings)
        for start, end, nodes in self.table.official_names(text, covered):
            name = text[start:end]
            if name not in found:
                found[name] = _Mention(name, 0.9, dict.fromkeys(nodes, 0.9))
        for name in self._lone_names(text, covered):
            if name not in found:
                coarse = (n for n in self.table.names[name] if n.level < 3)
                found[name] = _Mention(name, 0.8, dict.fromkeys(coarse, SHORT_NAME))
        if not found:
            found = self._zones(text, spans)
        return [*found.values(), *_supported(list(unknown.values()), list(found.values()))]

    def _misspelt(self, name: str, level: int) -> dict[Node, float]:
        if level > 3 or len(name) < SHORTEST_MISSPELT:
            return {}
        nodes = [n for p in _patterns(name) for n in self._patterns.get(p, ()) if n.level == level]
        return dict.fromkeys(nodes, MISSPELT)

    def _zones(self, text: str, spans: Sequence[Span]) -> dict[str, _Mention]:
        """What a zone's name says where the text names no division otherwise."""
        for span in spans:
            name = normalise(text[span.start : span.end])
            if span.type != "poi" or not _ZONE.search(name):
                continue
            for end in range(len(name) - 2, 1, -1):
                nodes = [n for n in self.table.names.get(name[:end], ()) if n.level < 4]
                if nodes and _ZONE.match(name, end):
                    # 西安高新区 lies in 西安市, not in one of the districts 西安区.
                    coarse = [n for n in nodes if n.level == nodes[0].level]
                    meanings = dict.fromkeys(coarse, SHORT_NAME)
                    return {name[:end]: _Mention(name[:end], span.score * SHORT_NAME, meanings)}
        return {}

    def _parts(self, name: str, level: int) -> list[str]:
        """The name itself; 苏州吴中 in one span is taken apart when the table knows both."""
        if level == 4 or self._meanings(name, level):
            return [name]
        parts = []
        position = 0
        while position < len(name):
            for end in range(len(name), position + 1, -1):
                part = name[position:end]
                if any(n.level < 4 for n in self.table.names.get(part, ())):
                    parts.append(part)
                    position = end
                    break
            else:
                return [name]
        return parts

    def _meanings(self, name: str, level: int) -> dict[Node, float]:
        meanings: dict[Node, float] = {}

        def add(nodes: Iterable[Node], weight: float) -> None:
            for node in nodes:
                near = node.level == level or (node.key in MUNICIPALITIES and level == 2)
                # A town is no district and no city: their levels are only confused upwards.
                if not near and (node.level == 4 or (level == 4 and node.level < 3)):
                    continue
                value = weight * (1.0 if near else OTHER_LEVEL)
                value *= TOWN if node.level == 4 else 1.0
                meanings[node] = max(value, meanings.get(node, 0.0))

        exact = self.table.names.get(name, [])
        add((n for n in exact if n.name == name), 1.0)
        add((n for n in exact if n.name != name), SHORT_NAME)
        add(self.table.former.get(name, ()) if 2 <= level < 4 else (), FORMER)
        if level == 1:
            add(self.table.names.get(ABBREVIATIONS.get(name, ""), ()), SHORT_NAME)
        if level == 4:
            office = _OFFICE.sub("街道", name)
            add((n for n in self.table.names.get(office, []) if n.name == office), 1.0)
        if level >= 3:
            base = _SUFFIX.sub("", name)
            if base != name and len(base) >= 2:
                # 临平镇 became 临平街道, 萧山市 became 萧山区.
                same = (n for n in self.table.names.get(base, []) if n.level == level)
                add(same, FORMER_SUFFIX)
        return meanings

    def _lone_names(self, text: str, covered: Sequence[bool]) -> list[str]:
        """Provinces and cities that are, alone, all the text before or between two entities: the
        network may miss the 杭州 of 杭州经济技术开发区."""
        names = []
        start = 0
        for marked, run in groupby(covered):
            end = start + len(list(run))
            name = normalise(text[start:end])
            if not marked and end < len(text) and self._is_coarse(name):
                names.append(name)
            start = end
        return names

    def _is_coarse(self, name: str) -> bool:
        return any(node.level < 3 for node in self.table.names.get(name, ()))

    # -- which chain explains it -----------------------------------------------------------------

    @staticmethod
    def _support(node: Node, mentions: Sequence[_Mention]) -> float:
        chain = node.chain()
        return sum(max(m.meanings.get(above, 0.0) for above in chain) for m in mentions)

    @staticmethod
    def _certainty(mentions: Sequence[_Mention], node: Node) -> float:
        """Mean score of the mentions that the node explains, times the share it explains."""
        chain = node.chain()
        explained = [m for m in mentions if any(above in m.meanings for above in chain)]
        mean = sum(m.score for m in explained) / len(explained)
        return mean * len(explained) / len(mentions)


def _patterns(name: str) -> list[str]:
    """The name with each character but the last (市, 区 …) left open."""
    return [f"{name[:i]}?{name[i + 1 :]}" for i in range(len(name) - 1)]


def _supported(unknown: Sequence[_Mention], known: Sequence[_Mention]) -> list[_Mention]:
    """Of names with a wrong character those meanings that lie in one line with another name's: a
    name that stands alone may just as well not exist."""
    kept = []
    for mention in unknown:
        others = {n for m in (*known, *unknown) if m is not mention for n in m.meanings}
        meanings = {
            node: weight
            for node, weight in mention.meanings.items()
            if any(node is not o and (node.within(o) or o.within(node)) for o in others)
        }
        if meanings:
            kept.append(_Mention(mention.name, mention.score, meanings))
    return kept


def _common(nodes: Sequence[Node]) -> Node | None:
    """The deepest division that holds all of them."""
    shared: Node | None = None
    for level in (1, 2, 3, 4):
        above = {node.at(level) for node in nodes} - {None}
        if len(above) > 1:
            break
        if above and all(node.at(level) is not None for node in nodes):
            shared = above.pop()
    return shared
