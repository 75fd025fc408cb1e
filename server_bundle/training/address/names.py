"""Made-up proper names: roads, estates, towers, companies, shops and the numbers behind them."""

from __future__ import annotations

from random import Random

from server_bundle.training.address import lexicon as lex

CHINESE_DIGITS = "零一二三四五六七八九"


def chance(rng: Random, probability: float) -> bool:
    return rng.random() < probability


def chinese_number(n: int) -> str:
    """``12`` → 十二, for 1 to 99; larger numbers digit by digit (三〇二 is written 三零二)."""
    if n < 10:
        return CHINESE_DIGITS[n]
    if n < 100:
        tens, ones = divmod(n, 10)
        head = "" if tens == 1 else CHINESE_DIGITS[tens]
        return head + "十" + (CHINESE_DIGITS[ones] if ones else "")
    return "".join(CHINESE_DIGITS[int(d)] for d in str(n))


def small_number(rng: Random, limit: int = 30, chinese: float = 0.06) -> str:
    n = min(limit, 1 + int(rng.expovariate(1 / (limit / 4))))
    return chinese_number(n) if chance(rng, chinese) else str(n)


def place(rng: Random, longest: int = 4) -> str:
    """A village-like name without suffix; the frequent ones a little more often."""
    names = lex.place_names()
    while True:
        name = names[int(len(names) * rng.random() ** 1.5)]
        if len(name) <= longest:
            return name


def coined(rng: Random) -> str:
    """Two or three characters that no list contains: what company names look like."""
    names = lex.place_names()
    if chance(rng, 0.3):
        pool = lex.han_characters()
        return "".join(rng.choice(pool) for _ in range(rng.choice((2, 2, 2, 3))))
    return "".join(rng.choice(rng.choice(names)) for _ in range(rng.choice((2, 2, 2, 3))))


def letters(rng: Random) -> str:
    if chance(rng, 0.3):
        return rng.choice(lex.LATIN_WORDS)
    return "".join(rng.choice("ABCDEFGHJKLMNPSTVWXYZ") for _ in range(rng.choice((1, 2, 2, 3))))


def road(rng: Random) -> str:
    roll = rng.random()
    if roll < 0.025:
        grade = rng.choice("GSX") if chance(rng, 0.3) else ""
        number = rng.randint(101, 330)
        return f"{grade}{number}{rng.choice(('国道', '省道', '县道', '国道'))}"
    if roll < 0.055:
        n = small_number(rng, 24, 0.2)
        return n + rng.choice(
            ("号大街", "号路", "号大街", "大街", "巷", "弄", "马路", "号支路", "横路")
        )
    if roll < 0.10:
        base = place(rng, 3) + rng.choice("一二三四五")
    elif roll < 0.40:
        base = rng.choice(lex.ROAD_WORDS)
    elif roll < 0.85:
        base = place(rng, 3)
    else:
        base = coined(rng)
    if chance(rng, 0.25):
        return (
            base + rng.choice(lex.DIRECTIONS) + rng.choice(("路", "路", "路", "街", "大道", "大街"))
        )
    name = base + rng.choice(lex.ROAD_SUFFIXES)
    if name.endswith(("大道", "路")) and chance(rng, 0.03):
        name += rng.choice(("北段", "南段", "东段", "西段", "中段"))
    return name


def road_number(rng: Random) -> str:
    n = str(1 + int(rng.expovariate(1 / 260)))
    roll = rng.random()
    if roll < 0.70:
        return n + "号"
    if roll < 0.76:
        return f"{n}-{rng.randint(1, 20)}号"
    if roll < 0.80:
        return f"{n}-{rng.randint(1, 20)}"
    if roll < 0.82:
        return f"{rng.choice('特甲乙丙临新')}{n}号"
    if roll < 0.84:
        return f"{n}号附{rng.randint(1, 30)}号"
    if roll < 0.86:
        return f"{chinese_number(min(99, int(n)))}号"
    if roll < 0.88:
        return f"{rng.choice('ABCD')}{n}号"
    if roll < 0.90:
        return f"{n}{rng.choice('ABCDab')}号"
    if roll < 0.93:
        return f"{n}弄"
    if roll < 0.94:
        return f"{n}号之{chinese_number(rng.randint(1, 9))}"
    if roll < 0.955:
        return f"{n}、{int(n) + 2}号"
    return n


def estate_base(rng: Random) -> str:
    roll = rng.random()
    if roll < 0.35:
        return place(rng, 3)
    if roll < 0.55:
        return rng.choice(lex.ESTATE_WORDS) + place(rng, 2)
    if roll < 0.80:
        return rng.choice(lex.ESTATE_WORDS) + rng.choice(lex.ESTATE_WORDS)[:2]
    return coined(rng)


def estate(rng: Random) -> str:
    base = estate_base(rng)
    if chance(rng, 0.08):
        return base + rng.choice(lex.ESTATE_WORDS)[:2]
    return base + rng.choice(lex.ESTATE_SUFFIXES)


