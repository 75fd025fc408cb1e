"""The update check, asked of a real server on this machine."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from desktop.triton.types import InvalidInput, TritalkError
from desktop.updates import Release, check_url, latest, newer


class Releases(ThreadingHTTPServer):
    """Answers with ``body`` and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.body: bytes = b"[]"
        self.status = 200
        self.location = ""
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.hold = threading.Event()
        self.hold.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/releases"

    def say(self, data: Any) -> None:
        self.body = json.dumps(data).encode()


class _Handler(BaseHTTPRequestHandler):
    server: Releases

    def do_GET(self) -> None:
        self.server.asked.append((self.path, dict(self.headers)))
        self.server.hold.wait(10)
        self.send_response(self.server.status)
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def releases() -> Iterator[Releases]:
    with Releases() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.hold.set()
        server.shutdown()
        thread.join()


def test_the_newest_release_is_found_among_drafts_and_betas(releases: Releases) -> None:
    page = "https://example.org/v0.3.0"
    releases.say(
        [
            {"tag_name": "v0.2.9", "html_url": "https://example.org/v0.2.9"},
            {"tag_name": "v0.3.0", "html_url": page},
            {"tag_name": "v0.9.0", "draft": True},
            {"tag_name": "v0.8.0", "prerelease": True},
            {"tag_name": "nightly"},
            "nonsense",
        ]
    )
    assert latest(releases.url) == Release("0.3.0", page)
    releases.say({"version": "1.0", "url": "javascript:alert(1)"})
    assert latest(releases.url) == Release("1.0", "")
    releases.say([])
    assert latest(releases.url) is None


def test_nothing_is_sent_but_the_request(releases: Releases) -> None:
    latest(releases.url)
    [(path, headers)] = releases.asked
    assert path == "/releases"
    assert headers == {
        "Accept-Encoding": "identity",
        "Accept": "application/json",
        "Host": f"127.0.0.1:{releases.server_port}",
        "User-Agent": "Tritalk",
        "Connection": "close",
    }


@pytest.mark.parametrize("body", [b"<html>", b"\xff", b"[" * 100_000, b" " * (2 << 20)])
def test_another_answer_is_one_sentence(releases: Releases, body: bytes) -> None:
    releases.body = body
    with pytest.raises(TritalkError, match=r"^127\.0\.0\.1 answered something that is no list"):
        latest(releases.url)


def test_no_answer_is_one_sentence(releases: Releases) -> None:
    releases.status = 503
    with pytest.raises(TritalkError, match="answered with status 503"):
        latest(releases.url)
    releases.hold.clear()
    with pytest.raises(TritalkError, match="does not answer"):
        latest(releases.url, timeout=0.2)
    with pytest.raises(TritalkError, match="does not answer"):
        latest("http://127.0.0.1:9/releases", timeout=0.5)


def test_no_redirect_leaves_the_web(releases: Releases, tmp_path: Any) -> None:
    releases.status = 302
    for location in ((tmp_path / "x").as_uri(), "http://me:pw@127.0.0.1/releases"):
        releases.location = location
        with pytest.raises(TritalkError, match=r"does not answer|answered with status 302"):
            latest(releases.url)


@pytest.mark.parametrize(
    "url", ["", "example.org", "file:///etc/passwd", "ftp://a/b", "http://", "https://me:pw@a/b"]
)
def test_only_web_addresses_are_asked(url: str) -> None:
    assert check_url(url)
    with pytest.raises(InvalidInput):
        latest(url)


@pytest.mark.parametrize(
    ("one", "other", "later"),
    [
        ("0.2.0", "0.1.9", True),
        ("v0.10", "0.9", True),
        ("1.2", "1.2.0", False),
        ("1.2.0", "1.2", False),
        ("1.0", "1.0rc1", True),
        ("1.0-beta.2", "1.0", False),
        ("0.1.0", "0.1.0", False),
        ("latest", "0.1.0", False),
        ("0.2", "0", True),
    ],
)
def test_versions_are_compared_as_numbers(one: str, other: str, later: bool) -> None:
    assert newer(one, other) is later
