"""Distils the names of villages and communities that the corpus generator builds on.

``python -m server_bundle.training.address.build_place_names china_location.txt`` reads the location
dictionary of JioNLP 1.5.31 (Apache-2.0; unpack ``jionlp/dictionary/china_location.zip`` of its
wheel) and writes ``place_names.txt.gz``: names without their suffix, most frequent first. Only the
names are kept, not which town they belong to.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
from collections import Counter
from pathlib import Path

OUTPUT = Path(__file__).parent / "place_names.txt.gz"
SUFFIX = re.compile(r"(?:村民委员会|居民委员会|村委会|居委会|社区|嘎查|新村|村|居|园区|社)$")
HAN = re.compile(r"[一-鿿]{2,5}")
LIMIT = 70_000


def distil(path: Path) -> list[str]:
    """Names of two to five Han characters that occur most often, in a stable order."""
    counts: Counter[str] = Counter()
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("\t\t\t\t"):
            name = SUFFIX.sub("", line.strip())
            if HAN.fullmatch(name):
                counts[name] += 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    frequent = [name for name, n in ranked if n >= 2][:LIMIT]
    # Names that occur once are spread over the rest, so that rare characters are represented.
    rare = [name for name, n in ranked if n < 2]
    room = LIMIT - len(frequent)
    step = max(1, len(rare) // max(1, room))
    return frequent + rare[::step][:room]


if __name__ == "__main__":
    names = distil(Path(sys.argv[1]))
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as stream:
        stream.write("".join(f"{name}\n" for name in names).encode())
    OUTPUT.write_bytes(buffer.getvalue())
    print(f"{len(names)} names written to {OUTPUT}")