def numbered_estate(rng: Random) -> str:
    """诚信二区: the section is fused with the name."""
    return (
        place(rng, 3)
        + rng.choice(("一", "二", "三", "四", "五", "1", "2", "3"))
        + rng.choice("区村区")
    )


def business_base(rng: Random, city: str) -> str:
    """The name of a tower, park or market; a city's name in it is no division."""
    roll = rng.random()
    if city and roll < 0.18:
        return city + (coined(rng) if chance(rng, 0.5) else "")
    if roll < 0.5:
        return place(rng, 3)
    if roll < 0.7:
        return rng.choice(lex.ESTATE_WORDS)
    if roll < 0.75:
        return letters(rng) + (coined(rng) if chance(rng, 0.5) else "")
    if roll < 0.78:
        return rng.choice(("798", "99", "1933", "301", "2049", "8号", "77", "5166", "36"))
    return coined(rng)


def company(rng: Random, city: str) -> str:
    head = city if city and chance(rng, 0.3) else ""
    if head and chance(rng, 0.25):
        head += "市"
    middle = rng.choice(lex.INDUSTRIES) if chance(rng, 0.8) else ""
    tail = rng.choice(lex.COMPANY_SUFFIXES) if chance(rng, 0.9) or not middle else ""
    return head + coined(rng) + middle + tail


def shop(rng: Random) -> str:
    roll = rng.random()
    if roll < 0.3:
        name = rng.choice(lex.BRANDS)
        if chance(rng, 0.15):
            name += f"({place(rng, 3)}店)" if chance(rng, 0.5) else f"{place(rng, 3)}店"
        return name
    if roll < 0.4:
        return (
            rng.choice(lex.SURNAMES)
            + rng.choice(("记", "氏", "家", "姐", "哥"))
            + rng.choice(lex.SHOP_SUFFIXES)
        )
    return coined(rng) + rng.choice(lex.SHOP_SUFFIXES)


def public_place(rng: Random, city: str) -> str:
    base = city if city and chance(rng, 0.3) else place(rng, 3)
    if city and base == city and chance(rng, 0.3):
        base += rng.choice(("市", "市", "省", "县", "区"))
    elif chance(rng, 0.07):
        base = ""
    roll = rng.random()
    if roll < 0.35:
        return base + rng.choice(lex.SCHOOLS)
    if roll < 0.55:
        return base + rng.choice(lex.HOSPITALS)
    return base + rng.choice(lex.PUBLIC)


def hamlet(rng: Random) -> str:
    """自然村: a named place below the administrative village."""
    if chance(rng, 0.5):
        return rng.choice(lex.SURNAMES) + rng.choice(lex.HAMLET_ENDINGS)
    return place(rng, 3) + rng.choice(("自然村", "村", "庄", "湾", "屯", "寨", "新村"))


def site(rng: Random, city: str) -> str:
    """A company's own ground, its name fused with it: 某某科技西溪园区."""
    owner = rng.choice(lex.BRANDS) if chance(rng, 0.2) else coined(rng)
    if chance(rng, 0.4):
        owner += rng.choice(lex.INDUSTRIES)
    return owner + (rng.choice(lex.PARK_LIKE) if chance(rng, 0.3) else "") + rng.choice(lex.SITES)


def walk(rng: Random) -> str:
    """往东200米 and its relatives; no entity."""
    text = rng.choice(("往", "向", "往", "再往", "朝", ""))
    text += rng.choice(("东", "西", "南", "北", "前", "里")) + rng.choice(("", "走", "", "行"))
    text += rng.choice(
        ("50", "100", "200", "300", "500", "30", "150", "1000", "一百", "八百", "20")
    )
    text += rng.choice(("米", "米", "米", "米左右", "m", "米处", "公里", "步"))
    return text + rng.choice(
        ("", "", "", "", "路北", "路南", "路东", "右转", "左手边", "即到", "处")
    )


def person(rng: Random) -> str:
    name = rng.choice(lex.SURNAMES) + "".join(
        rng.choice(lex.GIVEN) for _ in range(rng.choice((1, 2)))
    )
    if chance(rng, 0.4):
        name = name[: rng.choice((1, len(name)))] + rng.choice(lex.TITLES)
    return name


def phone(rng: Random) -> str:
    """A number of no subscriber: masked, or beginning with digits that are not assigned."""
    roll = rng.random()
    if roll < 0.3:
        return f"1{rng.randint(30, 99)}****{rng.randint(0, 9999):04d}"
    if roll < 0.45:
        return "1xx" + f"{rng.randint(0, 99999999):08d}"
    if roll < 0.6:
        return f"0{rng.randint(510, 599)}-{rng.randint(80000000, 89999999)}"
    return f"1{rng.choice((0, 2))}{rng.randint(0, 999999999):09d}"
