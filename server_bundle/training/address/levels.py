"""Writes the divisions of an address: some levels missing, shortened, repeated or separated."""

from __future__ import annotations

from random import Random

from server_bundle.address.divisions import MUNICIPALITIES, Node
from server_bundle.training.address.names import chance
from server_bundle.training.address.writer import Writer


def write(writer: Writer, area: Node, rng: Random) -> bool:
    """Writes some of the levels; returns whether anything that locates the area was written."""
    chain = {node.level: node for node in area.chain()}
    towns = [child for child in area.children if child.level == 4]
    town = rng.choice(towns) if towns and chance(rng, 0.5) else None
    roll = rng.random()
    if roll < 0.34:
        levels = {1, 2, 3}
    elif roll < 0.55:
        levels = {2, 3}
    elif roll < 0.69:
        levels = {3}
    elif roll < 0.76:
        levels = {2}
    elif roll < 0.81:
        levels = {1, 2}
    elif roll < 0.86:
        levels = {1, 3}
    else:
        levels = set()
    if not levels and town is not None and chance(rng, 0.5):
        town = None
    separator = ""
    if chance(rng, 0.07):
        separator = rng.choice((" ", " ", "-", "/", ",", "，", "_", "、", " - ", "|"))
    casual = chance(rng, 0.3)
    nodes = [chain[level] for level in sorted(levels) if level in chain]
    if town is not None:
        nodes.append(town)
    if not nodes:
        return False
    if chance(rng, 0.012):
        writer.add(rng.choice(("中国", "中国 ", "中华人民共和国", "中国-")))
    written: list[str] = []
    for node in nodes:
        name = _written(node, casual, rng)
        kind = ("prov", "city", "district", "town")[node.level - 1]
        if node.key in MUNICIPALITIES:
            _municipality(writer, node, levels, separator, rng)
        else:
            writer.add(name, kind)
        written.append(name)
        if chance(rng, 0.012):
            writer.add(separator + name)
        writer.add(separator)
    if chance(rng, 0.03):
        # People's forms often hold the chosen region and then the whole address again.
        again = nodes if chance(rng, 0.5) else nodes[-rng.randint(1, len(nodes)) :]
        writer.add("".join(n.name for n in again))
    elif chance(rng, 0.015):
        writer.add(written[-1])
    return any(node.level > 1 for node in nodes) or area.level == 1


def _municipality(
    writer: Writer, node: Node, levels: set[int], separator: str, rng: Random
) -> None:
    short = node.short[0]
    roll = rng.random()
    if levels == {2, 3} or roll < 0.55 or 2 not in levels:
        writer.add(node.name if chance(rng, 0.7) else short, "prov")
        return
    writer.add(short if chance(rng, 0.6) else node.name, "prov")
    writer.add(separator)
    if roll < 0.93:
        writer.add(node.name if chance(rng, 0.9) else short, "city")
    else:
        writer.add("市辖区")


def _written(node: Node, casual: bool, rng: Random) -> str:
    drop = {1: 0.35, 2: 0.25, 3: 0.09, 4: 0.08}[node.level] * (2.0 if casual else 0.6)
    name = node.name
    if node.level == 3 and name.endswith("区") and len(name) == 3:
        drop *= 0.7
    if node.short and chance(rng, drop):
        return node.short[0]
    if node.level == 4 and name.endswith("街道"):
        if chance(rng, 0.04):
            return name + "办事处"
        if chance(rng, 0.02):
            return name[:-2] + "街办"
        if chance(rng, 0.04):
            return name[:-2] + rng.choice(("镇", "镇", "乡"))  # before it became a 街道
    return name
