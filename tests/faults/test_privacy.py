"""Nothing leaves the machine: everything in a network namespace whose only way out counts."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.triton

# A default route over an interface that leads nowhere: whatever is sent is counted, also the
# question for an address. IPv6 greets its neighbours by itself, so it is off.
_NAMESPACE = """
set -e
ip link set lo up
ip link add out0 type veth peer name out1
echo 1 > /proc/sys/net/ipv6/conf/out0/disable_ipv6
echo 1 > /proc/sys/net/ipv6/conf/out1/disable_ipv6
ip link set out1 up
ip address add 192.0.2.2/24 dev out0
ip link set out0 up
ip route add default via 192.0.2.1
sh -c "$1"
ip -s link show out0
"""

_JOB = """
set -e
"$PYTHON" -m desktop chat --max-tokens 12 --json 你好
"$PYTHON" -m desktop parse --json 杭州市西湖区文三路90号
"$PYTHON" -m desktop doctor || true
"$PYTHON" -m desktop &
window=$!
for i in $(seq 120); do
    "$PYTHON" -m desktop server status | grep -q ready && break
    sleep 0.5
done
"$PYTHON" -m desktop server status | grep ready
sleep 1
kill -TERM $window
wait $window || true
"""


def sent_packets(job: str, home: Path) -> tuple[int, str]:
    """Packets that left while ``job`` ran in a namespace of its own, and what it printed."""
    if os.getuid() or not shutil.which("unshare") or not shutil.which("ip"):
        pytest.skip("a network namespace needs root, unshare and ip")
    done = subprocess.run(
        ["unshare", "--net", "sh", "-c", _NAMESPACE, "sh", job],
        capture_output=True,
        check=False,
        text=True,
        cwd=ROOT,
        timeout=300,
        env={
            **{k: v for k, v in os.environ.items() if k not in ("DISPLAY", "http_proxy")},
            "TRITALK_HOME": str(home),
            "QT_QPA_PLATFORM": "offscreen",
            "PYTHON": sys.executable,
        },
    )
    if "Operation not permitted" in done.stderr or "Unknown device type" in done.stderr:
        pytest.skip(f"no network namespace here: {done.stderr.strip()}")
    assert done.returncode == 0, done.stderr + done.stdout
    found = re.search(r"TX:.*\n\s*\d+\s+(\d+)", done.stdout)
    assert found, done.stdout
    return int(found[1]), done.stdout


def test_the_counter_counts(tmp_path: Path) -> None:
    job = "\"$PYTHON\" -c \"import socket; socket.socket(2, 2).sendto(b'x', ('198.51.100.1', 9))\""
    assert sent_packets(job, tmp_path)[0] > 0


def test_the_main_job_sends_nothing_and_needs_no_network(tmp_path: Path) -> None:
    packets, printed = sent_packets(_JOB, tmp_path / "home")
    assert '"finish_reason"' in printed
    assert "杭州市" in printed
    assert packets == 0
