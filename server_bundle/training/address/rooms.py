"""Building, unit, floor and room numbers in the ways people write them."""

from __future__ import annotations

from random import Random

from server_bundle.training.address.names import chance, chinese_number, small_number
from server_bundle.training.address.writer import Writer


def _room_digits(rng: Random) -> str:
    roll = rng.random()
    floor = 1 + int(rng.expovariate(1 / 7))
    digits = f"{min(floor, 60)}{rng.randint(1, 12):02d}"
    if chance(rng, 0.02):
        return f"{digits}{rng.choice('-、/,')}{int(digits) + rng.randint(1, 4)}"
    if roll < 0.85:
        return digits
    if roll < 0.90:
        return f"{rng.choice('ABCDFabS')}{digits}"
    if roll < 0.94:
        return f"{digits}-{rng.randint(1, 9)}"
    if roll < 0.96:
        return f"{digits}{rng.choice('ABC')}"
    if roll < 0.97:
        return f"{min(floor, 60)}{rng.choice('ABCDEFGH')}"
    if roll < 0.985:
        return str(rng.randint(1, 999))
    return chinese_number(int(digits))


def room(writer: Writer, rng: Random, bare: float = 0.3) -> None:
    roll = rng.random()
    number = _room_digits(rng)
    if roll < bare:
        writer.add(number, "roomno")
    elif roll < 0.90:
        writer.add(number + "室", "roomno")
    elif roll < 0.95:
        writer.add(number + rng.choice(("号", "房", "号房", "号店", "号铺", "铺")), "roomno")
    elif roll < 0.97:
        writer.add(f"{rng.randint(1, 300)}号", "roomno")
    elif roll < 0.985:
        writer.add(
            number + rng.choice(("商铺", "号商铺", "档", "号摊位", "店面", "号店面")), "roomno"
        )
    else:
        stall = str(rng.randint(1000, 59999))
        writer.add(
            stall + rng.choice(("", "商位", "店面", "号", "号商位", "号摊位", "铺")), "roomno"
        )


def house(rng: Random) -> str:
    roll = rng.random()
    n = small_number(rng, 60, 0.07)
    if chance(rng, 0.02):
        n = f"{rng.randint(1, 9)}{rng.choice('-、,~')}{rng.randint(10, 20)}"
    if roll < 0.33:
        return n + "幢"
    if roll < 0.56:
        return n + "栋"
    if roll < 0.74:
        return n + "号楼"
    if roll < 0.81:
        return rng.choice("ABCDEFGab") + rng.choice(("座", "座", "座", "幢", "栋", "楼", ""))
    if roll < 0.86:
        return n + "#"
    if roll < 0.88:
        return n + "#楼"
    if roll < 0.92:
        return n + "号"
    if roll < 0.94:
        return n + "座"
    if roll < 0.96:
        return rng.choice("ABCD") + n + rng.choice(("栋", "幢", "号楼", "座"))
    if roll < 0.97:
        return "第" + n + "幢"
    if roll < 0.98:
        return n + rng.choice("懂撞棟")
    return rng.choice(("东", "西", "南", "北", "主", "综合", "科研", "办公")) + "楼"


def floor(rng: Random) -> str:
    roll = rng.random()
    n = small_number(rng, 25, 0.22)
    if chance(rng, 0.03):
        n = f"{rng.randint(1, 4)}{rng.choice('-、,～至')}{rng.randint(5, 9)}"
    if roll < 0.62:
        return n + "楼"
    if roll < 0.87:
        return n + "层"
    if roll < 0.94:
        return f"{small_number(rng, 25, 0)}{rng.choice('FFf')}"
    return rng.choice(
        ("负一楼", "负一层", "B1", "地下一层", "B2层", "顶楼", "-1楼", "底楼", "负二楼")
    )


def chain(writer: Writer, rng: Random) -> None:
    """6-2-1101: house, unit, room; 6-1101 without the unit."""
    dash = rng.choice(("-", "-", "-", "-", "－", "—", "/", "#")) if chance(rng, 0.2) else "-"
    writer.add(small_number(rng, 60, 0), "houseno")
    writer.add(dash)
    if chance(rng, 0.55):
        writer.add(str(rng.randint(1, 5)), "cellno")
        writer.add("-" if dash == "#" else dash)
    number = f"{rng.randint(1, 30)}{rng.randint(1, 8):02d}"
    writer.add(number + ("室" if chance(rng, 0.3) else ""), "roomno")


def building(writer: Writer, rng: Random) -> None:
    """From the building inwards, some levels missing."""
    if chance(rng, 0.03):
        writer.add(rng.choice((" ", ",", "，", "-")))
    roll = rng.random()
    if roll < 0.12:
        chain(writer, rng)
        return
    if roll < 0.20:
        writer.add(floor(rng), "floorno")
        if chance(rng, 0.5):
            room(writer, rng)
        return
    if roll < 0.25:
        room(writer, rng)
        return
    gap = rng.choice((" ", "-", "-")) if chance(rng, 0.08) else ""
    writer.add(house(rng), "houseno")
    unit = chance(rng, 0.45)
    if unit:
        writer.add(gap)
        number = small_number(rng, 6, 0.12)
        if chance(rng, 0.03):
            number = rng.choice("ABCD甲乙")
        writer.add(number + ("门" if chance(rng, 0.06) else "单元"), "cellno")
    roll = rng.random()
    if not unit and roll < 0.25:
        writer.add(gap)
        writer.add(floor(rng), "floorno")
        if chance(rng, 0.5):
            writer.add(gap)
            room(writer, rng, 0.4)
    elif roll < (0.8 if unit else 0.72):
        writer.add(gap)
        room(writer, rng, 0.4)
    elif unit and roll < 0.88:
        writer.add(floor(rng), "floorno")
        if chance(rng, 0.3):
            room(writer, rng)
