"""Fits the temperature that makes entity scores honest, and reports how honest they are.

``python -m server_bundle.training.address.calibrate DIR FILE … [--check TABLE]`` reads labelled
addresses that the network was not trained on (``text | type=span …``), finds the temperature T at
which sigmoid(score / T) of the spans found predicts best whether they are right (least log loss;
Guo et al. 2017, On Calibration of Modern Neural Networks), and writes it to
``DIR/calibration.json``. Printed is the expected calibration error over ten bins of equally many
spans: the mean distance between the score and the share that is right.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from server_bundle.address.folder import CALIBRATION
from server_bundle.training.address.evaluate import read_labelled
from server_bundle.training.address.score import read_rows

Floats = npt.NDArray[np.float64]
Labelled = tuple[str, frozenset[tuple[int, int, str]]]


def collect(folder: Path, addresses: Sequence[Labelled]) -> tuple[Floats, Floats]:
    """Scores (log-odds at temperature 1) of the spans found, and whether each is right (1, 0)."""
    from server_bundle.address.local import local_parser

    parser = local_parser(folder)
    parser.set_temperature(1.0)
    scores, right = [], []
    for (_, gold), result in zip(
        addresses, parser.parse([text for text, _ in addresses]), strict=True
    ):
        for entity in result["entities"] if isinstance(result, dict) else ():
            scores.append(entity["score"])
            right.append((entity["start"], entity["end"], entity["type"]) in gold)
    share = np.clip(np.array(scores, float), 1e-6, 1 - 1e-6)
    return np.log(share / (1 - share)), np.array(right, float)


def shares(scores: Floats, temperature: float) -> Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-scores / temperature)))


def fit(scores: Floats, right: Floats) -> float:
    """The temperature of least log loss between 0.5 and 5, to 0.05."""

    def loss(temperature: float) -> float:
        p = np.clip(shares(scores, temperature), 1e-9, 1 - 1e-9)
        return float(-(right * np.log(p) + (1 - right) * np.log(1 - p)).mean())

    return min((round(float(t), 2) for t in np.arange(0.5, 5.01, 0.05)), key=loss)


def calibration_error(share: Floats, right: Floats, bins: int = 10) -> float:
    """Expected calibration error over bins of equally many spans, in [0, 1]."""
    error = 0.0
    for part in np.array_split(np.argsort(share, kind="stable"), bins):
        if len(part):
            error += abs(float(share[part].mean() - right[part].mean())) * len(part)
    return error / len(share)


def main() -> None:
    parser = argparse.ArgumentParser(description="fit the temperature of entity scores")
    parser.add_argument("folder", type=Path)
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--check", type=Path, help="a table to report on that is not fitted to")
    arguments = parser.parse_args()
    addresses: list[Labelled] = [
        (a.text, frozenset((s.start, s.end, s.type) for s in a.spans))
        for file in arguments.files
        for a in read_labelled(file)
    ]
    scores, right = collect(arguments.folder, addresses)
    temperature = fit(scores, right)
    text = json.dumps({"temperature": temperature, "spans": len(scores)})
    (arguments.folder / CALIBRATION).write_text(f"{text}\n", encoding="utf-8")
    print(f"temperature {temperature} from {len(scores)} spans")
    sets = {"fitted on": (scores, right)}
    if arguments.check:
        rows = read_rows(arguments.check)
        sets["checked on"] = collect(arguments.folder, [(row.text, row.spans) for row in rows])
    for name, (found, correct) in sets.items():
        before, after = (calibration_error(shares(found, t), correct) for t in (1.0, temperature))
        print(f"{name}: right {correct.mean():.3f}, error {before:.4f} → {after:.4f}")


if __name__ == "__main__":
    main()
