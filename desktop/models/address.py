"""Address models of a person's own: a checkpoint becomes a version of the address network.

The conversion runs in a process of its own, which needs PyTorch and reads files that nobody has
vouched for. A running server takes the new version up between two requests: the network serves both
until the parser asks for the new one.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import desktop
from desktop import interpreter, paths
from desktop.models import Installed, ModelError, Progress, Report, registry
from desktop.models.registry import BUILT_IN, Model
from desktop.triton.types import InvalidInput
from server_bundle import repository
from server_bundle.address import served

KIND = "address"


def add_import_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("address models")
    group.add_argument("--types", type=Path, metavar="FILE", help="the file of entity types")
    group.add_argument(
        "--rope", choices=("on", "off"), help="rotary positions, where config.json does not say"
    )
    group.add_argument("--replace", action="store_true", help="replace the one of that name")


def built_in() -> Model:
    return Model(KIND, BUILT_IN, 1, paths.resources_dir() / "models" / "address-tiny")


def models() -> list[Model]:
    """The one that ships first, then the imported ones."""
    return [built_in(), *registry.imported(KIND)]


def weights(model: Model) -> Path:
    """The folder of model.pt and its companions."""
    if model.name == BUILT_IN:
        return model.folder
    return model.folder / served.NETWORK / str(model.version)


def chosen() -> Model:
    """The model that a new server serves."""
    name = registry.in_use(KIND)
    return next(model for model in models() if model.name == name)


def installed() -> list[Installed]:
    used = registry.in_use(KIND)
    return [
        Installed(KIND, m.name, m.folder, _about(m), m.name == used, shipped=m.name == BUILT_IN)
        for m in models()
    ]


def import_model(
    source: str, name: str, report: Report, options: Mapping[str, Any] | None = None
) -> str:
    """Convert, serve, and say so; see :func:`bring_in` and :func:`use`. Options: ``types``,
    ``rope`` (on or off), ``replace``."""
    given = options or {}
    rope = {"on": True, "off": False}.get(given.get("rope") or "")
    model, notes = bring_in(
        Path(source).expanduser(),
        name,
        types=given.get("types"),
        rope=rope,
        replace=bool(given.get("replace")),
        report=report,
    )
    return " ".join(
        [*notes, f"{model.name} is imported ({_about(model)}).", use(model.name, report)]
    )


def bring_in(
    source: Path,
    name: str = "",
    *,
    types: Path | None = None,
    rope: bool | None = None,
    replace: bool = False,
    report: Report = lambda progress: None,
) -> tuple[Model, list[str]]:
    """Convert the checkpoint in ``source`` and keep it as ``name`` (the folder's name where it is
    empty); the model, and what had to be assumed about it, in sentences. Takes seconds to minutes.

    ``types``: the file of its entity types, ``rope``: whether it was trained with RoPE, where the
    folder does not tell. Raises InvalidInput where the checkpoint or the name cannot be used,
    ModelError where it cannot be converted or stored.
    """
    if not source.is_dir():
        raise InvalidInput(f"{source} is not a folder; give the one that holds config.json")
    name = registry.check_name(name or source.resolve().name)
    with registry.changing(KIND):
        if not replace and any(model.name == name for model in models()):
            raise InvalidInput(
                f"there is an address model {name!r} already; give another --name, or --replace"
            )
        version = registry.next_version(KIND)
        try:
            with registry.new_folder(KIND) as folder:
                report(Progress("checking the checkpoint and converting it to TorchScript"))
                out = folder / served.NETWORK / str(version)
                result = _export(source, out, types, rope)
                config = repository.SOURCE / served.NETWORK / "config.pbtxt"
                (out.parent / "config.pbtxt").write_text(
                    served.sized(config.read_text(encoding="utf-8"), out), encoding="utf-8"
                )
                model = Model(
                    KIND,
                    name,
                    version,
                    registry.kind_dir(KIND) / name,
                    datetime.date.today().isoformat(),
                    {key: result[key] for key in ("areas", "types", "difference")},
                )
                registry.add(model, folder)
        except OSError as error:
            raise ModelError(f"The model cannot be stored: {error.strerror}.") from error
    return model, result["notes"]


def use(name: str, report: Report = lambda progress: None) -> str:
    """Serve this model from now on, in the running server too; what came of it, in a sentence.

    Raises InvalidInput where there is none, ModelError where the server cannot load it; then
    everything stays as it was.
    """
    from desktop.models import hot_swap  # the launchers, which ask this module what to serve

    model = built_in() if name == BUILT_IN else registry.find(KIND, name)
    with registry.changing(KIND):
        taken_up = hot_swap.address_network(weights(model), model.version, report)
        registry.set_in_use(KIND, model.name)
    return taken_up or "The next server will serve it."


def unuse(name: str) -> str:
    """Serve the model that ships again."""
    if registry.in_use(KIND) != name:
        return f"{name} is not in use."
    return use(BUILT_IN)


def remove(name: str) -> str:
    """Raises InvalidInput for the model in use and for the one that ships."""
    if name == BUILT_IN:
        raise InvalidInput(f"{name} came with the application and stays")
    with registry.changing(KIND):
        model = registry.find(KIND, name)
        if registry.in_use(KIND) == name:
            raise InvalidInput(
                f"{name} is in use; first: tritalk models unuse --kind {KIND} {name}"
            )
        try:
            registry.remove(model)
        except OSError as error:
            raise ModelError(f"{model.folder} cannot be removed: {error.strerror}.") from error
    return f"{name} is removed."


def _about(model: Model) -> str:
    if model.name == BUILT_IN:
        return "the shipped model"
    facts = model.facts or {}
    return f"{facts['areas']:,} areas, {facts['types']} types, version {model.version}"


def _export(source: Path, out: Path, types: Path | None, rope: bool | None) -> dict[str, Any]:
    if interpreter.lite():
        raise ModelError(
            "this edition of Tritalk has no PyTorch to convert models with; "
            "install the full edition"
        )
    command = [interpreter.running("server_bundle"), "-m", "server_bundle.address.export", "--json"]
    command += [str(source.absolute()), str(out)]
    command += ["--types", str(types.absolute())] if types else []
    command += [] if rope is None else ["--rope", "on" if rope else "off"]
    root = Path(desktop.__file__).resolve().parent.parent
    path = interpreter.search_path(root)
    env = {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", errors="replace", env=env, check=False
    )
    lines = done.stderr.strip().splitlines()
    if done.returncode == 2 and lines:
        raise InvalidInput(lines[-1])
    if done.returncode:
        why = lines[-1] if lines else f"it ended with {done.returncode}"
        if "No module named 'torch'" in why:
            why = "PyTorch is not installed; install tritalk[server]"
        raise ModelError(f"The checkpoint cannot be converted: {why}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result
