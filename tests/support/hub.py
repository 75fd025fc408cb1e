"""A stand-in for the Hugging Face hub: real HTTP, one repository, faults on demand."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

REVISION = "0123456789abcdef0123456789abcdef01234567"
_LARGE = (".safetensors", ".bin")


class Hub:
    """Serves ``folder`` as ``repository``.

    Attributes:
        break_after: bytes of a weight file after which the connection breaks, once; from then on
            weights are refused until :attr:`healed`.
        told_sha: instead of a file's real hash.
        told_size: instead of a file's real size.
        ranges: what Range headers the weights were asked for with.
    """

    def __init__(self, folder: Path, repository: str) -> None:
        self.folder = folder
        self.repository = repository
        self.break_after: int | None = None
        self.broken = False
        self.healed = True
        self.told_sha: dict[str, str] = {}
        self.told_size: dict[str, int] = {}
        self.status = 200
        self.ranges: list[str] = []
        self.asked: list[str] = []
        self.url = ""

    def info(self) -> dict[str, Any]:
        return {
            "id": self.repository,
            "modelId": self.repository,
            "sha": REVISION,
            "private": False,
            "siblings": [self._sibling(path) for path in self._files()],
            "tags": [],
            "downloads": 0,
            "likes": 0,
        }

    def _files(self) -> list[Path]:
        return sorted(path for path in self.folder.rglob("*") if path.is_file())

    def _sibling(self, path: Path) -> dict[str, Any]:
        name = str(path.relative_to(self.folder))
        data = path.read_bytes()
        size = self.told_size.get(name, len(data))
        blob = hashlib.sha1(f"blob {len(data)}\0".encode() + data).hexdigest()
        found: dict[str, Any] = {"rfilename": name, "size": size, "blobId": blob}
        if path.suffix in _LARGE:
            found["lfs"] = {"sha256": self.sha(path), "size": size, "pointerSize": 134}
        elif path.name in self.told_sha:
            found["blobId"] = self.told_sha[path.name]
        return found

    def sha(self, path: Path) -> str:
        real = hashlib.sha256(path.read_bytes()).hexdigest()
        return self.told_sha.get(path.name, real)


@contextmanager
def serve(folder: Path, repository: str) -> Iterator[Hub]:
    hub = Hub(folder, repository)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self._file(body=False)

        def do_GET(self) -> None:
            hub.asked.append(self.path)
            if self.path.startswith(f"/api/models/{repository}"):
                self._json(hub.status, hub.info())
            elif self.path.startswith("/api/"):
                self._json(404, {"error": "Repository not found"}, "RepoNotFound")
            else:
                self._file(body=True)

        def _json(self, status: int, value: Any, code: str = "") -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            if code:
                self.send_header("X-Error-Code", code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _file(self, *, body: bool) -> None:
            match = re.fullmatch(rf"/{repository}/resolve/{REVISION}/(.+)", self.path)
            path = folder / match[1] if match else folder / "missing"
            if not path.is_file():
                self._json(404, {"error": "not found"}, "EntryNotFound")
                return
            large = path.suffix in _LARGE
            if body and large and not hub.healed and hub.broken:
                self._json(503, {"error": "out of order"})
                return
            data, start = path.read_bytes(), 0
            asked = self.headers.get("Range")
            if asked and body:
                if large:
                    hub.ranges.append(asked)
                start = int(asked.removeprefix("bytes=").partition("-")[0])
            self.send_response(206 if start else 200)
            self.send_header("X-Repo-Commit", REVISION)
            self.send_header("Accept-Ranges", "bytes")
            etag = hub.sha(path) if large else hashlib.sha1(data).hexdigest()
            self.send_header("ETag", f'"{etag}"')
            if large:
                self.send_header("X-Linked-Etag", f'"{etag}"')
                self.send_header("X-Linked-Size", str(len(data)))
            if start:
                self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(data) - start))
            self.end_headers()
            if not body:
                return
            if large and hub.break_after is not None and not hub.broken:
                hub.broken, hub.healed = True, False
                self.wfile.write(data[start : hub.break_after])
                self.wfile.flush()
                self.close_connection = True
                self.connection.close()
                return
            self.wfile.write(data[start:])

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)
