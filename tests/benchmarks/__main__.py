"""Runs every benchmark in this folder, each in a process of its own: ``make benchmarks``."""

import subprocess
import sys
from pathlib import Path

names = sys.argv[1:] or sorted(
    p.stem for p in Path(__file__).parent.glob("*.py") if not p.stem.startswith("__")
)
failed = False
for name in names:
    print(f"\n## {name}", flush=True)
    failed |= (
        subprocess.run([sys.executable, "-m", f"tests.benchmarks.{name}"], check=False).returncode
        != 0
    )
sys.exit(failed)
