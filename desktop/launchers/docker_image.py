"""The image of the Docker launcher: what it is made of, its name, building and pulling it."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import hashlib
import io
import re
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import server_bundle
from desktop.launchers.base import LaunchError, Progress
from desktop.launchers.docker_errors import explain, failures
from desktop.launchers.docker_progress import (
    Cancel,
    Layers,
    ProgressCallback,
    Upload,
)

REPOSITORY = "tritalk-server"
BUNDLE_LABEL = "tritalk.bundle"
OLDEST_RELEASE = (26, 7)
_ROOT = Path(server_bundle.__file__).resolve().parent.parent
_DOCKERFILE = Path(server_bundle.__file__).resolve().parent / "docker" / "Dockerfile"
_LEFT_OUT = frozenset({"__pycache__", "training", "deploy"})
# The fields of a recipe that say what is in the image.
_CONTENT = ("base_image", "triton_release", "pytriton_version", "torch_index_url", "time_zone")
_STEP = re.compile(r"^Step (\d+)/(\d+) : (.*)", re.DOTALL)


@dataclass(frozen=True)
class Recipe:
    """How to build an image. ``base_image``: of the cpu target; ``wheels``: a folder of packages
    to install without any network; ``network``: the engine's network for the build ("host");
    the rest are the Dockerfile's build arguments, empty for its own defaults."""

    target: str = "cpu"
    base_image: str = ""
    triton_release: str = ""
    pytriton_version: str = ""
    wheels: str = ""
    pip_index_url: str = ""
    torch_index_url: str = ""
    apt_mirror: str = ""
    time_zone: str = ""
    ca_file: str = ""
    network: str = ""

    def check(self) -> None:
        """Raises :class:`LaunchError` for what could never be built."""
        if self.target not in ("cpu", "gpu"):
            raise LaunchError(f"The image has the targets cpu and gpu, not {self.target!r}.")
        if self.triton_release:
            found = re.fullmatch(r"(\d\d)\.(\d\d)", self.triton_release)
            if found is None or tuple(map(int, found.groups())) < OLDEST_RELEASE:
                raise LaunchError(
                    f"The Triton release is a year and month such as 26.07, and not older than "
                    f"that: {self.triton_release!r} is not."
                )
        if self.ca_file and not Path(self.ca_file).is_file():
            raise LaunchError(f"The CA file {self.ca_file} does not exist.")
        if self.wheels and not list(Path(self.wheels).glob("*.whl")):
            raise LaunchError(f"There are no wheels (*.whl) in {self.wheels}.")

    def arguments(self) -> dict[str, str]:
        given = {
            "BASE_IMAGE": self.base_image,
            "TRITON_RELEASE": self.triton_release,
            "PYTRITON_VERSION": self.pytriton_version,
            "PIP_INDEX_URL": self.pip_index_url,
            "TORCH_INDEX_URL": self.torch_index_url,
            "APT_MIRROR": self.apt_mirror,
            "TZ": self.time_zone,
        }
        return {name: value for name, value in given.items() if value}

    def digest(self) -> str:
        """Changes with what the image is to hold, and not with where that comes from (mirrors,
        wheels, certificates): 12 hexadecimal digits."""
        total = hashlib.sha256(self.target.encode())
        for name in _CONTENT:
            total.update(f"{name}={getattr(self, name)}\0".encode())
        for name, file in bundle_files():
            total.update(name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
        return total.hexdigest()[:12]

    @property
    def tag(self) -> str:
        return f"{REPOSITORY}:{self.target}-{self.digest()}"


def bundle_files() -> Iterator[tuple[str, Path]]:
    """What the image is made of, wheels aside: name in the build context, and file. The same as
    ``.dockerignore`` leaves for builds by hand."""
    folder = _ROOT / "server_bundle"
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(_ROOT).parts
        if path.is_file() and not _LEFT_OUT & set(parts) and path.suffix not in (".pyc", ".pyo"):
            yield "/".join(parts), path
    # Beside the packages, or where an installed wheel has it.
    for place in (_ROOT, Path(sys.prefix) / "share" / "tritalk"):
        if (place / "constraints.txt").exists():
            yield "constraints.txt", place / "constraints.txt"
            return


def stages_for(dockerfile: str, target: str) -> str:
    """The Dockerfile with only the stages that ``target`` is made of: the classic builder, the
    only one behind the SDK, would else run every stage that stands before it."""
    head, *stages = re.split(r"(?m)^(?=FROM )", dockerfile)
    names, needs = {}, {}
    for stage in stages:
        first = stage.partition("\n")[0].split()
        name = first[3]
        names[name] = stage
        needs[name] = {first[1], *re.findall(r"--from=(\S+)", stage)}
    wanted, open_ones = set(), [target]
    while open_ones:
        name = open_ones.pop()
        if name in names and name not in wanted:
            wanted.add(name)
            open_ones += needs[name]
    return head + "".join(stage for name, stage in names.items() if name in wanted)


def exists(api: Any, reference: str) -> str:
    """The id of an image that the engine has, else an empty string. Raises :class:`LaunchError`
    where the engine does not answer."""
    import docker

    try:
        return str(api.inspect_image(reference)["Id"])
    except docker.errors.NotFound:
        return ""
    except failures() as error:
        raise LaunchError(explain(error, "looking for the image")) from error


def ensure(
    api: Any, recipe: Recipe, reference: str, report: ProgressCallback, cancel: Cancel
) -> str:
    """The id of the image to run: ``reference``, pulled where it is missing, or if that is empty
    the recipe's own, built where it is missing. Raises :class:`LaunchError`."""
    if reference:
        return exists(api, reference) or pull(api, reference, report, cancel)
    recipe.check()
    if found := exists(api, recipe.tag):
        return found
    built = build(api, recipe, report, cancel)
    remove_old(api, recipe.tag)
    return built


def pull(api: Any, reference: str, report: ProgressCallback, cancel: Cancel) -> str:
    """Pull an image; its id. Raises :class:`LaunchError`, or :class:`Cancelled`."""
    layers = Layers()
    repository, _, tag = reference.rpartition(":")
    if not repository or "/" in tag:
        repository, tag = reference, "latest"
    for event in _events(
        api, cancel, "pulling the image", lambda: api.pull(repository, tag, stream=True)
    ):
        if progress := layers.take(event):
            report(progress)
    return exists(api, reference)


def build(api: Any, recipe: Recipe, report: ProgressCallback, cancel: Cancel) -> str:
    """Build the recipe's image; its id. Raises :class:`LaunchError`, or :class:`Cancelled`."""
    recipe.check()
    dockerfile = stages_for(_DOCKERFILE.read_text(encoding="utf-8"), recipe.target)
    arguments = {
        name: value
        for name, value in recipe.arguments().items()
        if re.search(rf"^ARG {name}\b", dockerfile, re.MULTILINE)
    }
    # Once, since somebody may be working on the files.
    tag = recipe.tag
    layers = Layers()
    step, last = Progress("build"), ""
    with _context(recipe, dockerfile) as file:
        context = Upload(file, report, cancel)

        def start() -> Any:
            return api.build(
                fileobj=context,
                custom_context=True,
                tag=tag,
                target=recipe.target,
                buildargs=arguments,
                labels={BUNDLE_LABEL: tag.rpartition("-")[2]},
                network_mode=recipe.network or None,
                rm=True,
                forcerm=True,
                use_config_proxy=True,
            )

        for event in _events(api, cancel, "building the image", start):
            if progress := layers.take(event):
                report(progress)
            text = str(event.get("stream") or "").strip()
            if found := _STEP.match(text):
                short = " ".join(found[3].split())[:60]
                step = Progress("build", short, step=int(found[1]), steps=int(found[2]))
                report(step)
            elif text and step.steps:
                report(dataclasses.replace(step, detail=" ".join(text.split())[:160]))
            last = text or last
    image = exists(api, tag)
    if not image:
        raise LaunchError(explain(last or "the build ended without an image", "building"))
    return image


def remove_old(api: Any, keep: str) -> list[str]:
    """Remove this application's images that newer ones have replaced; their names. One that a
    container uses stays."""
    import docker

    removed = []
    for image in api.images(name=REPOSITORY):
        for tag in image.get("RepoTags") or []:
            same_target = tag.rpartition("-")[0] == keep.rpartition("-")[0]
            if tag != keep and same_target and BUNDLE_LABEL in (image.get("Labels") or {}):
                with contextlib.suppress(docker.errors.APIError):
                    api.remove_image(tag)
                    removed.append(tag)
    return removed


@contextlib.contextmanager
def _context(recipe: Recipe, dockerfile: str) -> Iterator[IO[bytes]]:
    """The build context as a tar file. Times and owners are left out, so that the engine's cache
    knows the same content again."""

    def plain(entry: tarfile.TarInfo) -> tarfile.TarInfo:
        entry.uid = entry.gid = entry.mtime = 0
        entry.uname = entry.gname = ""
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with tempfile.TemporaryFile() as file:
        with tarfile.open(fileobj=file, mode="w") as tar:
            text = dockerfile.encode()
            entry = tarfile.TarInfo("Dockerfile")
            entry.size = len(text)
            tar.addfile(plain(entry), io.BytesIO(text))
            for name, path in bundle_files():
                tar.add(path, name, recursive=False, filter=plain)
            if recipe.ca_file:
                tar.add(Path(recipe.ca_file).resolve(), "ca.pem", filter=plain)
            if recipe.wheels:
                for path in sorted(Path(recipe.wheels).glob("*.whl")):
                    tar.add(path.resolve(), f"wheels/{path.name}", recursive=False, filter=plain)
        file.seek(0)
        yield file


def _events(
    api: Any, cancel: Cancel, doing: str, start: Callable[[], Any]
) -> Iterator[dict[str, Any]]:
    """The engine's events, decoded; an error among them is raised as a :class:`LaunchError`."""
    from docker.types import CancellableStream
    from docker.utils.json_stream import json_stream

    responses: list[Any] = []
    said: collections.deque[str] = collections.deque(maxlen=40)

    def remember(response: Any, *_: Any, **__: Any) -> None:
        responses.append(response)

    # docker-py hands out the lines but not the response, which alone can be ended from outside.
    api.hooks["response"].append(remember)
    try:
        cancel.check()
        lines = start()
        with cancel.closing(lambda: CancellableStream(lines, responses[-1]).close()):
            for event in json_stream(lines):
                if "error" in event:
                    words = _last_words(said, str(event["error"]))
                    raise LaunchError(explain(words, doing, "".join(said)))
                said.append(str(event.get("stream") or ""))
                yield event
        cancel.check()
    except failures() as error:
        cancel.check()
        raise LaunchError(explain(error, doing)) from error
    finally:
        api.hooks["response"].remove(remember)


def _last_words(said: Iterable[str], error: str) -> str:
    """What a failed step printed, before the engine's own words about it, which repeat the whole
    command."""
    printed = " ".join("".join(said).split())
    ended = re.search(r"returned a non-zero code: \d+$", error)
    if not ended:
        return error
    # pip names the packages first, and then gives a page of advice.
    begin = printed.find("ERROR: ")
    words = printed[begin : begin + 250] if begin >= 0 else printed[-250:]
    return f"{words} – a step {ended[0]}"
