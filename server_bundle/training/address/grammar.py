"""The corpus grammar: made-up Chinese addresses with entity spans and the district they lie in.

Labels follow the annotation rules of the project (13 types; repeated levels, notes, directions and
crossing words carry none). Everything is drawn from one ``random.Random``: the same seed gives the
same corpus.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from random import Random

from server_bundle.address.divisions import DivisionTable
from server_bundle.training.address import levels, names, notes, rooms
from server_bundle.training.address import lexicon as lex
from server_bundle.training.address.names import chance
from server_bundle.training.address.writer import Address, Writer

# Most parcels go to the east coast; the rest of the country still has its share.
PROVINCE_WEIGHTS = {
    "浙江省": 26.0, "江苏省": 11.0, "上海市": 6.0, "广东省": 9.0, "福建省": 4.0, "山东省": 5.0,
    "安徽省": 4.0, "北京市": 4.0, "天津市": 2.0, "湖北省": 3.0, "河南省": 3.0, "四川省": 3.0,
    "重庆市": 2.0, "台湾省": 0.3, "香港特别行政区": 0.3, "澳门特别行政区": 0.1,
}  # fmt: skip
OTHER_PROVINCE_WEIGHT = 1.3
FULL_WIDTH = str.maketrans("0123456789ABCDEF-#", "０１２３４５６７８９ＡＢＣＤＥＦ－＃")


class Grammar:
    """Draws addresses; ``table`` gives the divisions."""

    def __init__(self, table: DivisionTable, rng: Random) -> None:
        self.rng = rng
        self.provinces = table.level(1)
        weights = [PROVINCE_WEIGHTS.get(p.name, OTHER_PROVINCE_WEIGHT) for p in self.provinces]
        self.namesakes = [n for n in table.nodes.values() if n.level <= 2 and n.short]
        self.weights = list(accumulate(weights))
        self.areas = {p.key: [a for a in table.areas() if a.within(p)] for p in self.provinces}
        self.middles: tuple[tuple[float, Callable[[Writer, str], None]], ...] = (
            (0.34, self._street),
            (0.50, self._estate),
            (0.60, self._village),
            (0.67, self._crossing),
            (0.80, self._business),
            (0.90, self._bare_place),
            (0.96, self._zone),
            (1.00, self._lane),
        )

    def draw(self) -> Address:
        rng = self.rng
        writer = Writer()
        if chance(rng, 0.07):
            notes.before(writer, rng)
        province = rng.choices(self.provinces, cum_weights=self.weights)[0]
        area = rng.choice(self.areas[province.key])
        city = area.at(2)
        local = (city or area).short[0] if (city or area).short else ""
        if area.level == 3 and area.short and chance(rng, 0.4):
            local = area.short[0]
        if chance(rng, 0.25):
            # 浙江大学, 北京银行: names of a province or of a city elsewhere.
            elsewhere = province if chance(rng, 0.5) else rng.choice(self.namesakes)
            local = elsewhere.short[0]
        known = levels.write(writer, area, rng)
        roll = rng.random()
        if not (known and roll < 0.02):
            if chance(rng, 0.05) and known:
                writer.add(rng.choice((" ", " ", "-", "，", ",")))
            roll = rng.random()
            next(draw for bound, draw in self.middles if roll < bound)(writer, local)
        if chance(rng, 0.09):
            notes.after(writer, rng)
        if chance(rng, 0.025):
            writer.pieces = [piece for part in writer.pieces for piece in (part, (" ", ""))]
        address = writer.finish(area.key if known else "")
        if chance(rng, 0.02):
            address = Address(address.text.translate(FULL_WIDTH), address.spans, address.area)
        return address

    def _road(self, writer: Writer, numbered: float) -> None:
        rng = self.rng
        writer.add(names.road(rng), "road")
        if chance(rng, 0.03):
            writer.add(names.place(rng, 3) + rng.choice(("支路", "里", "巷", "弄")), "road")
        if chance(rng, numbered):
            writer.add(rng.choice(("", "", "", "", "", "", " ")))
            writer.add(names.road_number(rng), "roadno")
        if chance(rng, 0.015):
            writer.add(rng.choice(("（近", "(近", "（", "(靠近")))
            writer.add(names.road(rng), "road")
            writer.add(rng.choice(("）", ")", "路口）")))

    def _street(self, writer: Writer, city: str) -> None:
        """Road and number, then perhaps a place."""
        rng = self.rng
        if chance(rng, 0.06):
            writer.add(names.place(rng) + rng.choice(("社区", "村", "居委会")), "community")
        self._road(writer, 0.82)
        roll = rng.random()
        if roll < 0.35:
            return
        if chance(rng, 0.06):
            writer.add(self._near())
            if chance(rng, 0.5):
                return
        if roll < 0.55:
            self._place(writer, self._any_poi(city), city)
        elif roll < 0.72:
            writer.add(names.estate(rng), "poi")
            self._section(writer)
            rooms.building(writer, rng)
        elif roll < 0.88:
            rooms.building(writer, rng)
            if chance(rng, 0.3):
                writer.add(names.shop(rng) if chance(rng, 0.6) else names.company(rng, city), "poi")
        else:
            writer.add(names.shop(rng), "poi")

    def _estate(self, writer: Writer, city: str) -> None:
        rng = self.rng
        if chance(rng, 0.10):
            writer.add(names.place(rng) + rng.choice(("社区", "社区", "村", "居委会")), "community")
        bracket = chance(rng, 0.03)
        writer.add("（" if bracket else "")
        writer.add(names.numbered_estate(rng) if chance(rng, 0.12) else names.estate(rng), "poi")
        writer.add("）" if bracket else "")
        self._section(writer)
        if chance(rng, 0.88):
            rooms.building(writer, rng)
        if chance(rng, 0.08):
            writer.add(rng.choice(lex.IN_PLACE) if chance(rng, 0.5) else names.shop(rng), "subpoi")

    def _section(self, writer: Writer) -> None:
        if chance(self.rng, 0.12):
            writer.add(self.rng.choice(lex.SECTIONS), "subpoi")

    def _village(self, writer: Writer, city: str) -> None:
        rng = self.rng
        suffix = rng.choices(
            ("村", "社区", "村委会", "居委会", "行政村", "嘎查", ""), (62, 16, 6, 4, 3, 1, 3)
        )[0]
        writer.add(names.place(rng) + suffix, "community")
        roll = rng.random()
        if roll < 0.33:
            n = names.small_number(rng, 20, 0.3)
            writer.add(
                n + rng.choice(("组", "组", "组", "队", "小组", "村民小组", "社")), "community"
            )
            if chance(rng, 0.4):
                self._house_number(writer)
        elif roll < 0.53:
            self._house_number(writer)
        elif roll < 0.66:
            writer.add(names.hamlet(rng), "poi")
            if chance(rng, 0.15):
                lane = names.small_number(rng, 20, 0.3) + rng.choice(("巷", "巷", "弄", "街", "路"))
                writer.add(lane, "road")
                writer.add(f"{rng.randint(1, 99)}号", "roadno")
            elif chance(rng, 0.6):
                self._house_number(writer)
        elif roll < 0.78:
            self._place(writer, self._any_poi(city), city)
        elif roll < 0.86:
            self._road(writer, 0.8)
        elif roll < 0.90:
            writer.add(self._near())
        elif roll < 0.95:
            writer.add(rng.choice(("工业区", "工业园", "工业园区", "市场")), "poi")
            if chance(rng, 0.4):
                writer.add(names.company(rng, city), "subpoi")

    def _near(self) -> str:
        rng = self.rng
        return names.walk(rng) if chance(rng, 0.2) else rng.choice(lex.NEAR_WORDS)

    def _house_number(self, writer: Writer) -> None:
        rng = self.rng
        n = str(1 + int(rng.expovariate(1 / 90)))
        roll = rng.random()
        if roll < 0.75:
            writer.add(n + "号", "houseno")
            if chance(rng, 0.12):
                writer.add(f"{rng.randint(1, 6)}楼", "floorno")
        elif roll < 0.85:
            writer.add(f"{n}-{rng.randint(1, 9)}号", "houseno")
        else:
            rooms.building(writer, rng)

    def _crossing(self, writer: Writer, city: str) -> None:
        rng = self.rng
        roll = rng.random()
        writer.add(names.road(rng), "road")
        if roll < 0.85:
            writer.add(rng.choice(lex.JOINTS) if roll < 0.74 else "")
            writer.add(names.road(rng), "road")
        writer.add(rng.choice(lex.CROSSING_WORDS) if chance(rng, 0.9) else "")
        if chance(rng, 0.3):
            writer.add(names.walk(rng) if chance(rng, 0.4) else rng.choice(lex.AFTER_CROSSING))
        if chance(rng, 0.55):
            self._place(writer, self._any_poi(city), city)
            if chance(rng, 0.3):
                writer.add(self._near())

    def _business(self, writer: Writer, city: str) -> None:
        rng = self.rng
        if chance(rng, 0.5):
            self._road(writer, 0.85)
            if chance(rng, 0.03):
                writer.add(self._near())
        base = names.business_base(rng, city)
        roll = rng.random()
        if roll < 0.4:
            tower = base + rng.choice(lex.TOWER_SUFFIXES)
            if chance(rng, 0.05):
                tower += rng.choice(("写字楼", "公寓", "商务楼", "商铺", "酒店式公寓"))
            writer.add(tower, "poi")
        elif roll < 0.65:
            writer.add(base + rng.choice(lex.PARK_SUFFIXES), "poi")
        elif roll < 0.85:
            writer.add(base + rng.choice(lex.MARKETS), "poi")
        elif roll < 0.93:
            writer.add(base + rng.choice(lex.MALLS), "poi")
        else:
            writer.add(names.site(rng, city), "poi")
        self._section(writer)
        if chance(rng, 0.75):
            rooms.building(writer, rng)
        if chance(rng, 0.35):
            inside = names.company(rng, city) if chance(rng, 0.6) else names.shop(rng)
            if chance(rng, 0.06):
                inside += rng.choice(("北门", "南门", "大门"))
            writer.add(inside, "subpoi")

    def _bare_place(self, writer: Writer, city: str) -> None:
        rng = self.rng
        if chance(rng, 0.08):
            writer.add(self._any_poi(city), "poi")
            writer.add(rng.choice(("", " ", "，", ",", "")))
            self._road(writer, 0.8)
            return
        self._place(writer, self._any_poi(city), city)

    def _zone(self, writer: Writer, city: str) -> None:
        """A development zone is the first named place, so what lies in it is a subpoi."""
        rng = self.rng
        base = rng.choice(lex.PARK_LIKE) if chance(rng, 0.3) else ""
        base = base or (names.place(rng, 3) if chance(rng, 0.5) else "")
        suffixes = lex.PARK_SUFFIXES if base and chance(rng, 0.35) else lex.ZONES
        writer.add(base + rng.choice(suffixes), "poi")
        if chance(rng, 0.85):
            self._road(writer, 0.85)
        roll = rng.random()
        if roll < 0.3:
            inside = names.company(rng, city)
            if chance(rng, 0.15):
                inside += rng.choice(("北门", "南门", "东门", "西门", "大门"))
            writer.add(inside, "subpoi")
        elif roll < 0.45:
            rooms.building(writer, rng)
        elif roll < 0.6:
            writer.add(names.estate(rng), "subpoi")
            rooms.building(writer, rng)

    def _lane(self, writer: Writer, city: str) -> None:
        """Shanghai's 弄: the lane's number counts as the road's, the house follows."""
        rng = self.rng
        writer.add(names.road(rng), "road")
        writer.add(f"{rng.randint(1, 2999)}弄", "roadno")
        if chance(rng, 0.15):
            writer.add(names.estate(rng), "poi")
        if chance(rng, 0.85):
            writer.add(names.small_number(rng, 150, 0) + "号", "houseno")
            if chance(rng, 0.75):
                rooms.room(writer, rng)

    def _any_poi(self, city: str) -> str:
        rng = self.rng
        roll = rng.random()
        if roll < 0.18:
            return names.company(rng, city)
        if roll < 0.22:
            return names.site(rng, city)
        if roll < 0.50:
            return names.public_place(rng, city)
        if roll < 0.70:
            return names.shop(rng)
        base = names.business_base(rng, city)
        if roll < 0.80:
            return base + rng.choice(lex.TOWER_SUFFIXES)
        if roll < 0.87:
            return base + rng.choice(lex.MALLS)
        if roll < 0.94:
            return base + rng.choice(lex.MARKETS)
        return names.hamlet(rng)

    def _place(self, writer: Writer, poi: str, city: str) -> None:
        """A named place and perhaps something inside it."""
        rng = self.rng
        bracket = chance(rng, 0.04)
        writer.add(rng.choice("（(") if bracket else "", "")
        closing = {"（": "）", "(": ")"}[writer.pieces[-1][0]] if bracket else ""
        writer.add(poi, "poi")
        writer.add(closing)
        roll = rng.random()
        if roll < 0.02:
            writer.add("（")
            writer.add(rng.choice(lex.IN_PLACE), "subpoi")
            writer.add("）")
        elif roll < 0.2:
            writer.add(rng.choice(lex.IN_PLACE), "subpoi")
        elif roll < 0.3:
            writer.add(names.shop(rng) if chance(rng, 0.7) else names.company(rng, city), "subpoi")
            if chance(rng, 0.12):
                writer.add(rng.choice(("门口", "大堂", "内", "楼下", "旁边")))
        elif roll < 0.42:
            rooms.building(writer, rng)
            if chance(rng, 0.1):
                writer.add(rng.choice(("门口", "大堂", "内", "楼下", "旁边")))
        elif roll < 0.5:
            writer.add(self._near())
            if chance(rng, 0.25):
                writer.add(self._any_poi(city), "poi")
        elif roll < 0.53:
            writer.add(rng.choice(("门口", "大堂", "内", "院内", "旁边", "大厅")))
        elif roll < 0.57:
            campus = rng.choice(lex.CAMPUSES)
            if chance(rng, 0.25):
                campus += rng.choice(
                    ("图书馆", "食堂", "体育馆", "教学楼", "东门", "行政楼", "实验楼")
                )
            writer.add(campus, "subpoi")
            if chance(rng, 0.6):
                number = names.small_number(rng, 30, 0.1)
                kind = ("号楼", "号宿舍楼", "舍", "幢", "号公寓", "栋", "号教学楼")
                writer.add(number + rng.choice(kind), "houseno")
                if chance(rng, 0.6):
                    rooms.room(writer, rng, 0.6)
