"""Asking whether a newer Tritalk was released. Nothing is sent but the request for one address, and
nothing is downloaded but its answer: the list of releases as JSON.

Understood are what GitHub's and Gitea's interfaces for releases answer (one object or a list, with
``tag_name``, ``html_url``, ``draft``, ``prerelease``) and an object with ``version`` and ``url``.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from desktop.triton.types import InvalidInput, TritalkError

#: Seconds between two checks that nobody asked for.
INTERVAL = 24 * 3600.0
_TIMEOUT = 5.0
_LONGEST = 1 << 20
_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(.*)", re.IGNORECASE | re.DOTALL)
_PRE = re.compile(r"[-.]?(alpha|beta|preview|pre|dev|rc|a|b|c)[-.]?\d*", re.IGNORECASE)


@dataclass(frozen=True)
class Release:
    """``version`` as people write it, without a ``v``; ``page``: where it can be had, or empty."""

    version: str
    page: str


def default_url() -> str:
    """Where this Tritalk's releases are listed: the ``Releases`` of its package's project URLs, or
    empty where whoever built it named none."""
    try:
        entries = importlib.metadata.metadata("tritalk").get_all("Project-URL") or []
    except importlib.metadata.PackageNotFoundError:
        return ""
    urls = dict(str(entry).split(", ", 1) for entry in entries if ", " in str(entry))
    return urls.get("Releases", "")


def check_url(url: str) -> str:
    """What is wrong with an address to ask, in a sentence; empty where nothing is."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host, parts = None, None
    if parts is None or parts.scheme not in ("http", "https") or not host:
        return "the address begins with https:// or http:// and names a server"
    if "@" in parts.netloc:
        return "the address holds no name and no password"
    return ""


def newer(one: str, other: str) -> bool:
    """Whether version ``one`` comes after ``other``; what is no version never does."""
    a, b = _key(one), _key(other)
    return a is not None and b is not None and a > b


def _key(version: str) -> tuple[tuple[int, ...], int] | None:
    """1.2 equals 1.2.0, and a beta comes before its release."""
    match = _VERSION.fullmatch(version.strip()[:64])
    if match is None:
        return None
    numbers = [int(number) for number in match[1].split(".")]
    while len(numbers) > 1 and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), 0 if _PRE.match(match[2]) else 1


def latest(url: str, timeout: float = _TIMEOUT) -> Release | None:
    """The newest release that ``url`` tells of; None where it tells of none. Blocks.

    Raises InvalidInput for an address that cannot be asked, TritalkError where there is no answer
    or none that is understood.
    """
    if wrong := check_url(url):
        raise InvalidInput(wrong)
    # No version, no system, no cookie: whoever is asked learns that somebody asked.
    headers = {"User-Agent": "Tritalk", "Accept": "application/json"}
    request = urllib.request.Request(url, headers=headers)
    host = urlsplit(url).hostname
    try:
        with _OPENER.open(request, timeout=timeout) as answer:
            text = answer.read(_LONGEST + 1)
    except urllib.error.HTTPError as error:
        error.close()
        raise TritalkError(f"{host} answered with status {error.code}") from error
    except (OSError, HTTPException, ValueError) as error:
        raise TritalkError(f"{host} does not answer") from error
    try:
        if len(text) > _LONGEST:
            raise ValueError
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise TritalkError(f"{host} answered something that is no list of releases") from None
    return _newest(data if isinstance(data, list) else [data])


class _HttpOnly(urllib.request.HTTPRedirectHandler):
    """Follows no redirect away from the web, nor from https to http."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if check_url(newurl) or (req.full_url.startswith("https:") and newurl[:6] != "https:"):
            raise urllib.error.URLError("redirected to where nothing is asked")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


_OPENER = urllib.request.build_opener(_HttpOnly)


def _newest(entries: list[Any]) -> Release | None:
    best: Release | None = None
    for entry in entries:
        found = _release(entry)
        if found is not None and (best is None or newer(found.version, best.version)):
            best = found
    return best


def _release(entry: Any) -> Release | None:
    """None for drafts, for what is to be tried first, and for what is no release."""
    if not isinstance(entry, dict) or entry.get("draft") or entry.get("prerelease"):
        return None
    version = entry.get("tag_name", entry.get("version"))
    page = entry.get("html_url", entry.get("url", ""))
    if not isinstance(version, str) or _key(version) is None:
        return None
    if not isinstance(page, str) or check_url(page):
        page = ""
    return Release(version.strip().lstrip("vV"), page)
