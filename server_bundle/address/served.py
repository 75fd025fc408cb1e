"""The address network in a served model repository: its version folders and what its config says.

``multitask_model/N/`` holds model.pt and, beside it, the vocabulary and labels that
``address_parser`` reads for that version: whoever copies the repository has all of it.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from server_bundle.address.folder import COMPANIONS, AddressModel

NETWORK, PARSER = "multitask_model", "address_parser"
WEIGHTS = "model.pt"
VERSION_PARAMETER = "network_version"

_AREAS = re.compile(r'(name: "cls_logits" .*?dims: \[) *[^\]]*\]', re.DOTALL)
_TYPES = re.compile(r'(name: "ner_logits" .*?dims: \[) *[^\]]*\]', re.DOTALL)
_POLICY = re.compile(r"^version_policy.*\n", re.MULTILINE)


def place(model: Path, folder: Path, version: int) -> None:
    """Put the weights of ``folder`` into ``model`` (a served ``multitask_model``) as a version, and
    their sizes into its config. Raises OSError, or ValueError where the folder is incomplete."""
    if not (folder / WEIGHTS).exists():
        raise FileNotFoundError(f"there are no weights at {folder / WEIGHTS}")
    target = model / str(version)
    part = model / f".{version}.part"
    shutil.rmtree(part, ignore_errors=True)
    part.mkdir(parents=True)
    try:
        os.link(folder / WEIGHTS, part / WEIGHTS)
    except OSError:  # another file system, or one without hard links
        shutil.copyfile(folder / WEIGHTS, part / WEIGHTS)
    for name in COMPANIONS:
        if (folder / name).exists():
            shutil.copyfile(folder / name, part / name)
    shutil.rmtree(target, ignore_errors=True)
    part.rename(target)
    if (folder / COMPANIONS[0]).exists():
        config = model / "config.pbtxt"
        config.write_text(sized(config.read_text(encoding="utf-8"), folder), encoding="utf-8")


def sized(config: str, folder: Path) -> str:
    """The config of ``multitask_model`` for the areas and types of an address model's folder."""
    labels = AddressModel.load(folder)
    config = _AREAS.sub(rf"\1 {len(labels.areas)} ]", config)
    return _TYPES.sub(rf"\1 {len(labels.types)}, -1, -1 ]", config)


def versioned(config: str, versions: Sequence[int]) -> str:
    """With a version policy that serves exactly these."""
    numbers = ", ".join(map(str, versions))
    policy = f"version_policy: {{ specific: {{ versions: [ {numbers} ] }} }}\n"
    return f"{_POLICY.sub('', config).rstrip()}\n{policy}"


def asking_for(config: str, version: int) -> str:
    """The config of ``address_parser`` that asks for this version of the network."""
    value = re.compile(rf'(key: "{VERSION_PARAMETER}" value {{ string_value: ")[^"]*"')
    return value.sub(rf'\g<1>{version}"', config)


def versions(model: Path) -> list[int]:
    """The versions that lie in a served model's folder."""
    return sorted(int(path.name) for path in model.iterdir() if path.name.isdigit())
