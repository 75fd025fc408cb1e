"""Fuzzing: ``python -m tests.fuzz [--seconds 60] [NAME …]``; without names all, one after another.

Each harness runs under atheris in a process of its own, from the seeds in it and from what earlier
runs have found to lead to new paths, in ``tests/artifacts/fuzz/NAME/corpus``. A finding ends that
harness: its input is a file in ``tests/artifacts/fuzz/NAME``, its trace in ``log.txt`` beside it,
and the status is 1. ``--input FILE`` runs one harness on one input, in this process, as a debugger
likes it; it needs no atheris.

Writes ``tests/artifacts/fuzz.json``: executions, paths and findings of each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.fuzz import harness

ROOT = Path(__file__).resolve().parents[2]
ARTIFACTS = ROOT / "tests" / "artifacts" / "fuzz"
_PREFIXES = ("crash-", "timeout-", "oom-", "leak-")
# One input may take so long before it counts as one that hangs, in seconds.
_LONGEST = 25
_MEMORY_MIB = 3000


@dataclass
class Run:
    """``paths``: libFuzzer's count of edges seen; ``inputs``: files that led to a finding."""

    name: str
    seconds: float
    executions: int
    paths: int
    status: int
    inputs: list[str]


def fuzz(name: str, seconds: int) -> Run:
    chosen = harness.load(name)
    target = ARTIFACTS / name
    corpus = target / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    for seed in chosen.seeds():
        (corpus / hashlib.sha1(seed, usedforsecurity=False).hexdigest()).write_bytes(seed)
    command = [sys.executable, "-m", "tests.fuzz.child", name, str(target)]
    command += [f"-max_total_time={seconds}", f"-timeout={_LONGEST}", "-print_final_stats=1"]
    command += [f"-rss_limit_mb={_MEMORY_MIB}", str(corpus)]
    before = {path.name for path in target.iterdir()}
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="tritalk-fuzz-", dir=harness.memory()) as own,
        (target / "log.txt").open("w", encoding="utf-8") as log,
    ):
        status = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "OMP_NUM_THREADS": "1", harness.FOLDER: own},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode
    took = time.monotonic() - started
    said = (target / "log.txt").read_text(encoding="utf-8", errors="replace")
    counts = [int(n) for n in re.findall(r"^#(\d+)\t", said, re.MULTILINE)]
    counts += [int(n) for n in re.findall(r"number_of_executed_units: (\d+)", said)]
    paths = [int(n) for n in re.findall(r" cov: (\d+)", said)]
    inputs = [
        str(path.relative_to(ROOT))
        for path in sorted(target.iterdir())
        if path.name.startswith(_PREFIXES) and path.name not in before
    ]
    return Run(name, round(took, 1), max(counts, default=0), max(paths, default=0), status, inputs)


def reproduce(name: str, file: Path) -> None:
    os.environ["TRITALK_HOME"] = tempfile.mkdtemp(prefix="home-", dir=harness.folder())
    harness.load(name).one(file.read_bytes())
    print(f"{name}: nothing wrong with {file}")


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(harness.names()))
    parser.add_argument("--seconds", type=int, default=60, help="for each harness (60)")
    parser.add_argument("--input", type=Path, help="run one harness on this file instead")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.names) - set(harness.names())):
        parser.error(f"no harness {unknown[0]}; there are: {', '.join(harness.names())}")
    if arguments.input is not None:
        if len(arguments.names) != 1:
            parser.error("--input needs the name of one harness")
        reproduce(arguments.names[0], arguments.input)
        return 0
    runs = []
    for name in arguments.names or harness.names():
        run = fuzz(name, arguments.seconds)
        runs.append(run)
        print(f"{name:<16} {run.executions:>9,} executions  {run.paths:>6,} paths", end="  ")
        print(
            f"{run.seconds:>6.1f} s  " + ("ok" if run.status == 0 else "FOUND SOMETHING"),
            flush=True,
        )
        if run.status:
            log = ARTIFACTS / name / "log.txt"
            print(f"  {', '.join(run.inputs) or 'no input'}; see {log.relative_to(ROOT)}")
    report = json.dumps([asdict(run) for run in runs], indent=2)
    (ARTIFACTS.parent / "fuzz.json").write_text(report + "\n", encoding="utf-8")
    return 1 if any(run.status for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
