"""Downloads a model from the Hugging Face hub: ``python -m desktop.models.hub REPO FOLDER``.

Speaks the protocol of :mod:`desktop.models.worker`; the result is ``{"folder": …}``. What a broken
download has brought is kept in FOLDER and gone on with the next time. Every file is checked against
the hash that the hub tells. Goes to ``HF_ENDPOINT`` where that is set. Only on a person's request.
"""

from __future__ import annotations

import errno
import fcntl
import fnmatch
import hashlib
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from server_bundle.chitchat.importing.__main__ import die_with_parent

WANTED = (
    "config.json",
    "generation_config.json",
    "prompt.toml",
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template*",
    "*.tiktoken",
    "*.model",
    "README*",
    "MODEL_CARD*",
    "LICEN[CS]E*",
    "NOTICE*",
    "USE_POLICY*",
)
_SAFE = ("model.safetensors", "model.safetensors.index.json", "model-*.safetensors")
_PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "pytorch_model-*.bin")
_PART = ".part"
_CHUNK = 1 << 16
_EVERY_S = 0.2
# For the converted copy that is made of the download.
_ROOM = 2


class _Problem(Exception):
    """One sentence for a person."""


def choose(names: list[str]) -> list[str]:
    """Which of a repository's files make the model: texts and weights at its top, safetensors
    where there are any; no programs."""
    top = [name for name in names if "/" not in name and "\\" not in name]

    def matching(patterns: tuple[str, ...]) -> list[str]:
        return [n for n in top if any(fnmatch.fnmatchcase(n, p) for p in patterns)]

    weights = matching(_SAFE)
    if not any(name.endswith(".safetensors") for name in weights):
        weights = matching(_PICKLED)
    return sorted({*matching(WANTED), *weights})


class Download:
    """One repository into one folder. ``say``: takes message, done and total."""

    def __init__(self, repository: str, folder: Path, say: Any) -> None:
        self._repository = repository
        self._folder = folder
        self._say = say
        self._before = 0
        self._total = 0
        self._told = 0.0

    def run(self) -> Path:
        """The folder with the files. Raises :class:`_Problem` or the hub's own errors."""
        from huggingface_hub import HfApi

        self._say(f"asking the hub for {self._repository}", 0, 0)
        info = HfApi().model_info(self._repository, files_metadata=True)
        files = {each.rfilename: each for each in info.siblings or []}
        names = choose(list(files))
        if not any(name.endswith((".safetensors", ".bin")) for name in names):
            raise _Problem(f"{self._repository} holds no weights that can be read here")
        revision = str(info.sha)
        target = self._folder / revision
        for older in self._folder.iterdir() if self._folder.is_dir() else ():
            if older.is_dir() and older.name != revision:
                shutil.rmtree(older, ignore_errors=True)
        target.mkdir(parents=True, exist_ok=True)
        with (self._folder / "lock").open("w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _Problem(f"{self._repository} is being downloaded already") from None
            self._fetch_all(names, files, revision, target)
        return target

    def _fetch_all(
        self, names: list[str], files: dict[str, Any], revision: str, target: Path
    ) -> None:
        self._total = sum(files[name].size or 0 for name in names)
        here = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
        need = self._total - here + (_ROOM - 1) * self._total
        if need > (free := shutil.disk_usage(target).free):
            raise _Problem(
                f"the model needs {_gigabytes(need)} of disk space while it is imported, but "
                f"{_gigabytes(free)} are free at {self._folder.parent}"
            )
        for name in names:
            self._fetch(files[name], revision, target)
            self._before += files[name].size or 0

    def _fetch(self, file: Any, revision: str, target: Path) -> None:
        # hf_hub_download itself begins a file anew that an earlier process has left half.
        from huggingface_hub import constants, hf_hub_url
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils import build_hf_headers

        constants.DOWNLOAD_CHUNK_SIZE = _CHUNK  # what is less than a chunk is lost by a break
        name = str(file.rfilename)
        path, part = target / name, target / f"{name}{_PART}"
        if not path.exists():
            if part.exists() and file.size is not None and part.stat().st_size > file.size:
                part.unlink()
            with part.open("ab") as stream:
                http_get(
                    hf_hub_url(self._repository, name, revision=revision),
                    stream,
                    resume_size=part.stat().st_size,
                    headers=build_hf_headers(),
                    expected_size=file.size,
                    tqdm_class=self._bar(name),
                )
            self._say(f"checking {name}", self._before, self._total)
            if not _is_intact(part, file):
                part.unlink()
                raise _Problem(
                    f"the file {name} arrived damaged (its checksum is wrong); try again"
                )
            part.rename(path)

    def _bar(self, name: str) -> Any:
        """A progress bar's class that tells us instead of drawing."""
        from huggingface_hub.utils import tqdm

        outer = self

        class Bar(tqdm):
            def __init__(self, *_: Any, **options: Any) -> None:
                super().__init__(disable=True)
                self.count = options.get("initial") or 0

            def update(self, n: float | None = 1) -> bool | None:
                self.count += int(n or 0)
                outer._tell(name, self.count)
                return None

        return Bar

    def _tell(self, name: str, count: int) -> None:
        if time.monotonic() - self._told >= _EVERY_S:
            self._told = time.monotonic()
            self._say(f"downloading {name}", self._before + count, self._total)


def _is_intact(path: Path, file: Any) -> bool:
    """Against the SHA-256 of a large file, or git's own hash of a small one."""
    if file.lfs is not None:
        wanted, total = file.lfs.sha256, hashlib.sha256()
    else:
        wanted = file.blob_id
        total = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    if not wanted:
        return True
    with path.open("rb") as stream:
        while part := stream.read(1 << 20):
            total.update(part)
    return total.hexdigest() == wanted


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"


def explain(error: Exception, repository: str) -> str:
    """What went wrong, in one sentence."""
    from huggingface_hub import errors

    where = os.environ.get("HF_ENDPOINT", "https://huggingface.co")
    if isinstance(error, _Problem):
        return str(error)
    if isinstance(error, errors.GatedRepoError):
        return (
            f"{repository} is given to those only who accept its terms on {where}/{repository}; "
            "do so, log in (hf auth login), and try again"
        )
    if isinstance(error, errors.RepositoryNotFoundError):
        return f"there is no model {repository} at {where}, or it is private"
    if isinstance(error, errors.HFValidationError):
        return f"{repository!r} is no name of a model on the hub"
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full; make room and try again, what has arrived is kept"
    words = " ".join(str(error).split())[:160] or type(error).__name__
    return f"the download from {where} broke off ({words}); try again, what has arrived is kept"


def main() -> int:
    die_with_parent()
    # Its own faster transport keeps no half a file that could be gone on with.
    os.environ["HF_HUB_DISABLE_XET"] = "1"
    os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
    os.environ.pop("HF_HUB_OFFLINE", None)
    lines = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)

    def tell(**message: Any) -> None:
        lines.write(json.dumps(message, ensure_ascii=False) + "\n")

    def say(message: str, done: int, total: int) -> None:
        tell(message=message, done=done, total=total)

    repository, folder = sys.argv[1], Path(sys.argv[2])
    try:
        found = Download(repository, folder, say).run()
    except Exception as error:
        tell(error=explain(error, repository))
        return 1
    tell(result={"folder": str(found)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
