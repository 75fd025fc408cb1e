"""Fits texts to everyday chat: long turns are cut short, user turns vary a little.

Counsellors' replies of some hundred characters would teach a chat model to lecture, and users'
paragraphs do not prepare it for a line typed into a window. What carries a loss is chosen, too: a
reply that takes up none of the user's words teaches general comfort, of which there is plenty.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from random import Random

_SENTENCE = re.compile(r"[^。！？…~]+[。！？…~]*")
_OPENER = re.compile(
    r"^(你好|您好|题主|楼主|亲爱的|首先|其次|另外|此外|最后|总之|因此|所以|当然|"
    r"(我)?(完全|非常|很|能|可以)*(能|可以)?(理解|感受到)(你|您)|"
    r"(感谢|谢谢)(你|您)(的)?(提问|分享|回复|信任|反馈|邀请)|希望(我的|这些|能|以上))"
)
_FORUM = re.compile(r"题主|楼主|答主|提问|帖子|来访者|咨询师|回答|抱抱|1[.、]|2[.、]|祝(你|您|福)")
_PARTICLES = "啊呀了呢吧嘛哦"
_END = re.compile(r"[。！？~…，]+$")


def sentences(text: str) -> list[str]:
    """Parts of a text that end with 。！？… or ~, their marks included."""
    return _SENTENCE.findall(text) or [text]


def cut(text: str, limit: int) -> str:
    """The beginning of ``text``, at most ``limit`` characters: whole sentences, else clauses."""
    if len(text) <= limit:
        return text
    kept = ""
    for sentence in sentences(text):
        if len(kept) + len(sentence) > limit:
            break
        kept += sentence
    if kept:
        return kept
    comma = max(text.rfind(mark, 0, limit) for mark in "，、；：")
    return text[: comma if comma > 3 else limit]


def shorten_message(text: str, random: Random) -> str:
    """A user turn of at most 15 to 45 characters, sometimes another sentence than the first."""
    parts = sentences(text)
    start = random.randrange(len(parts)) if random.random() < 0.4 else 0
    return cut("".join(parts[start:]), random.randint(15, 45))


def uncommon_bigrams(text: str, common: frozenset[str]) -> set[str]:
    """Pairs of neighbouring Chinese characters that are not among the ``common`` ones."""
    return {
        a + b
        for a, b in pairwise(text)
        if "\u4e00" <= a <= "\u9fff" and "\u4e00" <= b <= "\u9fff" and a + b not in common
    }


def common_bigrams(texts: Iterable[str], n: int) -> frozenset[str]:
    """The ``n`` pairs of characters that occur most."""
    counts = Counter(a + b for text in texts for a, b in pairwise(text))
    return frozenset(pair for pair, _ in counts.most_common(n))


def shorten_reply(message: str, text: str, common: frozenset[str], random: Random) -> str | None:
    """One or two sentences of a reply, 6 to 60 characters: those that take up ``message``.

    Returns None when nothing fit is left of the reply.
    """
    parts = [s for s in sentences(text) if not _OPENER.match(s) and not _FORUM.search(s)]
    parts = [s for s in parts if 5 <= len(s) <= 60]
    if not parts:
        return None
    topic = uncommon_bigrams(message, common)

    def value(i: int) -> float:
        echo = len(topic & uncommon_bigrams(parts[i], common))
        question = 0.7 if parts[i].endswith("？") else 0.0
        return min(echo, 3) + question - 0.01 * len(parts[i]) + random.random() * 0.8

    best = max(range(len(parts)), key=value)
    reply = parts[best]
    if best + 1 < len(parts) and len(reply) + len(parts[best + 1]) <= 55 and random.random() < 0.5:
        reply += parts[best + 1]
    return reply


def vary(text: str, random: Random) -> str:
    """A user turn as somebody else might have typed it: marks, particles, 我 or 咱.

    Half the texts stay as they are.
    """
    if random.random() < 0.5:
        return text
    end = _END.search(text)
    body, mark = (text[: end.start()], end.group()) if end else (text, "")
    if not body:
        return text
    question = "？" in mark
    if random.random() < 0.5:
        mark = "" if mark else random.choice("。！～")
    if not question and random.random() < 0.3:
        if body[-1] in _PARTICLES and len(body) > 3:
            body = body[:-1]
        elif body[-1] not in _PARTICLES:
            body += random.choice("啊呀了")
    if random.random() < 0.15:
        body = body.replace("，", "", 1)
    if random.random() < 0.08 and "我们" not in body and "咱" not in body:
        body = body.replace("我", "咱", 1)
    return body + mark
