"""The packaged table of China's administrative divisions, levels 1 (province) to 4 (town)."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

TABLE = Path(__file__).parent / "divisions.tsv.gz"
FORMER_NAMES = Path(__file__).parent / "former_names.txt"

MUNICIPALITIES = frozenset({"110000", "120000", "310000", "500000"})

SHORT_PROVINCES = {
    "内蒙古自治区": ("内蒙古", "内蒙"),
    "广西壮族自治区": ("广西",),
    "西藏自治区": ("西藏",),
    "宁夏回族自治区": ("宁夏",),
    "新疆维吾尔自治区": ("新疆",),
    "香港特别行政区": ("香港",),
    "澳门特别行政区": ("澳门",),
}

# One character for a province, as on number plates. Those that begin many other names (云, 宁, 青,
# 新, 吉, 藏, 蒙) are left out.
ABBREVIATIONS = {
    "京": "北京市", "津": "天津市", "沪": "上海市", "渝": "重庆市", "冀": "河北省", "晋": "山西省",
    "辽": "辽宁省", "苏": "江苏省", "浙": "浙江省", "皖": "安徽省", "闽": "福建省", "赣": "江西省",
    "鲁": "山东省", "豫": "河南省", "鄂": "湖北省", "湘": "湖南省", "粤": "广东省",
    "桂": "广西壮族自治区", "琼": "海南省", "川": "四川省", "黔": "贵州省", "陕": "陕西省",
    "甘": "甘肃省",
}  # fmt: skip

# Districts that were merged away and that people still write → keys of what holds them today. These
# were looked up by hand, beside the packaged table of former names.
RENAMED = {
    "闸北区": ("310106",), "卢湾区": ("310101",), "南汇区": ("310115",), "川沙县": ("310115",),
    "宣武区": ("110102",), "崇文区": ("110101",),
    "塘沽区": ("120116",), "汉沽区": ("120116",), "大港区": ("120116",),
    "下城区": ("330105",), "江干区": ("330102",), "江东区": ("330212",),
    "白下区": ("320104",), "下关区": ("320106",),
    "沧浪区": ("320508",), "平江区": ("320508",), "金阊区": ("320508",),
    "崇安区": ("320213",), "南长区": ("320213",), "北塘区": ("320213",),
    "东山区": ("440104",), "萝岗区": ("440112",),
}  # fmt: skip

_NATION = (
    "蒙古族|回族|藏族|维吾尔族?|苗族|彝族|壮族|布依族|朝鲜族|满族|侗族|瑶族|白族|土家族|哈尼族|哈萨克族?|"
    "傣族|黎族|傈僳族|佤族|畲族|高山族|拉祜族|水族|东乡族|纳西族|景颇族|柯尔克孜族?|土族|达斡尔族|仫佬族|"
    "羌族|布朗族|撒拉族|毛南族|仡佬族|锡伯族|塔吉克族?|怒族|保安族|裕固族|独龙族|普米族|门巴族|各族|蒙古"
)
_AUTONOMOUS = re.compile(rf"^(.{{2,}}?)(?:{_NATION})+自治[州县旗]$")
_PLAIN_SUFFIX = {
    1: ("省", "市"),
    2: ("地区", "市", "州", "盟", "县"),
    3: ("自治县", "县", "市", "区", "旗"),
    4: ("街道", "镇", "乡", "苏木"),
}
_NATION_TOWNSHIP = re.compile(rf"^(.{{2,}}?)(?:{_NATION})+乡$")


def short_names(name: str, level: int) -> tuple[str, ...]:
    """The names people write, the one without a suffix first: 余杭区 → 余杭, 延边朝鲜族自治州 →
    延边 and 延边州; two characters at least.

    Counties with one-character names (滑县) and 城区/郊区-like names have none.
    """
    if level == 1 and name in SHORT_PROVINCES:
        return SHORT_PROVINCES[name]
    match = _AUTONOMOUS.match(name) or (_NATION_TOWNSHIP.match(name) if level == 4 else None)
    if match:
        # 黔东南苗族侗族自治州 is also written 黔东南州, 景宁畲族自治县 景宁县.
        return (match.group(1), match.group(1) + name[-1])
    if level == 3 and name.endswith("新区") and len(name) >= 4:
        return (name[:-2], name[:-1])
    for suffix in _PLAIN_SUFFIX[level]:
        if name.endswith(suffix) and len(name) - len(suffix) >= 2:
            return (name[: -len(suffix)],)
    return ()


@dataclass(eq=False)
class Node:
    """One division. ``code`` is the official one; where none is published, that of the province."""

    level: int
    key: str
    name: str
    parent: Node | None
    children: list[Node] = field(default_factory=list, repr=False)
    short: tuple[str, ...] = ()

    @property
    def code(self) -> str:
        return self.key.split("-")[0]

    def chain(self) -> list[Node]:
        """From the province down to this node; levels that do not exist are absent."""
        nodes: list[Node] = []
        node: Node | None = self
        while node is not None:
            nodes.append(node)
            node = node.parent
        return nodes[::-1]

    def at(self, level: int) -> Node | None:
        """This node's ancestor (or itself) at a level, or None."""
        node: Node | None = self
        while node is not None and node.level > level:
            node = node.parent
        return node if node is not None and node.level == level else None

    def within(self, other: Node) -> bool:
        """Whether this node is ``other`` or lies in it."""
        return self.at(other.level) is other


