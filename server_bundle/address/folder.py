"""A folder of address weights: model.pt and the vocabulary and labels beside it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.features import CharacterTokenizer


@dataclass(frozen=True)
class AddressModel:
    """What lies beside the weights. ``areas[i]`` is the division key of area logit i."""

    tokenizer: CharacterTokenizer
    areas: tuple[str, ...]
    types: tuple[str, ...]

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
        return cls(CharacterTokenizer.load(folder / "vocab.txt"), areas, types)
