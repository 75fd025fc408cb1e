"""What the writing of numbers proves about the entities that the network found.

A number is never cut in its middle, and the number with 号 right behind a road is the road's. The
annotation rules say so; the network sometimes does not see it in numbers that it rarely met. Nor
does it see each road whose name begins like something else (中关村大街, 建国门外大街): where no
other span claims the words before such a number, and they end as a road does, they are one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from server_bundle.address.entities import Span

NUMBER_TYPES = frozenset({"roadno", "houseno", "cellno", "floorno", "roomno"})
ADDED = 0.8  # the score of a number that the network did not see at all

# Behind a road, with a remark in brackets perhaps; 3号楼 and the like are buildings.
_ROAD_NUMBER = re.compile(
    r"\s*(?:[（(][^（）()]{1,4}[）)])?\s*"
    r"(\d[0-9A-Za-z]*(?:[-－~至、]\d[0-9A-Za-z]*)*号)(?![楼院门库厂幢栋座线桥仓馆店铺])"
)
_PLAIN_NUMBER = re.compile(r"\d[0-9A-Za-z]*(?:[-－~至、]\d[0-9A-Za-z]*)*号")
_ROAD = re.compile(
    r"\s*(?P<road>(?P<name>[\u4e00-\u9fff]{0,8}?)[东西南北中前后内外上下新老支横]{0,2}"
    r"(?P<kind>大街|大道|公路|胡同|街|路|巷|弄|(?<![街走楼过通跑车行隧])道))(?=\s*[（(\d]|$)"
)
# Names that end so are never the beginning of a road's.
_WHOLE = re.compile(r".*(?:社区|小区|委会|[组队屯])")


def amend(text: str, spans: Sequence[Span]) -> list[Span]:
    """``spans`` of the normalised ``text``, in reading order, with whole numbers."""
    found = _with_roads(text, list(spans))
    taken = [False] * (len(text) + 1)
    for span in found:
        taken[span.start : span.end] = [True] * (span.end - span.start)
    for i, span in enumerate(found):
        if span.type in NUMBER_TYPES:
            found[i] = _whole(text, span, taken)
            taken[found[i].start : found[i].end] = [True] * (found[i].end - found[i].start)
    for i, span in enumerate(found):
        before = found[i - 1] if i else None
        behind_road = before is not None and before.type == "road" and before.end == span.start
        if (
            span.type == "houseno"
            and behind_road
            and _PLAIN_NUMBER.fullmatch(text[span.start : span.end])
        ):
            found[i] = span._replace(type="roadno")
    for span in [span for span in found if span.type == "road"]:
        number = _ROAD_NUMBER.match(text, span.end)
        if number and not any(taken[number.start() : number.end()]):
            found.append(Span(number.start(1), number.end(1), "roadno", ADDED))
    return sorted(found)


def _with_roads(text: str, spans: list[Span]) -> list[Span]:
    """With the roads that the words between two spans and the number behind them prove."""
    ends = [0, *(span.end for span in spans)]
    starts = [*(span.start for span in spans), len(text)]
    found = list(spans)
    for i, (start, end) in enumerate(zip(ends, starts, strict=True)):
        said = [text[span.start : span.end] for span in spans[:i]]
        again = next((s for s in said if text.startswith(s, start, end)), "")
        road = _ROAD.match(text, start + len(again), end)  # 浦口区 again in 浦口区象山路
        if not road:
            continue
        behind = spans[i] if i < len(spans) else None
        numbered = behind is not None and behind.start == road.end() and behind.type == "roadno"
        if not numbered and not _ROAD_NUMBER.match(text[:end], road.end()):
            continue
        if "街道" in road["road"] or road["road"].startswith(("门内", "门外")):
            continue  # a town's name, or half of 德胜门外大街
        before = spans[i - 1] if i else None
        begins = road.start("road")
        if (
            not road["name"]
            and before is not None
            and before.end == begins
            and before.type in ("community", "road")
            and not _WHOLE.fullmatch(text[before.start : before.end])
            and not _in_town(text, spans[:i])
        ):
            found.remove(before)  # 中关村 of 中关村大街
            begins = before.start
        elif road["road"] == road["kind"]:
            continue  # a kind of road without any name
        found.append(Span(begins, road.end(), "road", ADDED))
    return sorted(found)


def _in_town(text: str, spans: Sequence[Span]) -> bool:
    """Whether the last of them is a village behind its town: then it is whole (柳市镇后街村)."""
    *others, last = spans
    said = text[last.start : last.end]
    return (
        bool(others)
        and others[-1].type == "town"
        and last.type == "community"
        and said.endswith("村")
        and said not in text[others[-1].start : others[-1].end]
    )


def _whole(text: str, span: Span, taken: Sequence[bool]) -> Span:
    """The span over the whole of a run of letters and digits that it begins or ends in."""
    start, end = span.start, span.end
    while start and _in_run(text, start - 1) and _in_run(text, start) and not taken[start - 1]:
        start -= 1
    while end < len(text) and _in_run(text, end - 1) and _in_run(text, end) and not taken[end]:
        end += 1
    if end > span.end and text[end : end + 1] == "号" and not taken[end]:
        end += 1
    return span._replace(start=start, end=end)


def _in_run(text: str, position: int) -> bool:
    return text[position].isascii() and text[position].isalnum()
