"""Fuzzes one harness: ``python -m tests.fuzz.child NAME FOLDER [libFuzzer's options and corpus]``.

Started by ``python -m tests.fuzz``. Ends with a status other than 0 at the first finding, whose
input is a file in FOLDER then.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
import tempfile
from pathlib import Path

import atheris

from tests.fuzz import harness

# What is watched for new paths: our own code and the parsers written in Python that it uses.
_WATCHED = ["desktop", "server_bundle", "tomllib", "jinja2"]


def main() -> None:
    name, findings, options = sys.argv[1], Path(sys.argv[2]), sys.argv[3:]
    os.environ["TRITALK_HOME"] = tempfile.mkdtemp(prefix="home-", dir=harness.folder())
    with atheris.instrument_imports(include=_WATCHED):
        chosen = harness.load(name)
    mutate = chosen.mutate

    def mutated(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if mutate is not None and chance.random() < 0.7:
            found = mutate(data, chance)
            if found != data and len(found) <= max_size:
                return found
        return bytes(atheris.Mutate(data, max_size))

    def one(data: bytes) -> None:
        try:
            chosen.one(data)
        except BaseException:
            # libFuzzer writes it at exit, but its own alarm may end the process before.
            digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
            (findings / f"crash-{digest}").write_bytes(data)
            raise

    # Before the clock runs: what is imported at its first use (torch's meta device) takes seconds.
    for seed in chosen.seeds():
        one(seed)
    arguments = [sys.argv[0], f"-max_len={chosen.max_len}", *options]
    arguments.append(f"-artifact_prefix={findings}/")
    if mutate is None:
        atheris.Setup(arguments, one)
    else:
        atheris.Setup(arguments, one, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
