"""Names and phone numbers in an address, found by rule and kept apart from its entities.

A phone number is what is dialled in China: a mobile number (also masked, or with an extension of a
privacy service), a landline with its area code, 400 and 800 numbers. A name is a surname with one
or two characters or a title, where it stands as people write it: behind 收货人 and the like, before
收, beside a phone number, or alone between separators. What the network reads as an entity is no
name, but for a place's name that is exactly such a name beside a phone number.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from server_bundle.address.entities import Span

NAME, PHONE = "name", "phone"

_SURNAMES = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许邓冯韩曹曾彭肖蔡潘田董袁于余叶蒋杜苏魏程"
    "吕丁沈任姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱"
    "严覃武戴莫孔向汤温康施牛樊葛邢安齐易乔伍庞颜倪庄聂章鲁岳翟殷詹申欧耿关兰焦俞左柳甘祝包宁尚符"
    "舒阮柯纪梅童凌毕单季裴霍涂苗谷盛曲翁冉骆蓝路游辛靳管柴蒙鲍华喻祁蒲房滕屈饶解牟艾尤阳穆农卓古"
    "吉缪简车项芦麦褚娄窦戚岑景党宫费卜冷晏席卫米柏宗瞿桂全佟臧闵苟邬边卞姬仇栾隋刁沙荣巫寇桑郎甄"
    "丛仲虞敖巩明佘"
)
_COMPOUND = "欧阳|司马|上官|诸葛|东方|皇甫|尉迟|公孙|慕容|司徒|令狐|夏侯|端木|南宫"
_SURNAME = f"(?:{_COMPOUND}|[{_SURNAMES}])"
_TITLE = (
    "先生|女士|小姐|太太|老师|师傅|阿姨|叔叔|经理|总监|主任|医生|护士|老板|店长|同学|大哥|大姐|哥|姐|"
    "总|工|生"
)
# How places end. A name that ends so is none.
_PLACE_END = re.compile(
    r"[省市区县镇乡村路街巷弄道里庄屯寨港桥湾坊组队社站场馆居府庭座栋幢室号店厂院园苑楼城家岗塘埭浜口]$"
)
# What begins like a name and is none.
_NO_NAME = (
    "(?!谢谢|辛苦|方便|周[一二三四五六日末]|白天|马上|包装|包裹|金额|高层|单位|单号|项目|万一|安排|明天|明早|温馨|常温|"
    "颜色|路口|路上|路边|古城|解放|向[东南西北前后上下左右]|左[右边转手]|司机|金属|黄色|白色|蓝色|龙头)"
)
_NAME = re.compile(
    rf"{_NO_NAME}{_SURNAME}(?:[\u4e00-\u9fff]{{0,2}}(?:{_TITLE})|[\u4e00-\u9fff]{{1,2}})"
)
_LABEL = re.compile(
    r"(?:收货人|收件人|联系人|联络人|寄件人|姓名|客户|业主)(?:姓名)?[\s:：,，]*|收(?:件|货)?\s*[:：]\s*"
)
_BEFORE = re.compile(r"(?:^|[\s,，、;；:：|/()（）\[\]【】<>。!！-]|联系|打给|[找给])$")
_BEHIND = re.compile(r"(?:[\s,，、;；|/()（）\[\]【】<>。!！\-]|$)")
_TAKEN_IN = re.compile(r"\s*(?:收|签收|代收)(?:[\s,，。!！)）;；]|$)")

_MASK = r"[\dxX*]"
_PHONE = re.compile(
    rf"""(?<![\dA-Za-z])(?:
        (?:\+?86[-\s]?)?1[3-9xX*]{_MASK}[-\s]?{_MASK}{{4}}[-\s]?{_MASK}{{4}}(?:\s*[-转\#,]\s*\d{{3,5}})?
      | [48]00[-\s]?\d{{3}}[-\s]?\d{{4}} | [48]00\d[-\s]\d{{3}}[-\s]\d{{3}}
      | [(（]?0(?:10|2\d|[3-9]\d{{2}})[)）]?[-\s]?{_MASK}{{7,8}}(?:\s*[-转]\s*\d{{1,5}})?
    )(?![\dA-Za-z*])""",
    re.VERBOSE,
)
# A mask must leave something of the number.
_DIGITS_LEFT = 3
_BESIDE = re.compile(r"[\s,，:：;；、(（|/-]*(?:电话|手机|手机号|联系电话|tel|TEL|Tel)?[\s:：]*")


def find(text: str, spans: Sequence[Span]) -> list[Span]:
    """Names and phone numbers of the normalised ``text``, in reading order, with score 1. They
    overlap none of the ``spans`` that :func:`without` leaves."""
    phones = [Span(m.start(), m.end(), PHONE) for m in _phones(text)]
    found = list(phones)
    for start, end in _names(text, phones, spans):
        if all(end <= other.start or other.end <= start for other in found):
            found.append(Span(start, end, NAME))
    return sorted(found)


def without(spans: Sequence[Span], contacts: Sequence[Span]) -> list[Span]:
    """The spans that share no character with a name or phone number."""
    return [
        span
        for span in spans
        if all(span.end <= one.start or one.end <= span.start for one in contacts)
    ]


def _phones(text: str) -> Iterator[re.Match[str]]:
    for match in _PHONE.finditer(text):
        if sum(c.isdigit() for c in match.group()) >= _DIGITS_LEFT:
            yield match


def _names(text: str, phones: Sequence[Span], spans: Sequence[Span]) -> Iterator[tuple[int, int]]:
    taken = [False] * len(text)
    for span in spans:
        taken[span.start : span.end] = [True] * (span.end - span.start)
    for label in _LABEL.finditer(text):
        if (name := _NAME.match(text, label.end())) and _ends(text, name):
            yield name.span()
    for phone in phones:
        if before := _before(text, phone.start):
            yield from _free(before, taken, spans)
        beside = _BESIDE.match(text, phone.end)
        behind = _NAME.match(text, beside.end() if beside else phone.end)
        if behind and _ends(text, behind) and not _PLACE_END.search(behind.group()):
            yield from _free(behind.span(), taken, spans)
    for match in re.finditer(rf"(?={_NAME.pattern})", text):
        name = _NAME.match(text, match.start())
        if name is None or any(taken[name.start() : name.end()]):
            continue
        titled = re.search(r"(?:先生|女士|小姐|师傅|老师|阿姨|经理)$", name.group())
        alone = _BEFORE.search(text[: name.start()]) or (name.start() and taken[name.start() - 1])
        if not alone or _PLACE_END.search(name.group()):
            continue
        if (titled and _ends(text, name)) or _TAKEN_IN.match(text, name.end()):
            yield name.span()
        elif _BEFORE.search(text[: name.start()]) and not text[name.end() :].strip(" ,，。"):
            yield name.span()  # the last words, behind a separator


def _ends(text: str, name: re.Match[str]) -> bool:
    """Whether the name ends where a word ends: at a separator, a digit, or 收."""
    rest = text[name.end() :]
    return bool(_BEHIND.match(rest) or rest[:1].isdigit() or _TAKEN_IN.match(rest))


def _before(text: str, position: int) -> tuple[int, int] | None:
    """The name that ends right before a phone number, behind a separator or an entity."""
    end = len(text[:position].rstrip(" \t,，:：;；、(（|/-"))
    end = len(re.sub(r"(?:电话|手机号?|联系电话)$", "", text[:end]).rstrip(" ,，:：;；、"))
    for length in (5, 4, 3, 2):
        start = end - length
        if start < 0:
            continue
        name = _NAME.fullmatch(text, start, end)
        if name and not _PLACE_END.search(name.group()) and _BEFORE.search(text[:start]):
            return start, end
    return None


def _free(
    name: tuple[int, int], taken: Sequence[bool], spans: Sequence[Span]
) -> Iterator[tuple[int, int]]:
    start, end = name
    exact = [s for s in spans if (s.start, s.end) == name and s.type in ("poi", "subpoi")]
    if exact or not any(taken[start:end]):
        yield name