class DivisionTable:
    """All divisions, by key and by every name a person may write.

    ``names`` maps a full or short name to its nodes, coarsest first; ``former`` maps a name that is
    no longer official to the nodes that it means today.
    """

    def __init__(self, path: Path = TABLE, former: Path | None = FORMER_NAMES) -> None:
        self.nodes: dict[str, Node] = {}
        self.names: dict[str, list[Node]] = {}
        for level, key, parent, name in self._rows(path):
            above = self.nodes.get(parent)
            node = Node(level, key, name, above, short=short_names(name, level))
            self.nodes[key] = node
            if above is not None:
                above.children.append(node)
            for written in {name, *node.short}:
                self.names.setdefault(written, []).append(node)
        self.longest = max(map(len, self.names))
        # First two characters → lengths of the official names of levels 1 to 3 that begin so. Those
        # of two characters (滑县, 城区) occur inside too many others.
        self._lengths: dict[str, list[int]] = {}
        for length, name in sorted(
            {(-len(n.name), n.name) for n in self.nodes.values() if n.level < 4 and len(n.name) > 2}
        ):
            lengths = self._lengths.setdefault(name[:2], [])
            if -length not in lengths:
                lengths.append(-length)
        self.former: dict[str, list[Node]] = {}
        for line in former.read_text(encoding="utf-8").splitlines() if former else ():
            name, _, keys = line.partition("\t")
            self.former[name] = [self.nodes[key] for key in keys.split(" ")]
        for name, codes in RENAMED.items():
            known = self.former.setdefault(name, [])
            known += [
                self.nodes[c] for c in codes if c in self.nodes and self.nodes[c] not in known
            ]

    def official_names(
        self, text: str, covered: Sequence[bool]
    ) -> Iterator[tuple[int, int, list[Node]]]:
        """Full names of levels 1 to 3 where nothing is ``covered``, from left to right, the longest
        first: start, end and the nodes of that name."""
        position = 0
        while position < len(text):
            step = 1
            for length in self._lengths.get(text[position : position + 2], ()):
                end = position + length
                name = text[position:end]
                if end > len(text) or any(covered[position:end]):
                    continue
                nodes = [n for n in self.names.get(name, ()) if n.level < 4 and n.name == name]
                if nodes:
                    yield position, end, nodes
                    step = length
                    break
            position += step

    @staticmethod
    def _rows(path: Path) -> Iterator[tuple[int, str, str, str]]:
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            for line in stream:
                level, key, parent, name = line.rstrip("\n").split("\t")
                yield int(level), key, parent, name

    def level(self, level: int) -> list[Node]:
        return [n for n in self.nodes.values() if n.level == level]

    def areas(self) -> list[Node]:
        """What the area head classifies: districts, and level-2 or level-1 nodes without any."""
        found = [n for n in self.nodes.values() if n.level == 3]
        found += [
            n
            for n in self.nodes.values()
            if n.level <= 2 and not any(child.level <= 3 for child in n.children)
        ]
        return sorted(found, key=lambda n: n.key)


@lru_cache(maxsize=1)
def default_table() -> DivisionTable:
    return DivisionTable()
