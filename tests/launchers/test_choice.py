"""Which launcher suits a machine."""

from __future__ import annotations

import pytest

from desktop.launchers import choice, prerequisites
from desktop.launchers.base import LaunchError


@pytest.mark.parametrize(
    ("device", "gpu", "docker", "wheel", "chosen"),
    [
        ("auto", False, False, True, ("embedded", "", "cpu")),
        ("auto", False, True, True, ("embedded", "", "cpu")),
        ("auto", True, False, True, ("embedded", "", "cpu")),
        # Whether a container sees the GPU is found out later.
        ("auto", True, True, True, ("docker", "embedded", "gpu")),
        ("cpu", True, True, True, ("embedded", "", "cpu")),
        ("gpu", False, False, True, ("docker", "", "gpu")),
        ("auto", False, True, False, ("docker", "", "auto")),
        ("auto", False, False, False, None),
    ],
)
def test_the_order_of_choice(
    device: str,
    gpu: bool,
    docker: bool,
    wheel: bool,
    chosen: tuple[str, str, str] | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(choice, "nvidia_gpu", lambda: gpu)
    monkeypatch.setattr(choice, "docker_engine", lambda: docker)
    if not wheel:
        monkeypatch.setattr(prerequisites.importlib.util, "find_spec", lambda name: None)
    if chosen is None:
        with pytest.raises(LaunchError, match="pip install"):
            choice.choose(device)
        return
    found = choice.choose(device)
    assert (found.launcher, found.fallback, found.device) == chosen
    assert found.reason
