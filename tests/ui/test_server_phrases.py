"""Every sentence that the launchers may say is said in Chinese too."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication

import desktop
from desktop.launchers import docker_errors
from desktop.launchers.base import Progress
from desktop.launchers.docker_errors import engine_problem, explain
from desktop.ui.language import LanguageManager
from desktop.ui.phrases import known, phrase_words, sentence
from tests.launchers.test_docker_errors import ENGINE, SAID
from tests.support.sentences import sentences

ROOT = Path(desktop.__file__).resolve().parent
FILES = sorted((ROOT / "launchers").glob("*.py"))
FILES += [ROOT / "settings.py", ROOT / "triton" / "control.py", ROOT / "triton" / "metrics.py"]
# Parts of sentences, and those pieced together from parts that are known.
NOT_TOLD = {
    "lease.py": {"The server X1."},
    "settings.py": {"X1X2 is X1, not X2."},
    "base.py": {"X1 MiB"},
    "docker_errors.py": {"X1 (Docker: X2)"},
    "docker_image.py": {"X1 – a step X2"},
    "docker_progress.py": {"X1 image: X2"},
}
CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def chinese(qapp: QApplication) -> Iterator[None]:
    """No window is needed to translate."""
    language = LanguageManager(qapp, "zh")
    yield
    language.remove()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_sentence_of_the_source_is_known(path: Path) -> None:
    unknown = {text for text in sentences(path) if not known(text)}
    assert unknown - NOT_TOLD.get(path.name, set()) == set()


def test_the_source_is_really_read() -> None:
    found = {path.name: list(sentences(path)) for path in FILES}
    assert len(found["remote.py"]) >= 9
    assert len(found["prerequisites.py"]) >= 5
    assert (
        "The Triton server at X1 speaks TLS; write its address with grpcs://"
        in (found["remote.py"])
    )


def english_left(words: str, given: str) -> list[str]:
    """English words that a person would have to understand: no names, commands or what Docker
    itself said."""
    left = words.replace(given, "")
    left = re.sub(r"https?://\S+|unix://\S+|--\S+|[\w.]+/[\w./-]+|sudo [^，（；。]+", "", left)
    return re.findall(r"\b(?:the|is|are|of|and|not|for|with|cannot|does|install|check)\b", left)


@pytest.mark.parametrize("said", SAID)
def test_what_docker_says_is_explained_in_chinese(chinese: None, said: str) -> None:
    words = sentence(explain(said, "starting the container"))
    assert CHINESE.search(words), words
    assert english_left(words, said) == []
    assert said[:60] in words  # its own words stay, for whoever looks for them


@pytest.mark.parametrize("said", ENGINE)
def test_no_engine_is_explained_in_chinese(chinese: None, said: str) -> None:
    words = sentence(engine_problem(Exception(said), "unix:///x.sock"))
    assert CHINESE.search(words), words
    assert english_left(words, " ".join(said.split())) == []


def test_every_guidance_is_among_the_provoked() -> None:
    """So that the two tests above leave none out."""
    told = {explain(said, "x").rpartition(" (Docker: ")[0] for said in SAID}
    wanted = {guidance for _, guidance in docker_errors._GUIDANCE}
    unprovoked = {guidance for guidance in wanted if guidance not in told}
    assert all(known(f"{guidance} (Docker: x)") for guidance in unprovoked)
    assert len(unprovoked) <= 2


@pytest.mark.parametrize(
    ("english", "chinese_words"),
    [
        (
            f"CPU image: {Progress('build', 'RUN pip install torch', step=9, steps=17)}",
            "CPU 镜像：正在构建：第 9/17 步（RUN pip install torch）",
        ),
        (
            f"GPU image: {Progress('pull', '', 3 << 20, 10 << 20, 1, 3)}",
            "GPU 镜像：正在拉取：3 MiB/10 MiB，1/3 层",
        ),
        (
            "chosen by the user; on the CPU: no NVIDIA GPU found",
            "由用户选定；在 CPU 上运行：未发现 NVIDIA GPU",
        ),
        (
            "an NVIDIA GPU and a Docker engine found; on the GPU: NVIDIA A100, NVIDIA A100",
            "发现 NVIDIA GPU 和 Docker；在 GPU 上运行：NVIDIA A100, NVIDIA A100",
        ),
        ("The server stopped: tritalk server stop.", "服务器已停止：tritalk server stop"),
        ("TRITALK_DEVICE is a text, not 3.", "TRITALK_DEVICE 应是文本，不能是 3"),
        ("stopped: it was stopped in the window", "已停止：在窗口中停止"),
        (
            "relay could not be loaded: this server demands a key for it",
            "无法加载 relay：这台服务器要求密钥才能这样做",
        ),
        (
            "Docker failed while pulling the image: the moon is full",
            "Docker 在“拉取镜像”时出错：the moon is full",
        ),
    ],
)
def test_parts_of_sentences_are_translated(chinese: None, english: str, chinese_words: str) -> None:
    assert phrase_words(english) == chinese_words
