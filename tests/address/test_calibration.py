"""Entity scores say how often they are right."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from server_bundle.address.folder import CALIBRATION, AddressModel
from server_bundle.address.global_pointer import decode
from server_bundle.training.address.calibrate import calibration_error, collect, fit, shares
from server_bundle.training.address.score import MODEL, read_rows

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")

TABLE = Path(__file__).parents[1] / "data" / "addresses.tsv"


def test_the_temperature_of_made_up_scores_is_found_again() -> None:
    rng = np.random.default_rng(1)
    scores = rng.normal(0, 4, 20_000)
    right = (rng.random(20_000) < shares(scores, 2.0)).astype(float)
    assert fit(scores, right) == pytest.approx(2.0, abs=0.1)
    assert calibration_error(shares(scores, 2.0), right) < 0.01
    assert calibration_error(shares(scores, 1.0), right) > 0.04


def test_the_error_is_that_of_a_hand_count() -> None:
    share = np.array([0.2, 0.2, 0.9, 0.9])
    right = np.array([0.0, 1.0, 1.0, 1.0])
    assert calibration_error(share, right, bins=2) == pytest.approx((0.3 + 0.1) / 2)


def test_shipped_scores_are_honest_on_addresses_they_were_not_fitted_to() -> None:
    rows = read_rows(TABLE)
    scores, right = collect(MODEL, [(row.text, row.spans) for row in rows])
    temperature = AddressModel.load(MODEL).temperature
    error = calibration_error(shares(scores, temperature), right)
    assert error < 0.02
    assert error < 0.6 * calibration_error(shares(scores, 1.0), right)


def test_the_temperature_changes_scores_and_nothing_else() -> None:
    scores = np.full((13, 4, 4), -5.0, np.float32)
    scores[5, 1, 2] = 3.0
    offsets = [(0, 0), (0, 1), (1, 2), (2, 2)]
    types = [str(i) for i in range(13)]
    (sharp,) = decode(scores, offsets, types)
    (soft,) = decode(scores, offsets, types, temperature=2.0)
    assert sharp[:3] == soft[:3] == (0, 2, "5")
    assert sharp.score == pytest.approx(1 / (1 + np.exp(-3.0)))
    assert soft.score == pytest.approx(1 / (1 + np.exp(-1.5)))


@pytest.mark.parametrize("content", ["{}", "no json", '{"temperature": "x"}', '{"temperature": 0}'])
def test_a_wrong_calibration_names_its_file(tmp_path: Path, content: str) -> None:
    for name in ("vocab.txt", "label_cls.csv"):
        shutil.copy(MODEL / name, tmp_path / name)
    assert AddressModel.load(tmp_path).temperature == 1.0
    (tmp_path / CALIBRATION).write_text(content)
    with pytest.raises(ValueError, match=r"calibration\.json"):
        AddressModel.load(tmp_path)
    (tmp_path / CALIBRATION).write_text(json.dumps({"temperature": 1.5}))
    assert AddressModel.load(tmp_path).temperature == 1.5
