"""A small image registry on a loopback port (the registry API, version 2, as far as pulls go)."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
_CONFIG = "application/vnd.docker.container.image.v1+json"
_LAYER = "application/vnd.docker.image.rootfs.diff.tar.gzip"


class Registry:
    """Use it as a context manager. ``refuse``: demand a login that nobody has."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, bytes] = {}
        self.slowly = False
        self.refuse = False
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Registry:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def offer(self, name: str, *, layers: int, size: int, slowly: bool = False) -> str:
        """Put an image of incompressible layers of ``size`` bytes up; its reference."""
        self.slowly = slowly
        entries, ids = [], []
        for number in range(layers):
            plain = _tar(f"file-{number}", os.urandom(size))
            packed = gzip.compress(plain, 1)
            ids.append(_digest(plain))
            entries.append(self._blob(_LAYER, packed))
        config = {
            "architecture": "amd64",
            "os": "linux",
            "config": {},
            "rootfs": {"type": "layers", "diff_ids": ids},
            "history": [{"created_by": "a test"} for _ in ids],
        }
        manifest = {
            "schemaVersion": 2,
            "mediaType": _MANIFEST,
            "config": self._blob(_CONFIG, json.dumps(config).encode()),
            "layers": entries,
        }
        content = json.dumps(manifest).encode()
        self.manifests[f"{name}/manifests/latest"] = content
        self.manifests[f"{name}/manifests/{_digest(content)}"] = content
        return f"127.0.0.1:{self._server.server_port}/{name}:latest"

    def _blob(self, kind: str, content: bytes) -> dict[str, object]:
        digest = _digest(content)
        self.blobs[digest] = content
        return {"mediaType": kind, "size": len(content), "digest": digest}


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def _tar(name: str, content: bytes) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


def _handler(registry: Registry) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, with_body: bool) -> None:
            path = self.path.removeprefix("/v2/")
            if registry.refuse:
                self._send(401, "application/json", _problem("UNAUTHORIZED"), with_body)
            elif not path:
                self._send(200, "application/json", b"{}", with_body)
            elif (content := registry.manifests.get(path)) is not None:
                self._send(200, _MANIFEST, content, with_body)
            elif (content := registry.blobs.get(path.rpartition("/")[2])) is not None:
                self._send(200, "application/octet-stream", content, with_body)
            else:
                self._send(404, "application/json", _problem("MANIFEST_UNKNOWN"), with_body)

        def _send(self, status: int, kind: str, content: bytes, with_body: bool) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(content)))
            if kind == _MANIFEST:
                self.send_header("Docker-Content-Digest", _digest(content))
            self.end_headers()
            view = memoryview(content) if with_body else memoryview(b"")
            try:
                for begin in range(0, len(view), 1 << 18):
                    self.wfile.write(view[begin : begin + (1 << 18)])
                    if registry.slowly:
                        time.sleep(0.1)
            except OSError:
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    return Handler


def _problem(code: str) -> bytes:
    return json.dumps({"errors": [{"code": code, "message": code.lower()}]}).encode()
