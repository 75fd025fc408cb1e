"""A folder of address weights: model.pt and the vocabulary and labels beside it."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from pathlib import Path

from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.features import CharacterTokenizer

CALIBRATION = "calibration.json"


@dataclass(frozen=True)
class AddressModel:
    """What lies beside the weights. ``areas[i]`` is the division key of area logit i;
    ``temperature`` divides span scores before the sigmoid (1 where there is no calibration)."""

    tokenizer: CharacterTokenizer
    areas: tuple[str, ...]
    types: tuple[str, ...]
    temperature: float = 1.0

    @classmethod
    def load(cls, folder: Path) -> AddressModel:
        """Raises FileNotFoundError or ValueError with a sentence that names the file."""
        for name in ("vocab.txt", "label_cls.csv"):
            if not (folder / name).exists():
                raise FileNotFoundError(f"The address model lacks {folder / name}.")
        with (folder / "label_cls.csv").open(encoding="utf-8", newline="") as stream:
            rows = list(csv.DictReader(stream))
        try:
            ordered = sorted(rows, key=lambda row: int(row["label"]))
            areas = tuple(row["code"] for row in ordered)
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"{folder / 'label_cls.csv'} needs the columns label (0, 1, …) and code."
            ) from error
        types: tuple[str, ...] = ENTITY_TYPES
        if (folder / "entity_types.txt").exists():
            types = tuple((folder / "entity_types.txt").read_text(encoding="utf-8").split())
        tokenizer = CharacterTokenizer.load(folder / "vocab.txt")
        return cls(tokenizer, areas, types, _temperature(folder / CALIBRATION))


def _temperature(file: Path) -> float:
    if not file.exists():
        return 1.0
    try:
        temperature = float(json.loads(file.read_text(encoding="utf-8"))["temperature"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} needs a number called temperature.") from error
    if not 0.01 <= temperature <= 100:
        raise ValueError(f"{file} has the temperature {temperature}; it must be 0.01 to 100.")
    return temperature
